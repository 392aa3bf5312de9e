# SPDX-License-Identifier: Apache-2.0

"""Mechanisms, controllers and results in other processes, and what comes back from there."""

import copy
import multiprocessing
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import robodyn as rd
from robodyn.control import TrajectoryFollower
from robodyn.loading import unregister_kind
from robodyn.simulation import Plant

# its folder is that of other tests
sys.path.append(str(Path(__file__).parent / "solvers" / "third_kind"))
import cart_pendulum

from robodyn.algorithms import conditioning

# one of each kind, and of one that is registered
NAMES = ("delta", "puma560", "stewart_symmetric", "cart_pendulum")
CRANE = {"type": "cart_pendulum", "cart": 2.0, "bob": 0.5, "length": 0.4}
CONTROLLERS = {
    "computed torque": lambda m: rd.ComputedTorque(m, 120.0, 18.0, preview=1e-3),
    "feedforward": rd.Feedforward,
    "gravity": rd.GravityCompensation,
    "constant": lambda m: rd.ConstantEffort(0.01 * m.effort_limits.clip(max=10.0)),
}


@pytest.fixture(scope="module")
def pool():
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module", params=NAMES)
def mechanism(request):
    if request.param != "cart_pendulum":
        yield rd.load(request.param)
        return
    yield rd.register_kind(cart_pendulum.KIND).from_yaml(CRANE, "crane.yaml", {})
    unregister_kind(cart_pendulum.KIND.name)


@pytest.fixture
def state(mechanism, rng):
    size = mechanism.coordinates.velocity_size
    steps = rng.uniform(-0.02, 0.02, (3, size))
    return mechanism.advance(mechanism.home, steps[0]), 10.0 * steps[1], 10.0 * steps[2]


def again(thing):
    return pickle.loads(pickle.dumps(thing))


def answers(mechanism, q, v, a):
    """Return the results of a mechanism for a state, as plain arrays."""
    efforts = mechanism.inverse_dynamics(q, v, a)
    fast, size = np.empty_like(efforts), len(v)
    assert mechanism.solver.unchecked.inverse_dynamics(q, v, a, fast)
    plant = Plant(mechanism, q, v)
    plant.hold(efforts, 5)
    return {
        "inverse_dynamics": efforts,
        "unchecked": fast,
        "forward_dynamics": mechanism.forward_dynamics(q, v, efforts),
        "mass_matrix": mechanism.mass_matrix(q),
        "jacobian": mechanism.jacobian(q),
        "advance": mechanism.advance(q, a * 1e-2),
        "difference": mechanism.difference(q, mechanism.home),
        "body_pose": mechanism.body_pose(q),
        "condition_number": mechanism.condition_number(q),
        "batch": mechanism.inverse_dynamics(np.tile(q, (9, 1)), np.zeros((9, size)), a),
        "plant": np.concatenate([plant.configuration, plant.velocity]),
    }


def assert_same(first, second):
    assert first.keys() == second.keys()
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name], name)


def commanded(follower, q, v):
    command = follower.command(0, q, v)
    return {"effort": command.effort, "required": command.required}


def histories(result):
    names = ("time", "configuration", "velocity", "effort")
    return {name: getattr(result, name) for name in names}


@pytest.mark.slow
def test_a_mechanism_answers_the_same_in_another_process(pool, mechanism, state):
    """There, and here once it has come back; with states that came back, too."""
    here = answers(mechanism, *state)
    assert_same(pool.submit(answers, mechanism, *state).result(), here)
    other, *moved = pool.submit(tuple, (mechanism, *state)).result()
    assert other == mechanism
    assert_same(answers(other, *moved), here)
    assert_same(answers(mechanism, *moved), here)


def test_an_unpickled_state_takes_no_detour(mechanism, state):
    """The compiled calls take it as it is: `unchecked` knows no other way."""
    out = again(np.empty(len(mechanism.joint_names)))
    assert mechanism.solver.unchecked.inverse_dynamics(*again(state), out)
    np.testing.assert_array_equal(out, mechanism.inverse_dynamics(*state))


