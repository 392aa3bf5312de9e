"""Shapes, strides, types, broadcasting and what is refused are the same for every kind."""

import pickle
import threading

import numpy as np
import pytest

import robodyn as rd
from robodyn import threads
from robodyn.algorithms import conditioning, motions
from robodyn.errors import InvalidInput

# what a lane of a batch may differ by from a single state, in parts of the largest number
ROUNDING = 1e-10


@pytest.fixture(autouse=True)
def _threads():
    yield
    rd.set_threads(None)


@pytest.fixture
def given(states, questions, rng):
    """Arguments of a mechanism's call for a batch of a shape."""

    def draw(m, name, shape=()):
        efforts = rng.uniform(-1.0, 1.0, (*shape, len(m.joint_names)))
        wrench = rng.uniform(-1.0, 1.0, (*shape, 6))
        return questions(m, states(m, shape), efforts, wrench)[name]

    return draw


def assert_same(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    scale = np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=ROUNDING, atol=ROUNDING * scale)


@pytest.mark.parametrize("shape", [(1,), (5,), (37,), (2, 3), (0,), (3, 1, 2)])
@pytest.mark.parametrize("fraction", [1, 3])
def test_a_batch_is_its_states(asked, given, shape, fraction, monkeypatch):
    monkeypatch.setattr(threads, "SMALLEST_SHARE", 4)
    rd.set_threads(fraction)
    mechanism, name = asked
    method, arguments = getattr(mechanism, name), given(mechanism, name, shape)
    batch = method(*arguments)
    assert batch.shape[: len(shape)] == shape
    assert batch.dtype == np.float64
    for index in np.ndindex(shape):
        assert_same(method(*(x[index] for x in arguments)), batch[index])


def test_one_state_is_broadcast_to_many(asked, given):
    mechanism, name = asked
    method, arguments = getattr(mechanism, name), given(mechanism, name, (4,))
    spread = [arguments[0], *(np.broadcast_to(x[0], x.shape) for x in arguments[1:])]
    assert_same(method(arguments[0], *(x[0] for x in arguments[1:])), method(*spread))


def test_any_memory_that_holds_the_numbers_gives_the_same(asked, given):
    mechanism, name = asked
    method, arguments = getattr(mechanism, name), given(mechanism, name, (3,))
    batch = method(*arguments)
    fixed = [x.copy() for x in arguments]
    for x in fixed:
        x.flags.writeable = False
    bytes_before = [np.frombuffer(b"\0" + x.tobytes(), dtype=np.uint8)[1:] for x in arguments]
    forms = {
        "read-only": fixed,
        "strided": [np.repeat(np.repeat(x, 2, -1), 2, 0)[::2, ..., ::2] for x in arguments],
        "reversed": [x[::-1].copy()[::-1] for x in arguments],
        "column-major": [np.asfortranarray(x) for x in arguments],
        "byte-swapped": [x.astype(x.dtype.newbyteorder()) for x in arguments],
        "unaligned": [
            b.view(np.float64).reshape(x.shape)
            for b, x in zip(bytes_before, arguments, strict=True)
        ],
        "unpickled": pickle.loads(pickle.dumps(arguments)),
        "lists": [x.tolist() for x in arguments],
    }
    for form in forms.values():
        assert_same(method(*form), batch)
        assert_same(method(*(x[1] for x in form)), batch[1])


@pytest.mark.parametrize("count", [3, 20])
def test_a_motion_of_joints_may_lie_in_columns(actuated, states, count):
    q, v, _ = states(actuated, (count,))
    motion = actuated.joint_positions(q), actuated.joint_velocities(q, v)
    expected = motions.motion_of_joints(actuated, *map(np.ascontiguousarray, motion))
    for found, part in zip(
        motions.motion_of_joints(actuated, *map(np.asfortranarray, motion)), expected, strict=True
    ):
        assert_same(found, part)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize("shape", [(), (5,)])
def test_no_wrench_is_a_wrench_of_zero(actuated, given, name, shape):
    method, arguments = getattr(actuated, name), given(actuated, name, shape)[:3]
    found = method(*arguments)
    np.testing.assert_array_equal(method(*arguments, None), found)
    assert_same(method(*arguments, np.zeros(6)), found)


def test_arguments_are_left_as_they_are(asked, given):
    mechanism, name = asked
    arguments = given(mechanism, name, (3,))
    before = [x.copy() for x in arguments]
    getattr(mechanism, name)(*arguments)
    for x, copy in zip(arguments, before, strict=True):
        np.testing.assert_array_equal(x, copy)


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("shape", [(), (5,), (3, 9)])
def test_a_number_that_is_not_finite_is_refused_wherever_it_stands(
    asked, given, rng, poison, shape
):
    mechanism, name = asked
    arguments = [x.copy() for x in given(mechanism, name, shape)]
    victim = arguments[rng.integers(len(arguments))]
    victim[tuple(rng.integers(0, victim.shape))] = poison
    with pytest.raises(InvalidInput, match="expected a finite number"):
        getattr(mechanism, name)(*arguments)


def test_a_wrong_shape_is_refused_by_name(asked, given):
    mechanism, name = asked
    arguments = given(mechanism, name)
    for place in range(len(arguments)):
        for wrong in (arguments[place][:-1], np.append(arguments[place], 0.0), np.empty(0)):
            spoilt = [*arguments[:place], wrong, *arguments[place + 1 :]]
            with pytest.raises(InvalidInput, match="shape"):
                getattr(mechanism, name)(*spoilt)


@pytest.mark.parametrize("length", [0.0, -1.0, np.nan, np.inf, "1"])
def test_a_length_that_is_none_is_refused(mechanism, length):
    with pytest.raises(InvalidInput):
        mechanism.condition_number(mechanism.home, length)
    with pytest.raises(InvalidInput):
        conditioning.singular_values(mechanism, mechanism.home, length)


def test_singular_values_of_a_batch_are_those_of_its_states(mechanism, states):
    q = states(mechanism, (2, 3)).configuration
    found = conditioning.singular_values(mechanism, q)
    assert (np.diff(found, axis=-1) <= 0.0).all()
    one = conditioning.singular_values(mechanism, q[1, 2])
    np.testing.assert_allclose(found[1, 2], one, rtol=0.0, atol=1e-12 * one[0])


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_threads_share_a_batch_and_several_may_call(actuated, given, name):
    method, arguments = getattr(actuated, name), given(actuated, name, (600,))
    rd.set_threads(1)
    expected = method(*arguments)
    rd.set_threads(3)
    results = [None] * 3

    def call(i):
        results[i] = method(*arguments)

    callers = [threading.Thread(target=call, args=(i,)) for i in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    for result in results:
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("question", ["inverse_dynamics", "forward_dynamics", "regressor"])
@pytest.mark.parametrize("missing", range(3))
def test_none_for_what_has_to_be_given_is_refused(actuated, states, question, missing):
    given = list(states(actuated))
    given[missing] = None
    with pytest.raises(InvalidInput, match="expected"):
        getattr(actuated, question)(*given)
