# SPDX-License-Identifier: Apache-2.0

"""The vector kernels: the same bits in every form, and nothing let through unexplained."""

import pickle
import threading
import tracemalloc

import numpy as np
import pytest
from stewart_mechanisms import random_motion

import robodyn as rd
from robodyn import threads
from robodyn.errors import InvalidInput, ModelError
from robodyn.mechanisms.stewart.kernels import dynamics as scalar
from robodyn.mechanisms.stewart.kernels.layout import OK
from robodyn.numerics.broadcasting import COPIED, states

CALLS = (
    *("inverse_dynamics", "forward_dynamics", "mass_matrix"),
    *("bias", "jacobian", "condition_number"),
)


@pytest.fixture(autouse=True)
def _threads():
    yield
    rd.set_threads(None)


def arguments(name, pose, twist, third):
    if name == "bias":
        return pose, twist
    return (pose, twist, third) if name.endswith("dynamics") else (pose,)


def scalar_answer(platform, name, pose, twist, third, wrench):
    """By the kernels that take one state and one leg at a time, and NumPy."""
    if name == "condition_number":
        return np.linalg.cond(platform.jacobian(pose))
    packed = platform._legs, platform._platform
    answers = []
    for n in range(len(pose)):
        H, M, force, bias = np.empty((6, 6)), np.empty((6, 6)), np.empty(6), np.empty(6)
        state = pose[n], twist[n]
        given = *packed, *state, third[n], wrench[n]
        assert scalar.inverse_dynamics(*given, np.empty((6, 6)), force) == OK
        assert scalar.required_wrench(*packed, *state, np.zeros(6), True, H, bias) == OK
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


@pytest.mark.parametrize("name", CALLS)
def test_any_shape_stride_type_and_number_of_threads(rng, platform, name, monkeypatch):
    monkeypatch.setattr(threads, "SMALLEST_SHARE", 4)
    method = getattr(platform, name)
    for _ in range(12):
        shape = tuple(rng.integers(1, 6, size=rng.integers(0, 4)))
        given = arguments(name, *random_motion(rng, platform, shape)[:3])
        expected = method(*given)
        rd.set_threads(int(rng.integers(1, 5)))
        assert expected.shape[: len(shape)] == shape

        wide = [np.repeat(np.repeat(x, 2, axis=-1), 2, axis=0)[..., ::2] for x in given]
        if shape:
            strided = [x[::2] for x in wide]
            np.testing.assert_allclose(method(*strided), expected, rtol=1e-11)
            backwards = method(*(x[::-1] for x in given))
            np.testing.assert_allclose(backwards[::-1], expected, rtol=1e-11)
        fixed = [x.copy() for x in given]
        for x in fixed:
            x.flags.writeable = False
        np.testing.assert_allclose(method(*fixed), expected, rtol=1e-11)
        fortran = [np.asfortranarray(x) for x in given]
        np.testing.assert_allclose(method(*fortran), expected, rtol=1e-11)
        swapped = [x.astype(">f8") for x in given]
        np.testing.assert_allclose(method(*swapped), expected, rtol=1e-11)
        buffer = [np.frombuffer(b"\0" + x.tobytes(), dtype=np.uint8)[1:] for x in given]
        unaligned = [
            b.view(np.float64).reshape(x.shape) for b, x in zip(buffer, given, strict=True)
        ]
        np.testing.assert_allclose(method(*unaligned), expected, rtol=1e-11)
        lists = [x.tolist() for x in given]
        np.testing.assert_allclose(method(*lists), expected, rtol=1e-11)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_found_wherever_it_is(rng, platform, name, poison):
    for shape in ((), (5,), (40,), (3, 9)):
        given = [x.copy() for x in arguments(name, *random_motion(rng, platform, shape)[:3])]
        victim = given[rng.integers(len(given))]
        victim[tuple(rng.integers(0, victim.shape))] = poison
        with pytest.raises(InvalidInput, match="expected a finite number"):
            getattr(platform, name)(*given)


@pytest.mark.parametrize("name", CALLS)
def test_wrong_shapes_and_quaternions_are_refused_with_words(rng, platform, name):
    pose, twist, third, _ = random_motion(rng, platform, ())
    method = getattr(platform, name)
    long = pose.copy()
    long[3:] *= 1.0 + 3e-6
    with pytest.raises(InvalidInput, match="length"):
        method(*arguments(name, long, twist, third))
    for wrong in (pose[:6], np.append(pose, 0.0), np.empty(0)):
        with pytest.raises(InvalidInput, match="shape"):
            method(*arguments(name, wrong, twist, third))
    if name.endswith("dynamics"):
        with pytest.raises(InvalidInput, match="twist has shape"):
            method(pose, twist[:5], third)
        with pytest.raises(InvalidInput, match="wrench has shape"):
            method(pose, twist, third, np.zeros(5))
        with pytest.raises(InvalidInput, match="wrench has shape"):
            method(pose, twist, third, np.empty(0))


def test_condition_number_refuses_a_length_that_is_none(platform):
    for length in (0.0, -1.0, np.nan, np.inf, "1"):
        with pytest.raises(InvalidInput):
            platform.condition_number(platform.home, length)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("distance", [1e80, 1e155, 1e300])
def test_what_no_number_holds_is_infinite_or_refused_and_never_a_warning(platform, distance):
    far = platform.home
    far[:3] = distance
    for pose in (far, far[None]):
        ratio = platform.condition_number(pose)
        assert (ratio > 1e15).all()
        assert not np.isnan(ratio).any()
    if distance > 1e150:
        with pytest.raises(ModelError, match=r"payload: inertia.* expected a finite number"):
            platform.with_payload(1.0, [distance] * 3)


def test_unchecked_gives_the_same(rng, platform):
    pose, twist, third, wrench = random_motion(rng, platform, ())
    fast, out, matrix = platform.unchecked, np.empty(6), np.empty((6, 6))
    assert fast.inverse_dynamics(pose, twist, third, out, wrench)
    np.testing.assert_array_equal(out, platform.inverse_dynamics(pose, twist, third, wrench))
    assert fast.forward_dynamics(pose, twist, third, out)
    np.testing.assert_array_equal(out, platform.forward_dynamics(pose, twist, third))
    assert fast.mass_matrix(pose, matrix)
    np.testing.assert_array_equal(matrix, platform.mass_matrix(pose))
    assert fast.condition_number(pose, 0.3) == platform.condition_number(pose, 0.3)


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


def test_several_threads_may_call_at_once(rng, platform):
    given = random_motion(rng, platform, (20000,))[:3]
    expected = platform.inverse_dynamics(*given)
    results = [None] * 4

    def call(i):
        results[i] = platform.inverse_dynamics(*given)

    callers = [threading.Thread(target=call, args=(i,)) for i in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_set_threads_takes_whole_numbers_above_zero():
    rd.set_threads(3)
    assert threads.get_threads() == 3
    for wrong in (0, -1, 1.5, np.nan, "two"):
        with pytest.raises(InvalidInput):
            rd.set_threads(wrong)
    rd.set_threads(None)
    assert threads.get_threads() >= 1


def test_a_platform_survives_pickling(rng, platform):
    given = random_motion(rng, platform, ())[:3]
    expected = platform.inverse_dynamics(*given)
    again = pickle.loads(pickle.dumps(platform))
    assert again == platform
    np.testing.assert_array_equal(again.inverse_dynamics(*given), expected)
