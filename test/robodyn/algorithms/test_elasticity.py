# SPDX-License-Identifier: Apache-2.0

"""Stiffness, deflection and modes of mechanisms with elastic drives."""

import math
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize

import robodyn as rd
from robodyn.algorithms import Chart
from robodyn.model import LinearSpring
from robodyn.poses import pose_difference
from robodyn.sweeps import QUANTITIES, States, SweepSettings

LOOPS = Path(__file__).parents[2] / "reference" / "closed_loops"
# Their driven joints are not the independent ones, or are more than these.
OTHERS = ("stewart_tree.urdf", "redundant_3rrr.urdf")
NAMES = ("motion_platform", "delta", "hexapod_rotary", "fivebar", "puma560", "ur10e")
PENDULUM = """
<robot name="pendulum">
  <link name="base"/>
  <link name="rod"><inertial><origin xyz="0 0 0.5"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="pivot" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="1 0 0"/>
    <limit lower="-3" upper="3" effort="100" velocity="10"/><dynamics damping="0.3"/></joint>
</robot>
"""


@pytest.fixture
def loaded(recwarn):
    """Return a mechanism with drives of different stiffness and springs, away from home."""

    def load(name):
        m = ur10e() if name == "ur10e" else rd.load(LOOPS / name if name in OTHERS else name)
        own = [j for j in m.model.joints if j.moves_alone and "universal" not in j.name]
        springs = {j.name: LinearSpring(2e3 + 100.0 * k, 0.1, 5.0) for k, j in enumerate(own)}
        m = m._made(m.model.with_joint_springs(springs))
        stiffness = 2e5 * np.linspace(1.0, 1.5, len(m.joint_names))
        m = m.with_drive_stiffness(stiffness, 10.0)
        nv = m.coordinates.velocity_size
        return m, m.advance(m.home, 0.03 * np.random.default_rng(1).standard_normal(nv))

    return load


def ur10e():
    pytest.importorskip("pinocchio")  # the module compares with it
    from benchmarks.links import arm

    return arm()


def potential(m, q, force=(0.0, 0.0, 0.0)):
    """Return the potential energy by displacement, motors held in equilibrium at q."""
    rest = np.zeros(m.coordinates.velocity_size)
    stiffness = np.array([each.stiffness for each in m.actuators])
    held, start, where = m.without_dry_friction().gravity(q), m.joint_positions(q), m.body_pose(q)

    def energy(x):
        there = m.advance(q, x)
        wound = m.joint_positions(there) - start
        work = np.dot(force, m.body_pose(there)[:3] - where[:3])
        weight = m.energy(there, rest).potential
        return weight - held @ wound + 0.5 * stiffness @ wound**2 - work

    return energy


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, *OTHERS])
def test_stiffness_is_the_second_derivative_of_the_energy(loaded, name):
    m, q = loaded(name)
    energy, units = potential(m, q), np.eye(m.coordinates.velocity_size)

    def second(step):
        return np.array(
            [
                [
                    sum(s * t * energy(step * (s * a + t * b)) for s in (1, -1) for t in (1, -1))
                    for a in units
                ]
                for b in units
            ]
        ) / (4.0 * step**2)

    expected = (4.0 * second(1e-3) - second(2e-3)) / 3.0
    K = m.stiffness_matrix(q)
    assert np.abs(K - expected).max() < 1e-6 * np.abs(K).max()


@pytest.mark.parametrize("name", NAMES)
def test_modes_are_generalized_eigenvectors_of_stiffness_and_mass(loaded, name):
    m, q = loaded(name)
    found = m.modes(q)
    K, M = m.stiffness_matrix(q), m.without_actuators().mass_matrix(q)
    squares = scipy.linalg.eigh(K, M, eigvals_only=True)
    assert found.frequencies == pytest.approx(np.sqrt(squares) / (2.0 * np.pi), rel=1e-9)
    assert np.allclose(found.shapes.T @ M @ found.shapes, np.eye(len(K)), atol=1e-9)
    assert np.allclose(found.body_shapes.T, m.twist_jacobian(q) @ found.shapes)
    assert found.stable


