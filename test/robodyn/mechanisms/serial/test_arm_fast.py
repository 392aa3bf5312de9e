# SPDX-License-Identifier: Apache-2.0

"""Single states in one call: the same as in a batch, and nothing let through unexplained."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import robodyn as rd
from robodyn import threads
from robodyn.errors import InvalidInput, ModelError
from robodyn.mechanisms.serial.arm import SerialArm

CALLS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "jacobian")


@pytest.fixture(params=["puma560", "stanford_arm"])
def arm(request):
    return rd.load(request.param)


def arguments(name, *state):
    return state if name.endswith("dynamics") else state[:1]


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
    given = rng.normal(size=(3, 50, arm.n))
    expected = [getattr(arm, name)(*arguments(name, *given)) for name in CALLS]
    monkeypatch.setattr(threads, "SMALLEST_SHARE", 4)
    rd.set_threads(3)
    for name, value in zip(CALLS, expected, strict=True):
        np.testing.assert_array_equal(getattr(arm, name)(*arguments(name, *given)), value)
    rd.set_threads(None)


@pytest.mark.parametrize("name", CALLS)
def test_any_shape_stride_type_and_number_of_threads(rng, arm, name, monkeypatch):
    monkeypatch.setattr(threads, "SMALLEST_SHARE", 4)
    method = getattr(arm, name)
    for _ in range(8):
        shape = tuple(rng.integers(1, 6, size=rng.integers(0, 4)))
        given = arguments(name, *rng.normal(size=(3, *shape, arm.n)))
        expected = method(*given)
        rd.set_threads(int(rng.integers(1, 5)))
        assert expected.shape[: len(shape)] == shape
        fixed = [x.copy() for x in given]
        for x in fixed:
            x.flags.writeable = False
        wide = [np.repeat(x, 2, axis=-1)[..., ::2] for x in given]
        buffer = [np.frombuffer(b"\0" + x.tobytes(), dtype=np.uint8)[1:] for x in given]
        unaligned = [
            b.view(np.float64).reshape(x.shape) for b, x in zip(buffer, given, strict=True)
        ]
        swapped, lists = [x.astype(">f8") for x in given], [x.tolist() for x in given]
        fortran = [np.asfortranarray(x) for x in given]
        for same in (fixed, wide, unaligned, swapped, lists, fortran):
            np.testing.assert_array_equal(method(*same), expected)
        if shape:
            backwards = method(*(x[::-1] for x in given))
            np.testing.assert_array_equal(backwards[::-1], expected)
            assert method(*(x[:0] for x in given)).shape == (0, *expected.shape[1:])
    rd.set_threads(None)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
def test_a_number_of_a_batch_that_is_not_finite_is_found(rng, arm, name, poison):
    for shape in ((5,), (40,), (3, 9)):
        given = [x.copy() for x in arguments(name, *rng.normal(size=(3, *shape, arm.n)))]
        victim = given[rng.integers(len(given))]
        victim[tuple(rng.integers(0, victim.shape))] = poison
        with pytest.raises(InvalidInput, match="expected a finite number"):
            getattr(arm, name)(*given)


def test_angles_of_many_turns_are_the_same_in_batches(rng, arm):
    """Far ones have another source of sine and cosine, which each lane picks for itself."""
    q = rng.normal(size=(16, arm.n)) * 10.0 ** rng.uniform(-3, 9, size=(16, arm.n))
    batch = arm.mass_matrix(q)
    for n in range(16):
        np.testing.assert_array_equal(arm.mass_matrix(q[n]), batch[n])
    strobed = arm.mass_matrix(q, method="strobing")
    np.testing.assert_allclose(batch, strobed, rtol=1e-9, atol=1e-9 * np.abs(strobed).max())


def test_an_arm_of_more_joints_than_scratch_has_room_for(rng, arm, monkeypatch):
    model, n = arm.model, 150
    joints = tuple(replace(model.joints[i % arm.n], name=f"joint{i}") for i in range(n))
    long = SerialArm(replace(model, joints=joints, home=np.resize(model.home, n)))
    q, qd, qdd = 0.1 * rng.normal(size=(3, 3, n))
    tau = long.inverse_dynamics(q, qd, qdd)
    np.testing.assert_array_equal(tau[1], long.inverse_dynamics(q[1], qd[1], qdd[1]))
    modified = long.inverse_dynamics(q, qd, qdd, method="modified_newton_euler")
    np.testing.assert_allclose(tau, modified, rtol=1e-9, atol=1e-9 * np.abs(tau).max())
    M = long.mass_matrix(q)
    np.testing.assert_array_equal(M[1], long.mass_matrix(q[1]))
    again = long.forward_dynamics(q, qd, tau)
    np.testing.assert_array_equal(again[1], long.forward_dynamics(q[1], qd[1], tau[1]))
    assert long.jacobian(q).shape == (3, 6, n)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_payload_that_no_number_holds_is_refused(arm):
    for mass, com in ((1.0, [1e155] * 3), (1e300, [1e300] * 3)):
        with pytest.raises(ModelError, match="expected a finite number"):
            arm.with_payload(mass, com)


def test_an_arm_survives_pickling(arm):
    again = pickle.loads(pickle.dumps(arm))
    assert again == arm
    np.testing.assert_array_equal(again.mass_matrix(arm.home), arm.mass_matrix(arm.home))


def test_condition_number_is_numpys_of_the_jacobian_in_units_of_a_length(rng, arm):
    q = rng.uniform(-3.0, 3.0, size=(50, arm.n))
    for length in (1.0, float(rng.uniform(0.05, 3.0))):
        batch = arm.condition_number(q, length)
        for n in range(50):
            J = arm.jacobian(q[n])
            J[3:] *= length
            expected = np.linalg.cond(J)
            # a number that small beside the largest is known to so many digits only
            digits = max(1e-11, 1e-14 * expected)
            np.testing.assert_allclose(arm.condition_number(q[n], length), expected, rtol=digits)
            np.testing.assert_allclose(batch[n], expected, rtol=digits)


@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
def test_condition_number_of_a_singular_arm_is_beyond_measure():
    puma = rd.load("puma560")
    for q in (np.zeros(6), np.zeros((1, 6))):
        assert (puma.condition_number(q) > 1e15).all()


def test_condition_number_refuses_what_is_no_state_and_a_length_that_is_none(arm):
    for q in (np.full(arm.n, np.nan), np.zeros(arm.n - 1), np.zeros(0), "home"):
        with pytest.raises(InvalidInput):
            arm.condition_number(q)
    for length in (0.0, -1.0, np.nan, np.inf, "1"):
        with pytest.raises(InvalidInput):
            arm.condition_number(arm.home, length)
