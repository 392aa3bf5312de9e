# SPDX-License-Identifier: Apache-2.0

"""Dynamics as CasADi functions: their Jacobians, and a swing-up by collocation."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import stepping

casadi = pytest.importorskip("casadi", reason="the extra `casadi` is not installed")
from robodyn import casadi as of_casadi  # noqa: E402

STEP = 1e-3


@pytest.mark.parametrize("name", ["stanford_arm", "stewart_symmetric", "delta"])
@pytest.mark.parametrize("question", ["forward_dynamics", "inverse_dynamics"])
def test_jacobians_are_those_of_differences(name, question, rng):
    m = rd.load(name).without_dry_friction()
    nv = m.coordinates.velocity_size
    f = getattr(of_casadi, question)(m)
    x, v, load = 0.1 * m.size * rng.normal(size=nv), rng.normal(size=nv), rng.normal(size=nv)
    jacobian = f.jacobian()
    blocks = jacobian(x, v, load, 0.0)
    blocks = [block.full() for block in blocks]
    scale = max(np.abs(block).max() for block in blocks)
    for k, block in enumerate(blocks):
        for j in range(nv):
            e = STEP * np.eye(nv)[j]

            def at(step, k=k, e=e):
                given = [x, v, load]
                given[k] = given[k] + step * e
                return f(*given).full().ravel()

            expected = 0.75 * (at(1) - at(-1)) - 0.15 * (at(2) - at(-2)) + (at(3) - at(-3)) / 60.0
            np.testing.assert_allclose(block[:, j], expected / STEP, rtol=0.0, atol=1e-8 * scale)


@pytest.mark.parametrize("name", ["stanford_arm", "stewart_symmetric", "delta"])
@pytest.mark.parametrize("question", ["forward_dynamics", "inverse_dynamics"])
def test_hessians_are_those_of_differences(name, question, rng):
    m = rd.load(name).without_dry_friction()
    nv = m.coordinates.velocity_size
    f = getattr(of_casadi, question)(m)
    given = np.concatenate([0.1 * m.size * rng.normal(size=nv), rng.normal(size=2 * nv)])
    weights = rng.normal(size=nv)
    z = casadi.MX.sym("z", 3 * nv)
    total = casadi.dot(weights, f(*casadi.vertsplit(z, nv)))
    hessian, gradient = casadi.hessian(total, z)
    found = casadi.Function("found", [z], [hessian])(given).full()
    slope = casadi.Function("slope", [z], [gradient])

    def at(step):
        return slope(given + step).full().ravel()

    for j, e in enumerate(STEP * np.eye(3 * nv)):
        expected = 0.75 * (at(e) - at(-e)) - 0.15 * (at(2 * e) - at(-2 * e))
        expected = (expected + (at(3 * e) - at(-3 * e)) / 60.0) / STEP
        np.testing.assert_allclose(found[:, j], expected, rtol=0.0, atol=1e-8 * np.abs(found).max())


@pytest.mark.parametrize("size", [0.0, 0.7])
def test_rates_of_displacements(size, rng):
    m = rd.load("stewart_symmetric")
    x, v = size * rng.normal(size=6), rng.normal(size=6)
    rate = of_casadi.displacement_rate(m)(x, v).full().ravel()
    where = m.advance(m.home, x)
    moved = [m.difference(m.home, m.advance(where, t * v)) for t in (STEP, -STEP)]
    np.testing.assert_allclose(rate, (moved[0] - moved[1]) / (2.0 * STEP), rtol=0.0, atol=1e-5)


PENDULUM = """
<robot name="pendulum">
  <link name="base"/>
  <link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="1.0"/>
    <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.001"/></inertial></link>
  <joint name="pivot" type="revolute"><parent link="base"/><child link="rod"/>
    <axis xyz="0 1 0"/><dynamics damping="0.02"/>
    <limit lower="-10" upper="10" effort="3.0" velocity="20"/></joint>
</robot>
"""


@pytest.mark.slow
def test_a_pendulum_swings_up_with_less_effort_than_its_weight():
    m = rd.load(PENDULUM)
    f, steps, dt = of_casadi.forward_dynamics(m), 40, 0.075
    problem = casadi.Opti()
    x, v, u = (problem.variable(1, steps + k) for k in (1, 1, 0))
    for k in range(steps):
        # the trapezoidal rule, the effort held
        a, b = f(x[k], v[k], u[k]), f(x[k + 1], v[k + 1], u[k])
        problem.subject_to(v[k + 1] == v[k] + 0.5 * dt * (a + b))
        problem.subject_to(x[k + 1] == x[k] + 0.5 * dt * (v[k] + v[k + 1]))
    problem.subject_to(problem.bounded(-3.0, u, 3.0))
    problem.subject_to([x[0] == 0.0, v[0] == 0.0, x[steps] == np.pi, v[steps] == 0.0])
    problem.minimize(casadi.sumsqr(u))
    part = np.linspace(0.0, 1.0, steps + 1)
    problem.set_initial(x, (np.pi * part - 1.5 * np.sin(2.0 * np.pi * part))[None])
    problem.solver("ipopt", {
        "print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes",
    })  # fmt: skip
    found = problem.solve()
    angles, rates, efforts = (np.ravel(found.value(part)) for part in (x, v, u))
    assert np.abs(efforts).max() < 0.7 * np.abs(m.gravity(np.array([np.pi / 2.0]))).max()
    # each interval as the plant moves through it
    for k, effort in enumerate(efforts):
        q, rate = stepping.step(
            m, angles[k : k + 1], rates[k : k + 1], [effort], np.zeros(6), dt / 20, 20
        )
        assert abs(q[0] - angles[k + 1]) < 0.02
        assert abs(rate[0] - rates[k + 1]) < 0.05
