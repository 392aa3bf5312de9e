# SPDX-License-Identifier: Apache-2.0

"""A compiled kind from files of its own: it steps, is batched, planned, plotted and exported."""

from __future__ import annotations

import ctypes
import shutil

import compiled_cart
import numpy as np
import pytest
from cart_pendulum import CartPendulum, Model
from compiled_cart import CompiledCart

import robodyn as rd
from robodyn.algorithms import stepping
from robodyn.dynamics.compiled_run import StepSettings
from robodyn.loading import unregister_kind

pytestmark = pytest.mark.slow

MODEL = Model(cart=2.0, bob=0.5, length=0.4, damping=3.0)
LOAD = np.array([1.0, 0.0, 2.0, 0.0, 0.3, 0.0])
BASE = rd.BaseMotion([0.0, 0.0, 9.81], [0.0, 0.0, 0.1], [0.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def crane():
    rd.register_kind(compiled_cart.KIND)
    fields = {"type": "compiled_cart", "cart": 2.0, "bob": 0.5, "length": 0.4, "damping": 3.0}
    yield rd.load(fields)
    unregister_kind("compiled_cart")


@pytest.fixture
def states(rng):
    return *rng.normal(size=(3, 20, 2)), rng.normal(size=(20, 6))


def test_kernels_of_the_cart_agree_with_numpy(crane, states):
    numpy, (q, v, third, wrench) = CartPendulum(MODEL), states
    for name in ("inverse_dynamics", "forward_dynamics"):
        found, expected = (getattr(m, name)(q, v, third, wrench) for m in (crane, numpy))
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)
        found, expected = (
            getattr(m, f"{name}_derivatives")(q, v, third, wrench) for m in (crane, numpy)
        )
        for block, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(block, other, rtol=1e-8, atol=1e-8)
    for name in ("mass_matrix", "body_pose", "jacobian"):
        found, expected = (getattr(m, name)(q) for m in (crane, numpy))
        np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(crane.bias(q, v), numpy.bias(q, v), rtol=1e-13, atol=1e-13)


def test_steps_of_the_cart_agree_with_numpy_and_conserve_energy(crane):
    numpy, start = CartPendulum(MODEL), (np.array([0.1, 0.3]), np.array([0.2, -0.4]))
    given = *start, np.array([1.0, 2.0]), LOAD, 1e-3, 100
    for found, expected in zip(
        stepping.step(crane, *given), stepping.step(numpy, *given), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    free = crane.without_friction()
    q, v = stepping.step(free, *start, np.zeros(2), np.zeros(6), 1e-3, 1000)

    def energy(q, v):
        return 0.5 * v @ free.mass_matrix(q) @ v - 0.5 * 9.81 * 0.4 * np.cos(q[1])

    assert energy(q, v) == pytest.approx(energy(*start), rel=1e-9)


def test_the_cart_is_simulated_in_compiled_code_and_in_lanes_with_the_same_bits(crane):
    path = rd.plan_joints([0.0, -0.5], [0.4, 0.8], 1.0)
    assert crane.solver.compiled_simulation(crane) is not None
    runs = [
        rd.simulate(m, rd.ComputedTorque(m), path, 1e-3, 1e-2) for m in (crane, CartPendulum(MODEL))
    ]
    np.testing.assert_allclose(runs[0].configuration, runs[1].configuration, atol=1e-10)
    rows = [CompiledCart(Model(2.0, mass, 0.4, 3.0)) for mass in np.linspace(0.1, 0.9, 11)]
    assert crane.solver.batch_steps(rows, 1e-3, limit_motors=False) is not None
    plants, start = rd.BatchPlant(rows, dt=1e-3), np.tile(crane.home, (11, 1))
    plants.reset(start, 0.0 * start)
    plants.step(np.tile([1.0, 2.0], (11, 1)), steps=50, wrench=np.tile(LOAD, (11, 1)))
    for row, one in enumerate(rows):
        q, v = stepping.step(one, start[row], np.zeros(2), np.array([1.0, 2.0]), LOAD, 1e-3, 50)
        assert plants.configuration[row].tobytes() == q.tobytes()
        assert plants.velocity[row].tobytes() == v.tobytes()


def test_a_base_that_moves_is_refused(crane):
    still = np.zeros(2)
    with pytest.raises(rd.InvalidInput, match="on a base that moves"):
        crane.inverse_dynamics(crane.home, still, still, base=BASE)
    path = rd.plan_joints([0.0, -0.5], [0.4, 0.8], 1.0)
    with pytest.raises(rd.RobodynError, match="base"):
        rd.simulate(crane, rd.ConstantEffort(still), path, 1e-3, 1e-2, base=BASE)


def test_the_cart_is_planned_analyzed_and_plotted(crane):
    pytest.importorskip("matplotlib")
    path = rd.plan_path(crane, [0.0, -0.5], [0.4, 0.8])
    fast = rd.time_optimal(crane, path)
    assert fast.duration < path.duration
    assert rd.check_limits(crane, fast) is None
    study = rd.analyze(crane, fast)
    np.testing.assert_allclose(sum(study.terms.values()), study.forces, atol=1e-9)
    assert {"forces", "condition_number", "joints"} <= set(study.plot())


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc)")
def test_exported_c_library_of_the_cart_has_the_same_bits(crane, states, tmp_path):
    made = rd.export(crane, tmp_path / "crane", name="crane")
    library = ctypes.CDLL(str(made.folder / "libcrane.so"))
    q, v, third, wrench = (array[0].copy() for array in states)

    def call(name, *given, size):
        out = np.empty(size)
        pointers = [None if x is None else x.ctypes.data_as(ctypes.c_void_p) for x in given]
        status = getattr(library, f"crane_{name}")(*pointers, out.ctypes.data_as(ctypes.c_void_p))
        return status, out

    for name in ("inverse_dynamics", "forward_dynamics"):
        status, out = call(name, q, v, third, wrench, None, size=2)
        assert status == 0
        assert out.tobytes() == getattr(crane, name)(q, v, third, wrench).tobytes()
        assert call(name, q, v, third, wrench, np.ones(9), size=2)[0] != 0
    for name in ("body_pose", "mass_matrix"):
        status, out = call(name, q, size=getattr(crane, name)(q).size)
        assert (status, out.tobytes()) == (0, getattr(crane, name)(q).tobytes())
    status, out = call("twist_jacobian", q, size=12)
    assert (status, out.tobytes()) == (0, crane.jacobian(q).tobytes())
    condition = library.crane_condition_number
    condition.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p]
    ratio = np.empty(1)
    assert condition(q.ctypes.data, 0.7, ratio.ctypes.data) == 0
    assert ratio[0] == pytest.approx(crane.condition_number(q, 0.7), rel=1e-12)
    step = library.crane_step
    step.argtypes = [*[ctypes.c_void_p] * 5, ctypes.c_double, ctypes.c_int]
    expected = stepping.step(crane, q, v, third, wrench, 1e-3, 20, StepSettings(rd.EndStops()))
    assert step(*(x.ctypes.data for x in (q, v, third, wrench)), None, 1e-3, 20) == 0
    assert (q.tobytes(), v.tobytes()) == tuple(part.tobytes() for part in expected)