@pytest.mark.parametrize("name", NAMES)
def test_deflection_minimizes_the_energy(loaded, name):
    m, q = loaded(name)
    force = np.array([300.0, -200.0, 500.0])
    energy = potential(m, q, force)
    root = np.linalg.inv(np.linalg.cholesky(m.stiffness_matrix(q))).T
    scale = np.linalg.norm(root.T @ m.twist_jacobian(q)[:3].T @ force)
    found = scipy.optimize.minimize(
        lambda y: energy(scale * root @ y) / scale**2,
        np.zeros(len(root)), jac="3-point", method="BFGS", options={"gtol": 1e-8},
    )  # fmt: skip
    there = m.advance(q, scale * root @ found.x)
    expected = pose_difference(m.body_pose(q), m.body_pose(there))
    moved = m.deflection(q, [*force, 0.0, 0.0, 0.0])
    assert np.abs(moved - expected).max() < 1e-4 * np.abs(expected).max()


def test_small_wrenches_deflect_by_the_compliance(loaded):
    m, q = loaded("motion_platform")
    wrench = 1e-4 * np.array([3.0, -2.0, 5.0, 0.4, -0.6, 0.5])
    assert m.deflection(q, wrench) == pytest.approx(m.compliance(q) @ wrench, rel=1e-5)


@pytest.mark.parametrize("name", ["motion_platform", "delta", "puma560"])
def test_rows_of_a_batch_are_single_results(loaded, name):
    m, q = loaded(name)
    rows = np.array([q, m.home])
    wrench = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]
    for row, one in enumerate(rows):
        assert np.allclose(m.stiffness_matrix(rows)[row], m.stiffness_matrix(one), rtol=1e-9)
        assert np.allclose(m.modes(rows).frequencies[row], m.modes(one).frequencies)
        assert np.allclose(m.deflection(rows, wrench)[row], m.deflection(one, wrench), atol=1e-12)


@pytest.mark.parametrize("fraction", [1.2, 0.8])
def test_a_payload_near_buckling_makes_a_platform_unstable(fraction):
    m = rd.load("motion_platform").with_payload(2000.0, [0.0, 0.0, 3.0])
    q = m.home
    critical = critical_stiffness(m, q, np.zeros(6))
    m = m.with_drive_stiffness(fraction * critical)
    found = m.modes(q)
    assert found.stable == (fraction > 1.0)
    assert (found.frequencies[0] > 0.0) == (fraction > 1.0)
    force = np.array([1.0, 0.5, -2.0, 0.0, 0.0, 0.0])
    if fraction > 1.0:
        expected = m.compliance(q) @ force
        assert np.abs(m.deflection(q, force) - expected).max() < 1e-3 * np.abs(expected).max()
    else:
        for refused in (m.compliance, lambda q: m.deflection(q, force)):
            with pytest.raises(rd.NoSolution, match=r"unstable|no equilibrium"):
                refused(q)


@pytest.mark.parametrize("name", NAMES)
def test_a_load_near_buckling_makes_the_stiffness_indefinite(loaded, name):
    m, q = loaded(name)
    m = m._springless
    push = max(
        (sign * 1e4 * np.eye(6)[axis] for axis in range(3) for sign in (1.0, -1.0)),
        key=lambda wrench: critical_stiffness(m, q, wrench),
    )
    critical = critical_stiffness(m, q, push)
    assert critical > 10.0
    for fraction in (1.2, 0.8):
        one = m.with_drive_stiffness(fraction * critical)
        K, found = one.stiffness_matrix(q, push), one.modes(q, push)
        assert found.stable == (fraction > 1.0)
        assert (np.linalg.eigvalsh(K)[0] > 0.0) == (fraction > 1.0)
        assert (found.frequencies[0] > 0.0) == (fraction > 1.0)
        if fraction > 1.0:
            # the load takes most of the stiffness that the drives have in the softest direction
            softest, stiff = np.linalg.eigh(K)[1][:, 0], one.stiffness_matrix(q)
            assert softest @ K @ softest < 0.5 * (softest @ stiff @ softest)
            one.compliance(q, push)
        else:
            with pytest.raises(rd.NoSolution, match="the equilibrium is unstable"):
                one.compliance(q, push)


def critical_stiffness(m, q, wrench):
    """Return the stiffness of all drives at which the load buckles the mechanism.

    K = geometric + k J'J is singular where k is an eigenvalue of this pencil.
    """
    one, two = (m.with_drive_stiffness(k).stiffness_matrix(q, wrench) for k in (1e5, 2e5))
    return scipy.linalg.eigh(two - 2.0 * one, (two - one) / 1e5, eigvals_only=True)[-1]


@pytest.mark.parametrize("stiffness", [40.0, 9.0])
def test_an_upright_pendulum_has_the_stiffness_of_its_drive_less_gravity(stiffness):
    m = rd.load(PENDULUM).with_drive_stiffness(stiffness, 0.2)
    K, inertia = stiffness - 2.0 * 9.81 * 0.5, 0.1 + 2.0 * 0.25
    assert m.stiffness_matrix([0.0]) == pytest.approx(np.array([[K]]))
    found = m.modes([0.0])
    rate = math.sqrt(abs(K) / inertia)
    assert found.frequencies == pytest.approx(math.copysign(rate, K) / (2.0 * math.pi))
    assert found.damping_ratios == pytest.approx(0.5 / (2.0 * inertia * rate))


