# SPDX-License-Identifier: Apache-2.0

"""Path time: real to the last bit, or slower, with speed and acceleration its true derivatives."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robodyn as rd
from robodyn.control import PathClock, TrajectoryFollower
from robodyn.errors import InvalidInput

MS = 1_000_000


def test_at_full_speed_it_is_real_time_to_the_last_bit():
    clock = PathClock(2.0)
    clock.begin(7)
    for time in (7, 8, 10**9 + 3, 10**18 + 1, 12):
        assert clock.at(time) == ((time - 7) * 1e-9, 1.0, 0.0)


def test_path_clock_slows_down_at_its_rate_and_comes_back():
    clock = PathClock(2.0)
    clock.begin(0)
    clock.target = 0.5
    assert clock.at(0) == (0.0, 0.5, 0.0)  # from rest there is nothing to slow down
    clock = PathClock(2.0)
    clock.begin(0)
    clock.at(0)
    clock.target = 0.5
    assert clock.at(1000 * MS) == (1.0, 1.0, -2.0)
    path, speed, change = clock.at(1100 * MS)
    assert (path, speed, change) == (pytest.approx(1.0 + 0.09), pytest.approx(0.8), -2.0)
    # 0.15 s more to reach 0.5, then 0.85 s at it
    path, speed, change = clock.at(2100 * MS)
    assert (speed, change) == (0.5, 0.0)
    assert path == pytest.approx(1.09 + 0.15 * 0.65 + 0.85 * 0.5)
    clock.target = 1.0
    clock.at(2100 * MS)
    for late in (0.0, 1.0):  # real time again, from where it is then
        expected = path + 0.25 * 0.75 + 6.75 + late
        assert clock.at(round((9.1 + late) * 1000) * MS) == (pytest.approx(expected), 1.0, 0.0)


@pytest.mark.slow
@given(
    steps=st.lists(
        st.tuples(st.integers(1, 50 * MS), st.floats(0.0, 1.0)), min_size=1, max_size=40
    ),
    rate=st.sampled_from([0.1, 2.0, 100.0]),
)
@settings(max_examples=500, deadline=None)
def test_path_time_is_the_integral_of_a_bounded_speed(steps, rate):
    clock, time = PathClock(rate), 0
    clock.begin(0)
    before = clock.at(0)
    for step, target in steps:
        clock.target = target
        time += step
        dt = step * 1e-9
        pace = clock.at(time)
        assert 0.0 <= pace.speed <= 1.0
        assert abs(pace.speed - before.speed) <= rate * dt * (1 + 1e-9) + 1e-15
        slowest, fastest = sorted((pace.speed, before.speed))
        assert slowest * dt - 1e-12 <= pace.path - before.path <= fastest * dt + 1e-12
        assert pace.change == 0.0 if pace.speed == target else abs(pace.change) == rate
        assert (target - pace.speed) * pace.change >= 0.0
        before = pace


def test_motion_at_a_pace_is_the_derivative_of_the_motion_in_time(dasgupta):
    path, clock, h = rd.paper_path("I"), PathClock(0.5), 1e-3
    clock.begin(0)
    clock.at(0)
    clock.at(2900 * MS)
    clock.target = 0.2
    clock.at(2900 * MS)
    before, here, after = (clock.at(t * MS).motion(path) for t in (2999, 3000, 3001))
    rate = dasgupta.difference(before.configuration, after.configuration) / (2 * h)
    np.testing.assert_allclose(here.velocity, rate, atol=1e-8)
    np.testing.assert_allclose(
        here.acceleration, (after.velocity - before.velocity) / (2 * h), atol=1e-8
    )
    assert np.abs(here.acceleration).max() > 0.03  # it slows down where the path has none


def test_a_late_state_does_not_move_the_path():
    clock = PathClock(2.0)
    clock.begin(0)
    clock.target = 0.5
    clock.at(0)
    now = clock.at(1000 * MS)
    assert clock.at(990 * MS).path == pytest.approx(now.path - 0.005)
    assert clock.at(1000 * MS) == now


def test_a_clock_set_back_goes_on_from_there():
    clock = PathClock(2.0)
    clock.begin(0)
    clock.target = 0.5
    clock.at(0)
    clock.at(8000 * MS)
    assert clock.at(6000 * MS).path == pytest.approx(3.0)
    assert clock.at(6100 * MS).path == pytest.approx(3.05)


def test_after_a_clock_was_set_back_the_speed_may_change_again():
    clock = PathClock(2.0)
    clock.begin(0)
    clock.target = 0.5
    clock.at(0)
    clock.at(8000 * MS)
    clock.at(6000 * MS)
    clock.target = 1.0
    # it is taken up at the next state, and reached 0.25 s later
    assert clock.at(6100 * MS) == (pytest.approx(3.05), 0.5, 2.0)
    assert clock.at(6350 * MS) == (pytest.approx(3.05 + 0.25 * 0.75), 1.0, 0.0)
    assert clock.at(7350 * MS).path == pytest.approx(4.05 + 0.25 * 0.75)


def test_another_path_begun_in_the_past_goes_on_at_the_present_speed():
    clock = PathClock(2.0)
    clock.begin(0)
    clock.target = 0.5
    clock.at(0)
    clock.at(4000 * MS)
    assert clock.continue_on(4000 * MS, 1000 * MS) == pytest.approx(3.0)
    assert clock.at(4000 * MS) == (pytest.approx(3.0), 0.5, 0.0)
    assert clock.at(6000 * MS).path == pytest.approx(4.0)
    # it is under way: from now on the speed changes at its rate only
    clock.continue_on(6000 * MS, 6000 * MS)
    clock.target = 1.0
    assert clock.at(6000 * MS) == (0.0, 0.5, 2.0)


@pytest.mark.parametrize("scale", [-0.1, 1.1, math.nan, math.inf, "half", None])
def test_a_scale_is_from_zero_to_one(scale):
    follower = TrajectoryFollower(rd.load("puma560"))
    with pytest.raises(InvalidInput, match="scale"):
        follower.scale = scale
    assert follower.scale == 1.0


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan])
def test_a_rate_is_positive(rate):
    with pytest.raises(InvalidInput, match="scale_rate"):
        PathClock(rate)
