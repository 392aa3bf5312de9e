# SPDX-License-Identifier: Apache-2.0

"""Streams of single points: delay of one period, smoothness, a stop within limits at their end."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.control import TrajectoryFollower
from robodyn.motion_base.machine import PointSource, PositionCommander
from robodyn.trajectories import Motion, PointStream, SampledTrajectory

MS = 1_000_000
TICK = 2 * MS


@pytest.fixture(scope="module")
def platform():
    return rd.load("stewart_symmetric")


@pytest.fixture(scope="module")
def delta():
    return rd.load("delta")


def point(m, configuration, after=0.0):
    """A trajectory of one point, without velocities, as MoveIt Servo may send it."""
    rest = np.zeros((1, m.coordinates.velocity_size))
    return SampledTrajectory(m, [after], Motion(np.array(configuration)[None], rest, rest))


def swing(m, seconds, rate):
    """Configurations (K, nq) of a swing about home, and the velocity (nv,) of a steady motion."""
    speed = 0.2 * np.cos(np.arange(m.coordinates.velocity_size))
    return m.advance(np.tile(m.home, (len(seconds), 1)), np.multiply.outer(rate(seconds), speed))


def followed(m, follower, rate, period, until, end):
    """Desired motions (K) at the ticks, of a stream that ends at `until` [ns]."""
    times, rest = range(0, end, TICK), np.zeros(m.coordinates.velocity_size)
    sends = set(range(0, until, period))
    found, here = [], m.home
    for t in times:
        follower.command(t, here, rest)  # the mechanism is at its target
        found.append(follower.desired)
        here = follower.desired.configuration
        if t in sends:
            at = swing(m, np.array([1e-9 * t]), rate)[0]
            continues = follower.stream(point(m, at, 1e-9 * period))
            assert continues == (t > 0)
    return 1e-9 * np.array(times), Motion(*map(np.array, zip(*found, strict=True)))


@pytest.mark.parametrize("period", [10 * MS, 50 * MS])
@pytest.mark.parametrize("name", ["puma", "delta", "platform"])
def test_a_stream_is_followed_one_period_later(name, period, request):
    m = request.getfixturevalue(name)
    follower = TrajectoryFollower(m, "feedforward", hold_when_idle=True)
    times, motion = followed(m, follower, lambda t: t, period, 800 * MS, 800 * MS)
    late = times > 0.5
    expected = swing(m, times[late] - 1e-9 * period, lambda t: t)
    apart = m.difference(expected, motion.configuration[late])
    # steady: the delay is one period, to a thousandth of it
    speed = 0.2 * np.cos(np.arange(m.coordinates.velocity_size))
    np.testing.assert_allclose(apart, 0.0, atol=1e-3 * 1e-9 * period * np.abs(speed).max())


@pytest.mark.parametrize("name", ["puma", "delta"])
def test_a_stream_that_stops_comes_to_rest_without_a_jump(name, request):
    m = request.getfixturevalue(name)
    follower = TrajectoryFollower(m, "feedforward", hold_when_idle=True)
    times, motion = followed(m, follower, np.sin, 20 * MS, 600 * MS, 1400 * MS)
    step = m.difference(motion.configuration[:-1], motion.configuration[1:]) / 2e-3
    middle = 0.5 * (motion.velocity[:-1] + motion.velocity[1:])
    np.testing.assert_allclose(step, middle, atol=1e-2)
    assert np.abs(motion.velocity[times < 0.6][-1]).max() > 0.1
    assert not motion.velocity[-1].any()
    moving = np.linalg.norm(motion.velocity[times > 0.66], axis=1)
    assert (np.diff(moving) < 1e-9).all()  # it never speeds up again
    assert follower.is_holding
    assert follower.warning == ""


def test_points_far_apart_are_goals_and_so_are_trajectories(puma):
    points = PointStream(puma)
    assert points.take(point(puma, puma.home), 0) is None
    assert points.take(point(puma, puma.home), 500 * MS) is None
    assert not points.take(point(puma, puma.home), 520 * MS).moves
    rest = np.zeros((2, 6))
    several = SampledTrajectory(puma, [0.0, 1.0], Motion(np.tile(puma.home, (2, 1)), rest, rest))
    assert points.take(several, 540 * MS) is None
    assert points.take(point(puma, puma.home), 550 * MS) is None


def test_a_stream_beyond_the_limits_is_followed_within_them(platform):
    """Legs of 0.6 m/s, and points of a heave of 0.9 m/s for a tenth of a second."""
    m = platform
    follower, points = TrajectoryFollower(m, "feedforward", hold_when_idle=True), []
    here, rest = m.home, np.zeros(6)
    for t in range(0, 600 * MS, TICK):
        follower.command(t, here, rest)
        here, velocity, _ = follower.desired
        points.append(m.joint_velocities(here, velocity))
        if t % (20 * MS) == 0:
            at = m.home.copy()
            at[2] += 0.9 * min(max(1e-9 * t - 0.1, 0.0), 0.1)
            follower.stream(point(m, at))
    assert (np.abs(points) <= m.velocity_limits * (1 + 1e-6)).all()
    assert here[2] - m.home[2] == pytest.approx(0.09, abs=1e-3)


def test_drives_of_positions_follow_a_stream_within_limits(platform):
    m = platform
    commander, points = PositionCommander(m, 2e-3), PointStream(m)
    period, found, times = 20 * MS, [], range(0, 1400 * MS, TICK)
    for t in times:
        if t < 700 * MS and t % period == 0:
            at = swing(m, np.array([1e-9 * t]), np.sin)[0]
            streamed = points.take(point(m, at), t)
            if streamed is not None:
                commander.motion_source = PointSource(streamed, t)
        found.append(commander.step(t))
    positions, rates = (np.array([each[k] for each in found]) for k in (0, 1))
    before = slice(round(0.4 / 2e-3), round(0.7 / 2e-3))
    seconds = 1e-9 * np.array(times)[before] - 0.02
    expected = m.joint_positions(swing(m, seconds, np.sin))
    # a period of 20 ms at 0.2 m/s is 4 mm
    assert np.abs(positions[before] - expected).max() < 5e-4
    assert (np.abs(rates) <= commander.limits.rates + 1e-9).all()
    assert not rates[-1].any()
    assert commander.set_points.is_at_rest
