# SPDX-License-Identifier: Apache-2.0

"""Rows of a batch move as plants of their own do, to the bit, and fail alone."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.simulation.plant import Plant

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
COUNT = 40


def held(mechanism):
    rest = np.zeros(mechanism.coordinates.velocity_size)
    return mechanism.inverse_dynamics(mechanism.home, rest, rest)


@pytest.fixture(params=["stewart_symmetric", "puma560", "delta"])
def mechanism(request):
    return rd.load(request.param)


def test_each_row_is_a_plant_of_its_own(mechanism, rng):
    """With payloads, starts, efforts and wrenches of its own, whatever the number of threads."""
    rows = [mechanism.with_payload(mass) for mass in rng.uniform(0.1, 2.0, COUNT)]
    velocities = 0.05 * rng.normal(size=(COUNT, mechanism.coordinates.velocity_size))
    efforts = held(mechanism) * rng.uniform(0.8, 1.2, (COUNT, len(mechanism.joint_names)))
    wrenches = rng.normal(size=(COUNT, 6))
    found = []
    for threads in (1, 2):
        rd.set_threads(threads)
        try:
            batch = rd.BatchPlant(rows, dt=5e-4)
            batch.reset(velocity=velocities)
            for steps in (1, 7):
                batch.step(efforts, steps, wrenches)
        finally:
            rd.set_threads(None)
        assert not batch.failed.any()
        found.append((batch.configuration, batch.velocity))
    for row in range(0, COUNT, 7):
        plant = Plant(rows[row], velocity=velocities[row], dt=5e-4)
        for steps in (1, 7):
            plant.hold(efforts[row], steps, wrenches[row])
        for configuration, velocity in found:
            assert configuration[row].tobytes() == plant.configuration.tobytes()
            assert velocity[row].tobytes() == plant.velocity.tobytes()


def test_a_row_that_fails_does_not_stop_the_others(mechanism):
    batch = rd.BatchPlant(mechanism, 5)
    wrench = np.zeros((5, 6))
    wrench[3, 0] = 1e30
    for _ in range(3):
        batch.step(held(mechanism), 50, wrench)
    assert batch.failed.tolist() == [False, False, False, True, False]
    assert list(batch.problem) == [3]
    assert "no state follows" in batch.problem[3]
    assert np.isfinite(batch.configuration).all()
    others = batch.configuration[[0, 1, 2, 4]]
    assert (others == others[0]).all()
    # reset, it moves as the others did
    batch.reset(rows=[3])
    assert not batch.failed.any()
    assert not batch.problem
    again = rd.BatchPlant(mechanism, 1)
    for _ in range(3):
        batch.step(held(mechanism), 50)
        again.step(held(mechanism), 50)
    np.testing.assert_array_equal(batch.configuration[3], again.configuration[0])


def test_efforts_are_cut_to_the_limits():
    m = rd.load("puma560")
    most, more = rd.BatchPlant(m, 1), rd.BatchPlant(m, 2)
    most.step(m.effort_limits, 3)
    more.step(10.0 * m.effort_limits, 3)
    assert (more.velocity == most.velocity).all()
    free = rd.BatchPlant(m, 1, limit_efforts=False)
    free.step(10.0 * m.effort_limits, 3)
    assert (free.velocity != most.velocity).any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b: b.step(np.full(6, np.nan)), "efforts"),
        (lambda b: b.step(np.zeros((3, 6))), r"efforts has shape \(3, 6\)"),
        (lambda b: b.step(np.zeros(6), 0), "steps is 0"),
        (lambda b: b.step(np.zeros(6), 1, np.zeros(5)), "wrench"),
        (lambda b: b.reset(rows=[2]), "rows are"),
        (lambda b: b.reset(rows=[0.5]), "rows are"),
        (lambda b: b.reset(np.zeros(3)), "configuration"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_moves(call, message):
    batch = rd.BatchPlant(rd.load("puma560"), 2)
    before = batch.configuration
    with pytest.raises(rd.InvalidInput, match=message):
        call(batch)
    np.testing.assert_array_equal(batch.configuration, before)


def test_rows_are_of_one_structure():
    arm = rd.load("puma560")
    with pytest.raises(rd.InvalidInput, match="row 1, delta, is not of the structure"):
        rd.BatchPlant([arm, rd.load("delta")])
    for mechanism, count in (([], None), (arm, None), (arm, 0), ([arm, arm], 3)):
        with pytest.raises(rd.InvalidInput, match="count is"):
            rd.BatchPlant(mechanism, count)


def test_rows_that_are_chosen_are_reset():
    m = rd.load("delta")
    batch = rd.BatchPlant(m, 4)
    batch.step(np.zeros(3), 20)
    moved = batch.configuration[0]
    batch.reset(rows=[True, False, False, True])
    np.testing.assert_array_equal(batch.configuration[[0, 3]], np.tile(m.home, (2, 1)))
    np.testing.assert_array_equal(batch.configuration[[1, 2]], np.tile(moved, (2, 1)))
    batch.reset(rows=[])
    assert not (batch.configuration[1] == m.home).all()
