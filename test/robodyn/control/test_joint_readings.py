# SPDX-License-Identifier: Apache-2.0

"""Joint readings in parts and without velocities, stamps without time, rival publishers."""

import numpy as np
import pytest

from robodyn.control import (
    SELECTION_COUNT,
    JointReadings,
    PublisherVote,
    StateStamps,
    foreign_names,
)
from robodyn.errors import InvalidInput

MS = 1_000_000
NAMES = ("a", "b")


def array(*values):
    return np.array(values, dtype=float)


def test_message_becomes_one_reading_in_the_mechanisms_order():
    readings = JointReadings(NAMES)
    reading = readings.take(5, ["x", "b", "a"], array(9, 2, 1), array(8, 4, 3))
    assert reading.time == 5
    np.testing.assert_array_equal(reading.positions, [1.0, 2.0])
    np.testing.assert_array_equal(reading.velocities, [3.0, 4.0])
    assert not readings.differentiated


@pytest.mark.parametrize("velocity", [array(), array(np.nan, np.nan), array(1.0)])
def test_missing_velocities_are_differences(velocity):
    readings = JointReadings(NAMES, cutoff=200.0)
    rates = []
    for k in range(200):
        t = 5e-3 * k
        places = array(np.sin(2.0 * t), 0.5 * t)
        reading = readings.take(k * 5 * MS, NAMES, places, velocity)
        assert (reading is None) == (k == 0)
        rates.append(None if reading is None else reading.velocities)
    # a first-order lag of 1 / cutoff, and half a period of the difference
    late = 1.0 / 200.0 + 2.5e-3
    t = 5e-3 * 199 - late
    np.testing.assert_allclose(rates[-1], [2.0 * np.cos(2.0 * t), 0.5], atol=0.01)
    assert readings.differentiated == NAMES


def test_only_the_velocities_that_are_missing_are_differences():
    readings = JointReadings(NAMES)
    for k in range(3):
        reading = readings.take(k * 5 * MS, NAMES, array(0.0, 0.01 * k), array(7.0, np.nan))
    assert reading.velocities[0] == 7.0
    assert readings.differentiated == ("b",)


def test_a_continuous_joint_that_wraps_has_no_leap_in_its_rate():
    readings = JointReadings(["a"], [True])
    for k in range(60):
        angle = 3.0 + 0.01 * k
        wrapped = array((angle + np.pi) % (2.0 * np.pi) - np.pi)
        reading = readings.take(k * 5 * MS, ["a"], wrapped, array())
    assert reading.velocities[0] == pytest.approx(2.0, abs=1e-9)


def test_without_differentiation_they_are_refused_by_name():
    readings = JointReadings(NAMES, differentiate=False)
    with pytest.raises(InvalidInput, match="joint b"):
        readings.take(0, NAMES, array(1, 2), array(3, np.nan))


@pytest.mark.parametrize(
    ("position", "velocity"),
    [(array(1, np.nan), array(0, 0)), (array(1), array(0, 0)), (array(1, 2), array(0, np.inf))],
)
def test_numbers_that_are_none_are_refused(position, velocity):
    with pytest.raises(InvalidInput):
        JointReadings(NAMES).take(0, NAMES, position, velocity)


def test_parts_are_merged_once_each():
    readings = JointReadings(NAMES)
    found = []
    for k in range(5):
        found.append(readings.take(k * 5 * MS, ["a"], array(k), array(10 + k)))
        found.append(readings.take(k * 5 * MS + MS, ["b"], array(20 + k), array(30 + k)))
    whole = [reading for reading in found if reading is not None]
    assert [reading.time for reading in whole] == [k * 5 * MS + MS for k in range(5)]
    np.testing.assert_array_equal(whole[3].positions, [3, 23])
    np.testing.assert_array_equal(whole[3].velocities, [13, 33])
    assert readings.is_merged


def test_parts_that_are_too_old_are_refused_by_name():
    readings = JointReadings(NAMES, max_age=0.05)
    readings.take(0, ["a"], array(1), array(0))
    with pytest.raises(InvalidInput, match="joint a"):
        readings.take(60 * MS, ["b"], array(2), array(0))
    readings.take(70 * MS, ["a"], array(1), array(0))
    assert readings.take(75 * MS, ["b"], array(2), array(0)) is not None


def test_joints_that_never_came_and_such_that_cease_are_named():
    readings = JointReadings(NAMES)
    readings.take(0, ["a"], array(1), array(0))
    assert readings.missing == ("b",)
    readings.take(MS, ["b"], array(1), array(0))
    assert not readings.missing
    assert not readings.pending
    readings.take(2 * MS, ["a"], array(1), array(0))
    assert readings.pending == ("b",)