@pytest.mark.parametrize("law", CONTROLLERS)
def test_simulations_in_another_process(pool, mechanism, state, law):
    """Controller, path and result go there and back, and serve to go on from."""
    control, start = CONTROLLERS[law](mechanism), state[0]
    plan = rd.plan_straight(mechanism, start, mechanism.home, duration=0.05)
    given = {"dt": 1e-3, "control_dt": 5e-3}
    here = rd.simulate(mechanism, control, plan, **given)
    there = pool.submit(rd.simulate, mechanism, control, plan, **given).result()
    assert_same(histories(there), histories(here))
    ends = [(one.configuration[-1], one.velocity[-1]) for one in (here, there)]
    after = [rd.simulate(mechanism, control, plan, initial=end, **given) for end in ends]
    assert_same(histories(after[1]), histories(after[0]))


def test_a_follower_in_another_process(pool, mechanism, state):
    follower = TrajectoryFollower(mechanism)
    follower.follow(rd.plan_straight(mechanism, state[0], mechanism.home, duration=1.0), 0)
    there = pool.submit(commanded, follower, *state[:2]).result()
    assert_same(there, commanded(follower, *state[:2]))


def test_objects_of_a_mechanism_can_be_pickled(pool, mechanism, state):
    """Its unchecked calls, the ways in which it is singular, what was found of it."""
    q, v, a = state
    out = np.empty(len(mechanism.joint_names))
    there, efforts = pool.submit(unchecked_there, mechanism.solver.unchecked, q, v, a, out).result()
    np.testing.assert_array_equal(efforts, mechanism.inverse_dynamics(q, v, a))
    assert there.inverse_dynamics(q, v, a, out)
    np.testing.assert_array_equal(out, efforts)
    for kind in conditioning.singularities(mechanism):
        number, condition = pool.submit(singular_there, kind, q[None]).result()
        np.testing.assert_array_equal(number, kind.number(q[None]))
        np.testing.assert_array_equal(condition, kind.condition(q[None], 0.5))


def test_structure_of_a_closed_loop_can_be_pickled(pool):
    loop = rd.load("delta")
    there = pool.submit(again, loop.structure).result()
    assert (there.mobility, there.rank, there.free) == (
        3,
        loop.structure.rank,
        loop.structure.free,
    )
    for part in ("plan", "numbers"):
        ours, theirs = (getattr(one.packed, part) for one in (loop.structure, there))
        np.testing.assert_array_equal(ours.view(np.int64), theirs.view(np.int64))


def unchecked_there(fast, q, v, a, out):
    assert fast.inverse_dynamics(q, v, a, out)
    return fast, out


def singular_there(kind, q):
    return kind.number(q), kind.condition(q, 0.5)


@pytest.mark.slow
def test_an_error_reports_the_same_in_another_process():
    reported = {"smallest_singular_value": 0.0, "direction": np.ones(6), "index": (1, 2)}
    error = rd.errors.SingularConfiguration("singular", value=3.0, **reported)
    found = again(error)
    assert str(found) == "singular"
    assert (found.value, found.index) == (3.0, (1, 2))
    np.testing.assert_array_equal(found.direction, np.ones(6))
    assert again(rd.errors.ZeroLegLength("short", leg=3)).leg == 3


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, again])
def test_a_copy_of_a_batch_moves_as_the_original_and_by_itself(mechanism, state, copied):
    if mechanism.solver.compiled_simulation(mechanism) is None:
        pytest.skip("batches need a compiled simulation")
    plants = rd.BatchPlant([mechanism, mechanism], dt=1e-3)
    plants.reset(*state[:2])
    effort = 0.01 * mechanism.effort_limits.clip(max=10.0)
    plants.step(effort, 3)
    clone = copied(plants)
    plants.step(effort, 5)
    kept = plants.configuration
    clone.step(effort, 5)
    assert (clone.configuration == plants.configuration).all()
    assert (clone.velocity == plants.velocity).all()
    clone.step(effort, 5)
    assert (clone.configuration != kept).any()
    assert (plants.configuration == kept).all()
