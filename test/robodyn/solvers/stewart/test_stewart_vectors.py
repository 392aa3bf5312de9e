# SPDX-License-Identifier: Apache-2.0

"""The vector kernels of platforms, beside those of one leg at a time; memory and threads."""

import tracemalloc

import numpy as np
import pytest
from stewart_mechanisms import random_motion

import robodyn as rd
from robodyn import threads
from robodyn.dynamics.kernels.base_motion import base_at_rest
from robodyn.dynamics.kernels.state import State
from robodyn.errors import InvalidInput
from robodyn.numerics.broadcasting import COPIED, states
from robodyn.solvers.stewart.kernels import dynamics as scalar
from robodyn.solvers.stewart.kernels.layout import OK

CALLS = (
    *("inverse_dynamics", "forward_dynamics", "mass_matrix"),
    *("bias", "jacobian", "condition_number"),
)


def arguments(name, pose, twist, third):
    if name == "bias":
        return pose, twist
    return (pose, twist, third) if name.endswith("dynamics") else (pose,)


def scalar_answer(platform, name, pose, twist, third, wrench):
    """By the kernels that take one state and one leg at a time, and NumPy."""
    if name == "condition_number":
        return np.linalg.cond(platform.jacobian(pose))
    packed = platform.solver.legs, platform.solver.body
    answers = []
    for n in range(len(pose)):
        H, M, force, bias = np.empty((6, 6)), np.empty((6, 6)), np.empty(6), np.empty(6)
        state = pose[n], twist[n]
        rest = base_at_rest(platform.model.gravity)
        given = State(*state, third[n], wrench[n], True, rest, False)
        assert scalar.inverse_dynamics(*packed, given, rest, np.empty((6, 6)), force) == OK
        assert scalar.required_wrench(*packed, *state, np.zeros(6), rest, True, H, bias) == OK
        assert scalar.mass_matrix(*packed, pose[n], M) == OK
        answers.append(
            {
                "inverse_dynamics": force,
                "forward_dynamics": np.linalg.solve(M, H @ third[n] + wrench[n] - bias),
                "mass_matrix": M,
                "bias": bias,
                "jacobian": H,
            }[name]
        )
    return np.array(answers)


@pytest.mark.parametrize("name", CALLS)
def test_vectors_of_legs_and_of_states_agree_with_one_leg_at_a_time(rng, platform, name):
    pose, twist, third, wrench = random_motion(rng, platform, (37,))
    given = arguments(name, pose, twist, third)
    load = (wrench,) if name.endswith("dynamics") else ()
    method = getattr(platform, name)
    batch = method(*given, *load)
    expected = scalar_answer(platform, name, pose, twist, third, wrench)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(batch, expected, rtol=1e-10, atol=1e-12 * scale)
    for n in range(37):
        single = method(*(array[n] for array in given), *(array[n] for array in load))
        if name == "condition_number":
            np.testing.assert_allclose(single, batch[n], rtol=1e-11)
        else:
            np.testing.assert_array_equal(single, batch[n])


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("distance", [1e80, 1e155, 1e300])
def test_overflowing_results_are_infinite_or_refused_without_warnings(platform, distance):
    far = platform.home
    far[:3] = distance
    for pose in (far, far[None]):
        ratio = platform.condition_number(pose)
        assert (ratio > 1e15).all()
        assert not np.isnan(ratio).any()


def test_flat_batches_are_read_where_they_are(rng, platform):
    pose = random_motion(rng, platform, (5000,))[0]
    q, v, none = states((7, 6, 6), (pose[::2], np.zeros(6), None)).part(100, 200)
    assert np.shares_memory(q, pose)
    assert q.shape == (100, 7)
    assert v.strides == (0, 8)
    assert none is None


@pytest.mark.parametrize("shape", [(300, 200), (2, 30000), (3, 1, 20000), (50, 40, 30)])
def test_broadcasts_over_several_axes_need_little_memory(rng, platform, shape):
    """The arrays that span them need many times what is given and what is answered."""
    pose = random_motion(rng, platform, shape[:1])[0].reshape(-1, *(1,) * (len(shape) - 1), 7)
    twist, accel = rng.normal(size=(2, *shape[1:], 6))
    small = platform.inverse_dynamics(pose[:1, ..., :1, :], twist[..., :1, :], accel[..., :1, :])
    tracemalloc.start()
    forces = platform.inverse_dynamics(pose, twist, accel)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    np.testing.assert_array_equal(forces[:1, ..., :1, :], small)
    n = tuple(rng.integers(shape))
    alone = platform.inverse_dynamics(pose[n[0], ..., 0, :].reshape(7), twist[n[1:]], accel[n[1:]])
    np.testing.assert_array_equal(forces[n], alone)
    assert peak < forces.nbytes + 19 * 8 * 6 * COPIED


def test_set_threads_takes_whole_numbers_above_zero():
    rd.set_threads(3)
    assert threads.get_threads() == 3
    for wrong in (0, -1, 1.5, np.nan, "two"):
        with pytest.raises(InvalidInput):
            rd.set_threads(wrong)
    rd.set_threads(None)
    assert threads.get_threads() >= 1


def test_unchecked_condition_numbers_are_those_of_checked_calls(rng, platform):
    pose = random_motion(rng, platform, ())[0]
    assert platform.solver.unchecked.condition_number(pose, 0.3) == platform.condition_number(
        pose, 0.3
    )


@pytest.mark.parametrize("name", CALLS)
def test_quaternions_that_are_none_are_refused_with_words(rng, platform, name):
    pose, twist, third, _ = random_motion(rng, platform, ())
    pose[3:] *= 1.0 + 3e-6
    with pytest.raises(InvalidInput, match="length"):
        getattr(platform, name)(*arguments(name, pose, twist, third))
