"""Single states in one call: the same as in a batch, and nothing let through unexplained."""

import pickle

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import InvalidInput

CALLS = ("inverse_dynamics", "forward_dynamics", "mass_matrix")


@pytest.fixture(params=["puma560", "stanford_arm"])
def arm(request):
    return rd.load(request.param)


def arguments(name, *state):
    return state if name.endswith("dynamics") else state[:1]


@pytest.fixture
def rng():
    seed = np.random.SeedSequence().entropy
    print(f"seed = {seed}")
    return np.random.default_rng(seed)


@pytest.mark.parametrize("name", CALLS)
def test_one_state_is_that_of_a_batch(rng, arm, name):
    given = arguments(name, *rng.normal(size=(3, 9, arm.n)))
    loads = [()] + ([(rng.normal(size=(9, 6)),)] if name.endswith("dynamics") else [])
    for load in loads:
        method = getattr(arm, name)
        batch = method(*given, *load)
        for n in range(9):
            single = method(*(x[n] for x in given), *(x[n] for x in load))
            np.testing.assert_allclose(single, batch[n], rtol=1e-12, atol=1e-12)
            listed = method(*(x[n].tolist() for x in given), *(x[n].tolist() for x in load))
            np.testing.assert_allclose(single, listed, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(
                method(*(x[n].astype(">f8") for x in given), *(x[n] for x in load)),
                single,
                rtol=1e-12,
                atol=1e-12,
            )


def test_options_count_for_single_states(rng, arm):
    q, qd, qdd = rng.normal(size=(3, arm.n))
    for friction in (False, True):
        for armature in (False, True):
            options = {"friction": friction, "armature": armature}
            np.testing.assert_allclose(
                arm.inverse_dynamics(q, qd, qdd, **options),
                arm.inverse_dynamics(q[None], qd, qdd, **options)[0],
                rtol=1e-12,
            )
    np.testing.assert_array_equal(
        arm.mass_matrix(q, armature=False), arm.mass_matrix(q[None], armature=False)[0]
    )


@pytest.mark.parametrize("name", CALLS)
def test_what_is_wrong_is_said(rng, arm, name):
    given = [x.copy() for x in arguments(name, *rng.normal(size=(3, arm.n)))]
    for wrong in (np.nan, np.inf, -np.inf):
        victim = given[rng.integers(len(given))]
        where = rng.integers(arm.n)
        kept, victim[where] = victim[where], wrong
        with pytest.raises(InvalidInput, match="expected a finite number"):
            getattr(arm, name)(*given)
        victim[where] = kept
    with pytest.raises(InvalidInput, match="shape"):
        getattr(arm, name)(given[0][:-1], *given[1:])
    if name.endswith("dynamics"):
        for wrench in (np.zeros(5), np.empty(0), np.full(6, np.nan)):
            with pytest.raises(InvalidInput, match="wrench"):
                getattr(arm, name)(*given, wrench)


def test_unchecked_gives_the_same(rng, arm):
    q, qd, third = rng.normal(size=(3, arm.n))
    fast, out, matrix = arm.unchecked, np.empty(arm.n), np.empty((arm.n, arm.n))
    assert fast.inverse_dynamics(q, qd, third, out)
    np.testing.assert_array_equal(out, arm.inverse_dynamics(q, qd, third))
    assert fast.forward_dynamics(q, qd, third, out, np.ones(6))
    np.testing.assert_array_equal(out, arm.forward_dynamics(q, qd, third, np.ones(6)))
    assert fast.mass_matrix(q, matrix)
    np.testing.assert_array_equal(matrix, arm.mass_matrix(q))


def test_threads_share_a_batch(rng, arm, monkeypatch):
    from robodyn import threads

    given = rng.normal(size=(3, 50, arm.n))
    expected = [getattr(arm, name)(*arguments(name, *given)) for name in CALLS]
    monkeypatch.setattr(threads, "SMALLEST_SHARE", 4)
    rd.set_threads(3)
    for name, value in zip(CALLS, expected, strict=True):
        np.testing.assert_array_equal(getattr(arm, name)(*arguments(name, *given)), value)
    rd.set_threads(None)


def test_an_arm_survives_pickling(arm):
    again = pickle.loads(pickle.dumps(arm))
    assert again == arm
    np.testing.assert_array_equal(again.mass_matrix(arm.home), arm.mass_matrix(arm.home))
