# SPDX-License-Identifier: Apache-2.0

"""Near a singularity: the way in is slowed down and stopped, the way out is free."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.control import SpeedScale, TrajectoryFollower, threshold_crossings
from robodyn.errors import InvalidInput

PERIOD = 5_000_000
STILL = np.zeros(6)


@pytest.fixture(scope="module")
def path():
    return rd.paper_path("III")


def fly(mechanism, path, scale, seconds, *, predicts=True, begin=0.0):
    """The simulated flight under the scale, which takes effect a period late; its poses."""
    follower = TrajectoryFollower(mechanism, predicts=predicts)
    follower.follow(path)
    start = path.sample(begin)
    plant = rd.Plant(mechanism, start.configuration, start.velocity, dt=1e-3)
    poses = []
    for k in range(round(seconds * 1e9) // PERIOD):
        poses.append(plant.configuration.copy())
        command = follower.command(k * PERIOD, plant.configuration, plant.velocity)
        follower.scale = scale.at(k * PERIOD, plant.configuration, plant.velocity)
        plant.hold(command.effort, 5, STILL)
    return np.array(poses), follower, plant


def off(mechanism, path, pose):
    """Distance from the path, and the time on it that is nearest."""
    times = np.linspace(0.0, path.duration, 6001)
    apart = np.linalg.norm(mechanism.difference(path.sample(times).configuration, pose), axis=1)
    return apart.min(), times[apart.argmin()]


@pytest.mark.slow
def test_path_iii_stands_before_the_singularity_and_on_the_path(dasgupta, path):
    """It is singular at 3.6705 s and above 1200 from 3.1901 s on."""
    stop = threshold_crossings(dasgupta, path, 1200.0)[0].time
    scale = SpeedScale(dasgupta, 1100.0, 1200.0)
    scale.follow(path)
    poses, follower, plant = fly(dasgupta, path, scale, 6.0)
    numbers = dasgupta.condition_number(poses)
    assert 1150.0 < numbers.max() < 1300.0
    assert np.abs(plant.velocity).max() < 1e-3
    assert follower.scale < 0.02
    apart, where = off(dasgupta, path, poses[-1])
    assert apart < 3e-4
    assert abs(where - stop) < 0.03
    # where forces have little hold of it, braking leads it a millimeter astray for a while
    assert max(off(dasgupta, path, pose)[0] for pose in poses[::40]) < 3e-3


@pytest.mark.slow
def test_efforts_that_hold_for_a_period_push_it_off_where_nobody_predicts(dasgupta, path):
    """The reason for `predicts`: the same flight leaves the path while it stands."""
    scale = SpeedScale(dasgupta, 1100.0, 1200.0)
    scale.follow(path)
    try:
        poses, _, _ = fly(dasgupta, path, scale, 8.0, predicts=False)
        apart, _ = off(dasgupta, path, poses[-1])
    except rd.SimulationFailed:
        apart = np.inf  # off beyond all bounds
    assert apart > 1e-3


def test_at_rest_the_plan_decides(dasgupta, path):
    """The same state at rest: a plan toward the singularity is stopped, one away from it is not."""
    here = path.sample(3.3).configuration
    away = rd.plan_line(here, path.sample(1.0).configuration, duration=4.0)
    scale = SpeedScale(dasgupta, 300.0, 1200.0)
    scale.follow(path, start=0)
    assert scale.at(3_300_000_000, here, STILL) == 0.0
    assert scale.at(3_305_000_000, here, 1e-4 * np.ones(6)) == 0.0
    scale.follow(away)
    assert scale.at(3_310_000_000, here, STILL) == 1.0
    # for any measurement of its rest
    drift = 1e-6 * path.sample(3.3).velocity
    assert scale.at(3_315_000_000, here, drift) == 1.0


def test_the_way_out_is_free_all_along(dasgupta, path):
    """Also just before the condition number falls to where it would have to stand on the way in."""
    out = rd.plan_line(path.sample(3.3).configuration, path.sample(1.0).configuration, duration=4.0)
    crossing = threshold_crossings(dasgupta, out, 1200.0)[0]
    assert not crossing.upward
    scale = SpeedScale(dasgupta, 300.0, 1200.0)
    scale.follow(out, start=0)
    for t in np.sort([*np.linspace(0.0, 4.0, 41), *(crossing.time - np.array([0.1, 0.01, 1e-3]))]):
        state = out.sample(t)
        found = scale.at(round(t * 1e9), state.configuration, state.velocity)
        assert found == 1.0, t


def test_a_path_that_is_left_decides_no_more(dasgupta, path):
    here = path.sample(3.3).configuration
    scale = SpeedScale(dasgupta, 300.0, 1200.0)
    scale.follow(path, start=0)
    assert scale.at(3_300_000_000, here, STILL) == 0.0
    scale.follow(path, start=3_400_000_000)
    scale.discard_path()
    assert scale.at(3_305_000_000, here, STILL) == 1.0
    assert scale.at(3_500_000_000, here, STILL) == 1.0
    assert scale.at(3_505_000_000, here, path.sample(3.3).velocity) == 0.0


def test_a_path_that_begins_later_does_not_count_before(dasgupta, path):
    here = path.sample(3.3).configuration
    scale = SpeedScale(dasgupta, 300.0, 1200.0)
    scale.follow(rd.plan_line(here, path.sample(1.0).configuration, duration=4.0))
    assert scale.at(0, here, STILL) == 1.0
    scale.follow(rd.plan_line(here, path.sample(3.6).configuration, duration=4.0), start=10**9)
    assert scale.at(5 * 10**8, here, STILL) == 1.0
    assert scale.at(2 * 10**9, here, STILL) == 0.0


def test_speed_scale_slows_down_early_enough_to_stop(dasgupta, path):
    """From full speed, 1 - 1/2 s before the stop; then as a body that is braked evenly."""
    stop = threshold_crossings(dasgupta, path, 1200.0)[0].time
    scale = SpeedScale(dasgupta, 1199.0, 1200.0)
    scale.follow(path, start=0)
    for before, expected in ((0.6, 1.0), (0.5, 1.0), (0.32, 0.8), (0.08, 0.4), (0.02, 0.2)):
        t = stop - before
        state = path.sample(t)
        found = scale.at(round(t * 1e9), state.configuration, state.velocity)
        assert found == pytest.approx(expected, abs=1e-5), before


def test_without_a_path_the_measured_velocity_decides(dasgupta, path):
    here = path.sample(3.0)
    scale = SpeedScale(dasgupta, 300.0, 1200.0)
    assert scale.at(0, here.configuration, here.velocity) < 1.0
    assert scale.at(5_000_000, here.configuration, -here.velocity) == 1.0
    assert scale.at(10_000_000, here.configuration, STILL) == 1.0


def test_limits_may_change_on_the_way(dasgupta, path):
    state = path.sample(3.0)
    scale = SpeedScale(dasgupta, 300.0, 1200.0)
    scale.follow(path, start=0)
    first = scale.at(3 * 10**9, state.configuration, state.velocity)
    scale.set_limits(300.0, 900.0)
    assert scale.at(3 * 10**9, state.configuration, state.velocity) < first
    scale.set_limits(5000.0, 1e6)
    assert scale.at(3 * 10**9, state.configuration, state.velocity) == 1.0
    with pytest.raises(InvalidInput, match="500"):
        scale.set_limits(500.0, 400.0)
    assert (scale.slow_from, scale.stop_at) == (5000.0, 1e6)
