# SPDX-License-Identifier: Apache-2.0

"""Rates and efforts of handovers from any motion stay within the limits."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.control import ActiveTrajectory, TrajectoryFollower, limited_handover
from robodyn.errors import InfeasibleTrajectory
from robodyn.poses import pose_from_rpy
from robodyn.trajectories import Motion

MS = 1_000_000
REST = np.zeros(6)


@pytest.fixture(scope="module")
def hexapod():
    return rd.load("stewart_symmetric")


@pytest.fixture(scope="module")
def path(hexapod):
    """A slow line that starts some 0.2 m from home."""
    start = hexapod.advance(hexapod.home, [0.15, 0.1, 0.1, 0.0, 0.0, 0.1])
    return rd.plan_line(start, hexapod.home, v_max=0.05, w_max=0.05)


def evaluate(mechanism, active, times, velocity=REST):
    """Return the planned motion of a mechanism that stays at home, at times [ns]."""
    rows = []
    for time in times:
        pace, path = active.at(time, mechanism.home, velocity)
        rows.append(pace.motion(path))
    return Motion(*(np.array(values) for values in zip(*rows, strict=True)))


def assert_within_limits(mechanism, motion):
    rates = np.abs(mechanism.joint_velocities(*motion[:2]))
    assert (rates <= mechanism.velocity_limits * (1.0 + 1e-3)).all()
    efforts = np.abs(mechanism.inverse_dynamics(*motion))
    assert (efforts <= mechanism.effort_limits * (1.0 + 1e-3)).all()


def default_breaks_a_limit(mechanism, old, path):
    motion = rd.trajectories.Handover(mechanism, old, path, 0.5).sample(np.linspace(0, 0.5, 500))
    rates = np.abs(mechanism.joint_velocities(*motion[:2]))
    return bool((rates > mechanism.velocity_limits).any())


@pytest.mark.slow
@pytest.mark.parametrize("hold", [False, True])
@pytest.mark.parametrize("start", [None, 500 * MS])
def test_the_first_trajectory_starts_from_where_the_mechanism_is(hexapod, path, start, hold):
    old = Motion(hexapod.home, REST, REST)
    assert default_breaks_a_limit(hexapod, old, path)
    active = ActiveTrajectory(hexapod, 0.5, 2.0, hold)
    if hold:
        evaluate(hexapod, active, [0])
    active.follow(path, start)
    times = range(10 * MS, 6000 * MS, 2 * MS)
    motion = evaluate(hexapod, active, times)
    np.testing.assert_allclose(motion.configuration[0], hexapod.home, rtol=0, atol=1e-12)
    assert_within_limits(hexapod, motion)
    # position is the integral of velocity: no jump
    step = hexapod.difference(motion.configuration[:-1], motion.configuration[1:])
    middle = 0.5 * (motion.velocity[:-1] + motion.velocity[1:])
    np.testing.assert_allclose(step / 2e-3, middle, rtol=0, atol=1e-3)
    since = (times[-1] - (10 * MS if start is None else start)) * 1e-9
    np.testing.assert_array_equal(motion.configuration[-1], path.sample(since).configuration)


def test_where_the_mechanism_is_on_it_the_trajectory_is_followed_as_it_is(hexapod):
    path = rd.plan_line(hexapod.home, path_goal(hexapod), v_max=0.05, w_max=0.05)
    active = ActiveTrajectory(hexapod, 0.5, 2.0, False)
    active.follow(path)
    near = hexapod.advance(hexapod.home, np.full(6, 1e-5))
    _, followed = active.at(0, near, REST)
    assert followed is path


def path_goal(hexapod):
    return hexapod.advance(hexapod.home, [0.05, 0.0, 0.05, 0.0, 0.0, 0.0])


@pytest.mark.slow
def test_a_replacement_takes_as_long_as_the_limits_ask_for(hexapod, path):
    active = ActiveTrajectory(hexapod, 0.5, 2.0, False)
    rest = rd.plan_line(hexapod.home, hexapod.home, 1.0)
    active.follow(rest)
    evaluate(hexapod, active, [0, 100 * MS])
    active.follow(path)
    assert_within_limits(hexapod, evaluate(hexapod, active, range(110 * MS, 5000 * MS, 2 * MS)))


def test_impossible_handover_is_refused_and_the_hold_continues(hexapod, path):
    follower = TrajectoryFollower(hexapod)
    follower.follow(path)
    racing = np.array([0.0, 0.0, 900.0, 0.0, 0.0, 0.0])
    command = follower.command(0, hexapod.home, racing)
    for text in ("trajectory refused", "leg", "reaches", "m/s, its limit is"):
        assert text in command.problem
    assert isinstance(follower.refused, InfeasibleTrajectory)
    # the next one finds the mechanism at rest
    command = follower.command(5 * MS, hexapod.home, REST)
    assert not command.problem
    held = hexapod.inverse_dynamics(hexapod.home, REST, REST)
    np.testing.assert_allclose(command.effort, held, rtol=1e-9)
    follower.follow(path)
    assert not follower.command(10 * MS, hexapod.home, REST).problem


def test_a_refused_replacement_leaves_what_was_followed(hexapod, path, monkeypatch):
    # nothing faster than a crawl, as if this were another machine
    monkeypatch.setattr("robodyn.control.limited_motions.LONGEST", 0.6)
    active = ActiveTrajectory(hexapod, 0.5, 2.0, False)
    first = rd.plan_line(hexapod.home, path_goal(hexapod), 4.0)
    active.follow(first)
    evaluate(hexapod, active, [0, 1000 * MS])
    active.follow(path)
    with pytest.raises(InfeasibleTrajectory, match=r"leg\d_actuator reaches .* its limit is"):
        active.at(1010 * MS, hexapod.home, REST)
    motion = evaluate(hexapod, active, [1010 * MS, 4500 * MS])
    np.testing.assert_array_equal(
        motion.configuration, first.sample(np.array([1.01, 4.5])).configuration
    )


def test_without_limits_the_handover_takes_the_time_it_was_given():
    arm = rd.load("puma560")
    free = Motion(arm.home, REST, REST)
    new = rd.plan_joints(arm.home + 0.01, arm.home + 0.05, 2.0)
    assert limited_handover(arm, free, new, 0.5).blend == 0.5


def test_handover_is_not_refused_for_demands_of_the_new_motion_itself(dasgupta):
    """A path beyond the limits is the planner's responsibility."""
    start = pose_from_rpy([0.1, 0.0, 0.5], [0.0, 0.0, 0.0])
    goal = pose_from_rpy([0.5, 0.0, 0.7], [0.0, 0.0, 0.3])
    path = rd.plan_line(start, goal, 0.02)
    rates = np.abs(dasgupta.joint_velocities(*path.sample(0.01)[:2]))
    assert (rates > dasgupta.velocity_limits).any()
    old = path.sample(0.005)
    assert limited_handover(dasgupta, old, path, 0.5, start=0.005).blend == 0.5