@pytest.mark.parametrize(
    ("given", "prefix"), [(["left_a", "left_b"], "left_"), (["robot/a"], "robot/")]
)
def test_a_prefix_is_named(given, prefix):
    text = foreign_names(given, NAMES)
    assert repr(prefix) in text
    assert given[0] in text
    assert "'arm_'" in foreign_names(["a"], ["arm_a"])
    assert "z" in foreign_names(["z"], NAMES)


def times_of(stamps, period=5 * MS, begin=10**18):
    check = StateStamps()
    times = [
        check.time_of(stamp, begin + k * period, begin + k * period)
        for k, stamp in enumerate(stamps)
    ]
    return np.array(times), check.problem


@pytest.mark.parametrize(
    "stamps",
    [
        [0] * 50,
        [100_000_000_000] * 50,
        [(7 + k // 40) * 10**9 for k in range(50)],
        [12_345_678_901] * 50,
    ],
)
def test_stamps_that_tell_no_time_give_way_to_the_time_of_receipt(stamps):
    times, problem = times_of(stamps)
    np.testing.assert_array_equal(np.diff(times[-30:]), 5 * MS)
    assert "stamps" in problem


def test_good_stamps_are_kept():
    stamps = [k * 5 * MS for k in range(2000)]
    times, problem = times_of(stamps)
    assert times.tolist() == stamps
    assert not problem


@pytest.mark.parametrize("stamp", [0, 5 * MS])
def test_a_state_that_a_lockstep_simulation_repeats_keeps_its_stamp(stamp):
    times, problem = times_of([stamp] * 100, period=200 * MS)
    assert set(times.tolist()) == {stamp}
    assert not problem


class Arm:
    """One that moves, and rivals that report places of their own."""

    def __init__(self, publishers=2):
        self.vote = PublisherVote(lambda start, goal: goal - start, lambda: publishers)

    def read(self, k, place, rate=0.0):
        rates = np.full(2, rate)
        return self.vote.accepts(k * 5 * MS, 5e-3 * k, np.full(2, place), rates)


def test_a_stale_publisher_is_outvoted():
    arm = Arm()
    accepted, stale = [], []
    for k in range(400):
        accepted.append(arm.read(k, 0.5 + 0.002 * k, 0.4))
        if k % 20 == 7:
            stale.append(arm.read(k, 0.0))
    assert sum(accepted) >= 395
    assert not any(stale)
    assert arm.vote.conflict
    assert arm.vote.refused >= len(stale)


def test_a_stale_publisher_that_was_received_first_is_outvoted():
    arm = Arm()
    arm.read(0, 0.0)
    accepted = []
    for k in range(1, 200):
        accepted.append(arm.read(k, 0.5))
        if k % 20 == 0:
            arm.read(k, 0.0)
    assert all(accepted[50:])
    assert arm.vote.switched >= 1


def test_of_two_publishers_that_were_always_there_neither_is_believed():
    arm = Arm()
    accepted = [arm.read(k, 0.5 * (k % 2)) for k in range(500)]
    assert not any(accepted[10:])
    assert arm.vote.conflict


def test_established_publisher_wins_against_a_rival_of_the_same_rate():
    arm = Arm()
    for k in range(SELECTION_COUNT + 10):
        arm.read(k, 0.5)
    for k in range(SELECTION_COUNT + 10, 2 * SELECTION_COUNT):
        assert arm.read(k, 0.5)
        assert not arm.read(k, 1.5)


def test_a_dead_publisher_does_not_leave_its_place_to_a_stale_one():
    arm = Arm()
    for k in range(300):
        arm.read(k, 0.5)
        if k % 20 == 0:
            arm.read(k, 0.0)
    assert not any(arm.read(k, 0.0) for k in range(300, 3000, 20))


def test_the_only_publisher_may_jump():
    arm = Arm(publishers=1)
    places = np.random.default_rng(3).uniform(-3, 3, 50)
    assert all(arm.read(k, place) for k, place in enumerate(places))
    assert not arm.vote.conflict


def test_a_jump_beside_a_publisher_of_other_joints_is_accepted_soon():
    arm = Arm()
    for k in range(50):
        assert arm.read(k, 0.5)
    accepted = [arm.read(k, 2.0) for k in range(50, 60)]
    assert all(accepted[3:])
    assert not arm.vote.conflict