def test_unstable_elements_of_a_batch_are_named():
    m = rd.load(PENDULUM).with_drive_stiffness(9.0)
    rows = np.array([[3.0], [0.0], [-3.0], [0.1]])
    with pytest.raises(rd.NoSolution, match=r"unstable \(elements \[1\], \[3\]\)") as caught:
        m.compliance(rows)
    assert caught.value.index == (1,)
    with pytest.raises(rd.NoSolution, match="the equilibrium is unstable: its"):
        m.compliance(rows[1])
    assert m.compliance(rows[::2]).shape == (2, 6, 6)


def test_the_stiffness_of_a_hardware_plugin_is_no_elastic_drive():
    hardware = """<ros2_control name="p" type="system"><joint name="pivot">
      <command_interface name="effort"/><param name="stiffness">200</param></joint>
      </ros2_control>"""
    text = PENDULUM.replace("</robot>", hardware + "</robot>")
    with pytest.warns(rd.errors.LeftOutWarning, match="joint 'pivot': ignored <param name=\"sti"):
        assert math.isinf(rd.load(text).actuators[0].stiffness)
    own = rd.load(text.replace("</robot>", "<robodyn/></robot>"))
    assert own.actuators[0].stiffness == 200.0


def test_a_moment_on_a_pendulum_solves_its_equilibrium():
    m = rd.load(PENDULUM).with_drive_stiffness(40.0)
    (angle,) = m.deflection([0.0], [0.0, 0.0, 0.0, 8.0, 0.0, 0.0])[3:4]
    assert 40.0 * angle - 2.0 * 9.81 * 0.5 * math.sin(angle) == pytest.approx(8.0, rel=1e-12)


def test_every_format_keeps_elastic_drives(tmp_path, loaded):
    for name, suffixes in {"motion_platform": "urdf sdf xml yaml", "puma560": "yaml"}.items():
        m, _ = loaded(name)
        for suffix in suffixes.split():
            rd.save(m, tmp_path / f"{name}.{suffix}")
            assert rd.load(tmp_path / f"{name}.{suffix}") == m
        assert m._springless.with_drive_stiffness(math.inf) == rd.load(name)


def test_rigid_drives_have_no_stiffness_and_mixed_drives_no_simulation(tmp_path):
    rigid = rd.load("motion_platform")
    mixed = rigid.with_drive_stiffness([1e6, *[math.inf] * 5])
    with pytest.raises(rd.InvalidInput, match=r"the drives of leg1_actuator, .* are rigid"):
        rigid.stiffness_matrix(rigid.home)
    for simulate in (rd.Plant, lambda m: rd.BatchPlant(m, 2), lambda m: rd.export(m, tmp_path)):
        with pytest.raises(rd.InvalidInput, match="leg2_actuator has no stiffness"):
            simulate(mixed)
    with pytest.raises(rd.InvalidInput, match="leg6_actuator are elastic, which is not supp"):
        Chart(rigid.with_drive_stiffness(1e6)).step_rows(1e-3, 1)


@pytest.mark.parametrize(
    ("stiffness", "damping", "message"),
    [
        (0.0, 0.0, "expected numbers above 0"),
        (math.nan, 0.0, "expected numbers above 0"),
        (1e5, -1.0, "damping is -1.0, expected"),
        ([1e5, 1e5], 0.0, r"expected one number or \(6,\)"),
    ],
)
def test_impossible_drives_are_refused(stiffness, damping, message):
    with pytest.raises(rd.InvalidInput, match=message):
        rd.load("motion_platform").with_drive_stiffness(stiffness, damping)


def test_sweeps_map_frequency_and_smallest_stiffness(loaded):
    m, q = loaded("puma560")
    states = States(q[None], np.zeros((1, 6)), np.zeros((1, 6)), np.zeros((1, 6)))
    found = {
        name: QUANTITIES[name].compute(m, states, SweepSettings())
        for name in ("natural_frequency", "smallest_stiffness")
    }
    assert found["natural_frequency"] == pytest.approx(m.modes(q).frequencies[:1])
    softest = 1.0 / np.linalg.norm(m.compliance(q)[:3, :3], 2)
    assert found["smallest_stiffness"] == pytest.approx(softest)
