# SPDX-License-Identifier: Apache-2.0

"""Goals of FollowJointTrajectory without an action server: examined, executed, ended.

The mechanism is wherever it was wanted a period before, shifted where a test says so.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from builtin_interfaces.msg import Duration

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.analysis import (
    ABORTED,
    CANCELED,
    REPLACED,
    SUCCEEDED,
    GoalExecution,
    GoalRefused,
    Present,
)
from robodyn.control import GoalCode, TrajectoryFollower, joint_motion
from robodyn.trajectories import Motion, TipJoints
from robodyn_ros import messages
from robodyn_ros.parameters import table

SECOND = 1_000_000_000
PERIOD = 5_000_000
MODELS = ("puma560", "stewart_symmetric", "delta")


def goal_of(names, times, *rows, start=0, **more) -> SimpleNamespace:
    message = messages.joint_trajectory(names, np.array(times), [np.array(r) for r in rows])
    message.header.stamp = messages.to_stamp(start)
    fields = {"path_tolerance": [], "goal_tolerance": [], "goal_time_tolerance": Duration()}
    return SimpleNamespace(trajectory=message, **(fields | more))


def tolerance(name, position=0.0, velocity=0.0):
    return SimpleNamespace(name=name, position=position, velocity=velocity, acceleration=0.0)


class Client:
    def __init__(self) -> None:
        self.reports, self.ends = [], []

    def feedback(self, report) -> None:
        self.reports.append(report)

    def end(self, how, verdict) -> None:
        self.ends.append((how, verdict.code, verdict.text))


class Robot:
    """A mechanism with ideal tracking, under a follower."""

    def __init__(self, mechanism, **settings) -> None:
        self.mechanism = mechanism
        self.follower = TrajectoryFollower(mechanism, hold_when_idle=True, stop_time=0.1)
        given = {name: spec.default for name, spec in table("trajectory_goals").items()} | settings
        self.execution = GoalExecution(self.follower, given)
        self.stamp, self.shift = 0, 0.0
        rest = np.zeros(mechanism.coordinates.velocity_size)
        self.motion = Motion(mechanism.home, rest, rest)
        self.go(1)

    @property
    def names(self):
        return self.mechanism.independent_joints

    @property
    def present(self) -> Present:
        measured = self.motion._replace(acceleration=0.0 * self.motion.velocity)
        return Present(self.stamp, measured, self.follower.desired)

    def joints(self, motion=None):
        return motions.independent_motion(self.mechanism, *(motion or self.motion))

    def send(self, goal) -> Client:
        plan, client = self.execution.examine(goal, self.present), Client()
        self.execution.begin(plan, client, Client.feedback, Client.end)
        return client

    def go(self, periods: int) -> None:
        for _ in range(periods):
            self.stamp += PERIOD
            x, v, _ = self.motion
            if self.shift:
                x = self.mechanism.advance(x, self.shift * np.ones_like(v))
            command = self.follower.command(self.stamp, x, v)
            self.execution.update(self.stamp, x, v, command.problem)
            self.motion = self.follower.desired

    def refusal(self, goal) -> GoalRefused:
        with pytest.raises(GoalRefused) as refused:
            self.execution.examine(goal, self.present)
        return refused.value


@pytest.fixture(scope="module", params=MODELS)
def mechanism(request):
    return rd.load(request.param)


@pytest.fixture(scope="module")
def arm():
    return rd.load("stanford_arm")


def there(robot, fraction=0.1):
    """Joint positions some way off, which the mechanism can take up."""
    velocity = fraction * np.ones(robot.mechanism.coordinates.velocity_size)
    away = robot.mechanism.advance(robot.mechanism.home, 0.3 * velocity)
    return robot.joints(robot.motion._replace(configuration=away))[0]


def trapezoid(distance, rate, acceleration, period):
    """Points at these intervals [s] of a motion with a trapezoid of rates: times and rows (K,)."""
    rise = rate / acceleration
    end = distance / rate + rise
    t = np.minimum(np.arange(np.ceil(end / period) + 1) * period, end)
    left = end - t
    speeding, slowing = t < rise, left < rise
    x = np.select(
        [speeding, slowing],
        [0.5 * acceleration * t**2, distance - 0.5 * acceleration * left**2],
        rate * (t - 0.5 * rise),
    )
    v = np.select([speeding, slowing], [acceleration * t, acceleration * left], rate)
    a = np.select([speeding, slowing], [acceleration, -acceleration], 0.0)
    return t, (x, v, a)


def as_moveit_sends_it(robot, rate):
    """A goal of the first joint at this rate, in points 0.1 s apart, and how long it takes."""
    times, rows = trapezoid(2.0, rate, 3.0, 0.1)
    assert rows[1].max() == rate
    x, v, a = (np.outer(row, np.eye(6)[0]) for row in rows)
    return goal_of(robot.names, times, robot.joints()[0] + x, v, a), times[-1]


def test_points_at_the_limit_of_rates_are_beyond_it_between_them():
    """If the rate stops growing between two points, a quintic through both overshoots."""
    robot = Robot(rd.load("puma560"))
    goal, _ = as_moveit_sends_it(robot, robot.mechanism.velocity_limits[0])
    refused = robot.refusal(goal)
    assert refused.code == GoalCode.INVALID_GOAL
    assert "joint1 reaches" in str(refused)
    assert "rad/s" in str(refused)


def test_five_percent_below_the_limit_of_rates_leave_room_for_that():
    robot = Robot(rd.load("puma560"))
    limit = robot.mechanism.velocity_limits[0]
    goal, duration = as_moveit_sends_it(robot, 0.95 * limit)
    client = robot.send(goal)
    robot.go(round(duration * SECOND / PERIOD) + 5)
    assert [code for _, code, _ in client.ends] == [GoalCode.SUCCESSFUL]
    fastest = max(np.abs(report.desired[1]).max() for report in client.reports)
    assert 0.94 * limit < fastest < limit


@pytest.mark.parametrize("degree", [1, 2, 3], ids=["positions", "velocities", "accelerations"])
def test_every_kind_of_mechanism_gets_there(mechanism, degree):
    """An arm, a closed loop, a platform's legs; with as much as points may have."""
    robot = Robot(mechanism, goal_tolerance=1e-4)
    here, goal = robot.joints()[0], there(robot)
    rows = [[here, goal], np.zeros((2, len(here))), np.zeros((2, len(here)))][:degree]
    client = robot.send(goal_of(robot.names, [0.0, 1.5], *rows))
    robot.go(200)
    assert client.ends == []
    # halfway it is halfway, by symmetry, and moves
    report = min(client.reports, key=lambda r: abs(r.since - 0.75 * SECOND))
    np.testing.assert_allclose(report.desired[0], 0.5 * (here + goal), atol=0.03)
    assert np.abs(report.desired[1]).max() > 0.005
    np.testing.assert_array_equal(report.error.position, report.desired[0] - report.actual[0])
    robot.go(120)
    ((how, code, _),) = client.ends
    assert (how, code) == (SUCCEEDED, GoalCode.SUCCESSFUL)
    np.testing.assert_allclose(robot.joints()[0], goal, atol=1e-4)
    # feedback came every twentieth of a second, from the first state on
    stamps = np.array([r.stamp for r in client.reports])
    assert set(np.diff(stamps)) == {SECOND // 20}
    assert client.reports[0].since == 0


def test_a_platform_in_between_is_where_cubics_of_its_legs_are():
    robot = Robot(rd.load("stewart_symmetric"))
    here, goal = robot.joints()[0], there(robot)
    still = np.zeros((2, 6))
    plan = robot.execution.examine(
        goal_of(robot.names, [0.0, 2.0], [here, goal], still), robot.present
    )
    t = np.array([0.313, 1.0, 1.777])
    s = t / 2.0
    expected = here + (3.0 * s**2 - 2.0 * s**3)[:, None] * (goal - here)
    found = joint_motion(robot.mechanism, plan.trajectory, t)
    np.testing.assert_allclose(found.positions, expected, atol=1e-9)
    rates = (3.0 * s - 3.0 * s**2)[:, None] * (goal - here)
    np.testing.assert_allclose(found.velocities, rates, atol=1e-6)


def test_a_goal_of_one_point_is_reached_from_the_present_position(arm, scrambled):
    """With joints in any order."""
    robot = Robot(arm)
    goal, order = there(robot), scrambled(len(arm.joint_names))
    names = [arm.joint_names[i] for i in order]
    client = robot.send(goal_of(names, [1.0], [goal[order]]))
    robot.go(215)
    assert client.ends == [(SUCCEEDED, GoalCode.SUCCESSFUL, "")]
    np.testing.assert_allclose(robot.joints()[0], goal, atol=1e-6)


def simple(robot, seconds=1.0, **more):
    return goal_of(robot.names, [0.0, seconds], [robot.joints()[0], there(robot)], **more)


def test_the_path_tolerance_ends_it(arm):
    robot = Robot(arm, path_tolerance=0.5)
    client = robot.send(simple(robot, path_tolerance=[tolerance(arm.joint_names[2], 0.01)]))
    robot.go(50)
    assert client.ends == []
    robot.shift = 0.02
    robot.go(1)
    ((how, code, text),) = client.ends
    assert (how, code) == (ABORTED, GoalCode.PATH_TOLERANCE_VIOLATED)
    assert arm.joint_names[2] in text
    # and comes to rest
    robot.shift = 0.0
    robot.go(200)
    before = robot.joints()[0]
    robot.go(20)
    np.testing.assert_allclose(robot.joints()[0], before, atol=1e-9)
    assert not robot.execution.is_busy


def test_a_robot_that_does_not_obey_ends_it_unless_the_goal_allows_it():
    arm = rd.load("puma560")
    robot = Robot(arm)
    client = robot.send(simple(robot))
    robot.go(50)
    robot.shift = 0.09
    robot.go(1)
    assert client.ends == []
    robot.shift = 0.11
    robot.go(1)
    ((how, code, text),) = client.ends
    assert (how, code) == (ABORTED, GoalCode.PATH_TOLERANCE_VIOLATED)
    assert "its path tolerance is 0.1" in text
    # held where it is found, also when that is elsewhere
    robot.shift = 0.0
    robot.go(200)
    moved = arm.advance(robot.motion.configuration, np.full(len(arm.joint_names), 0.3))
    robot.motion = Motion(moved, 0.0 * robot.motion.velocity, 0.0 * robot.motion.velocity)
    robot.go(200)
    np.testing.assert_array_equal(robot.motion.configuration, moved)
    allowing = [tolerance(name, -1.0) for name in arm.joint_names]
    for settings, given in (({"path_tolerance": 0.0}, []), ({}, allowing)):
        robot = Robot(arm, **settings)
        client = robot.send(simple(robot, path_tolerance=given))
        robot.go(50)
        robot.shift = 0.11
        robot.go(1)
        assert client.ends == []
    # a goal's own tolerance is for this goal
    robot.shift = 0.0
    robot.go(200)
    assert client.ends == [(SUCCEEDED, GoalCode.SUCCESSFUL, "")]
    robot.shift = 0.11
    robot.go(1)
    assert "its path tolerance is 0.1" in robot.follower.abandoned


def test_the_goal_tolerance_is_waited_for_as_long_as_is_allowed(arm):
    allowed = {
        "goal_tolerance": [tolerance(arm.joint_names[0], 0.005)],
        "goal_time_tolerance": Duration(sec=0, nanosec=SECOND // 5),
    }
    robot = Robot(arm)
    client = robot.send(simple(robot, **allowed))
    robot.shift = 0.01
    robot.go(230)
    assert client.ends == []
    robot.go(30)
    ((how, code, text),) = client.ends
    assert (how, code) == (ABORTED, GoalCode.GOAL_TOLERANCE_VIOLATED)
    assert arm.joint_names[0] in text
    # without a limit of that joint, or once it is there, it succeeds
    for name, late in ((arm.joint_names[0], -1.0), (arm.joint_names[1], 0.005)):
        robot = Robot(arm, goal_tolerance=0.005 if late < 0.0 else 0.0)
        given = [tolerance(each, -1.0) for each in arm.joint_names] if late < 0.0 else [
            tolerance(name, late)]  # fmt: skip
        client = robot.send(simple(robot, **(allowed | {"goal_tolerance": given})))
        robot.shift = 0.01
        robot.go(205)
        robot.shift = 0.01 if late < 0.0 else 0.0
        robot.go(10)
        assert client.ends == [(SUCCEEDED, GoalCode.SUCCESSFUL, "")]


def test_a_cancelled_goal_is_reported_at_rest_and_held(arm):
    robot = Robot(arm)
    client, other = robot.send(simple(robot)), Client()
    robot.go(100)
    assert not robot.execution.cancel(other)
    assert robot.execution.cancel(client)
    assert robot.execution.cancel(client)
    speed = np.abs(robot.motion.velocity).max()
    assert speed > 0.01
    robot.go(1)
    assert client.ends == []
    while not client.ends:
        robot.go(1)
        assert np.abs(robot.motion.velocity).max() <= speed
    assert client.ends[0][0] == CANCELED
    np.testing.assert_allclose(robot.motion.velocity, 0.0, atol=1e-9)
    held = robot.motion.configuration
    robot.go(50)
    np.testing.assert_array_equal(robot.motion.configuration, held)


def test_a_newer_goal_takes_over_without_a_jump(arm):
    robot = Robot(arm)
    first = robot.send(simple(robot, 1.0))
    robot.go(100)
    before = robot.motion
    home = robot.joints(before._replace(configuration=arm.home))[0]
    second = robot.send(goal_of(robot.names, [1.5], [home]))
    assert first.ends == [(ABORTED, GoalCode.INVALID_GOAL, REPLACED)]
    robot.go(1)
    limit = np.abs(before.velocity) * 1.1 * PERIOD * 1e-9 + 1e-6
    assert (np.abs(robot.motion.configuration - before.configuration) <= limit).all()
    np.testing.assert_allclose(robot.motion.velocity, before.velocity, atol=0.02)
    robot.go(400)
    assert second.ends == [(SUCCEEDED, GoalCode.SUCCESSFUL, "")]
    np.testing.assert_allclose(robot.joints()[0], home, atol=1e-6)


def test_other_events_that_end_a_goal(arm):
    robot = Robot(arm)
    client = robot.send(simple(robot))
    robot.go(20)
    robot.follower.stop()
    robot.go(2)
    assert client.ends[0][:2] == (ABORTED, GoalCode.INVALID_GOAL)
    assert "stopped or replaced" in client.ends[0][2]
    robot.go(200)
    client = robot.send(simple(robot))
    robot.execution.abandon("no joint_states for 0.5 s")
    assert client.ends == [(ABORTED, GoalCode.PATH_TOLERANCE_VIOLATED, "no joint_states for 0.5 s")]
    robot.go(200)
    client = robot.send(simple(robot))
    robot.go(5)
    robot.follower.mode = "gravity_compensation"
    robot.execution.update(robot.stamp, *robot.motion[:2], "")
    assert client.ends[0][:2] == (ABORTED, GoalCode.INVALID_GOAL)
    assert "gravity_compensation" in str(robot.refusal(simple(robot)))


def test_an_invalid_goal_is_refused_with_the_reason(arm):
    robot = Robot(arm)
    robot.stamp = 100 * SECOND
    robot.go(1)
    names, here = list(arm.joint_names), robot.joints()[0]
    n = len(here)
    rest = [here, here]

    def refused(code, *texts, names=names, times=(0.0, 1.0), rows=(rest,), **more):
        found = robot.refusal(goal_of(names, times, *rows, **more))
        assert found.code == code
        for text in texts:
            assert text in str(found)

    refused(
        GoalCode.INVALID_JOINTS,
        "unknown: elbow",
        f"missing: {names[-1]}",
        names=[*names[:-1], "elbow"],
    )
    refused(
        GoalCode.INVALID_JOINTS, "named twice", names=[*names, names[0]], rows=([[*here, 0.0]] * 2,)
    )
    refused(GoalCode.INVALID_GOAL, "no points", times=(), rows=(np.zeros((0, n)),))
    refused(GoalCode.INVALID_GOAL, "increasing", times=(0.0, 0.0))
    refused(GoalCode.INVALID_GOAL, "finite", rows=([here, here * np.nan],))
    refused(GoalCode.INVALID_GOAL, "must be at rest", rows=(rest, np.ones((2, n))))
    refused(GoalCode.INVALID_GOAL, "start_tolerance", rows=([here + 0.06, here],))
    limits = np.where(np.isfinite(arm.position_limits[:, 1]), arm.position_limits[:, 1], 9.0)
    refused(GoalCode.INVALID_GOAL, "its limit is", times=(0.0, 9.0), rows=([here, limits + 0.1],))
    turned = here + 2.5 * np.eye(n)[-1]
    seconds = 2.5 / arm.velocity_limits[-1]
    refused(GoalCode.INVALID_GOAL, "rad/s", names[-1], times=(0.0, seconds), rows=([here, turned],))
    refused(GoalCode.INVALID_GOAL, " N m ", times=(0.0, 0.02), rows=([here, here + 0.5],))
    refused(GoalCode.OLD_HEADER_TIMESTAMP, "ended", start=98 * SECOND)
    more = {"multi_dof_trajectory": SimpleNamespace(points=[None])}
    refused(GoalCode.INVALID_GOAL, "give the joints in trajectory", **more)
    refused(GoalCode.INVALID_GOAL, "leave it empty", component_goal_tolerance=[None])
    refused(GoalCode.INVALID_JOINTS, "'elbow'", path_tolerance=[tolerance("elbow")])
    refused(GoalCode.INVALID_GOAL, "nan", goal_tolerance=[tolerance(names[0], np.nan)])
    empty = goal_of(names, [0.0, 1.0], rest)
    empty.trajectory.points[1].positions = []
    assert robot.refusal(empty).code == GoalCode.INVALID_GOAL
    with pytest.raises(GoalRefused, match="no state"):
        robot.execution.examine(goal_of(names, [1.0], [here]), None)
    # that it is away is no matter where any distance is allowed
    anywhere = Robot(arm, start_tolerance=0.0)
    anywhere.execution.examine(simple(anywhere), anywhere.present)


def test_more_effort_than_there_is_is_refused():
    """Within its limits of rates, but too quick for its actuators."""
    robot = Robot(rd.load("stewart_symmetric"))
    legs = robot.joints()[0]
    weight = robot.mechanism.inverse_dynamics(*robot.motion)
    assert (np.abs(weight) < robot.mechanism.effort_limits).all()
    quick = [legs, legs + 0.01]
    still = np.zeros((2, 6))
    found = robot.refusal(goal_of(robot.names, [0.0, 0.03], quick, still, still))
    assert found.code == GoalCode.INVALID_GOAL
    assert " N after" in str(found)


def test_a_later_start_is_waited_for(arm):
    robot = Robot(arm)
    client = robot.send(simple(robot, start=robot.stamp + SECOND))
    robot.go(190)
    np.testing.assert_allclose(robot.motion.configuration, arm.home, atol=1e-9)
    robot.go(220)
    assert client.ends == [(SUCCEEDED, GoalCode.SUCCESSFUL, "")]


@pytest.mark.parametrize("name", ["delta", "stewart_symmetric"])
def test_a_goal_of_the_tips_joints_is_followed_as_poses(name):
    """As MoveIt plans for the tip of a closed loop."""
    robot = Robot(rd.load(name))
    tip = TipJoints(robot.mechanism)
    here = tip.positions(robot.motion.configuration)
    goal = here + 0.02
    client = robot.send(goal_of(tip.independent_joints, [0.0, 3.0], [here, goal]))
    robot.go(700)
    assert client.ends == [("succeed", 0, "")]
    np.testing.assert_allclose(tip.positions(robot.motion.configuration), goal, atol=1e-6)
    refused = robot.refusal(goal_of(tip.independent_joints, [0.0, 3.0], [here + 9.0, here]))
    assert refused.code
    later = robot.send(goal_of(tip.independent_joints, [3.0], [here]))
    robot.go(700)
    assert later.ends == [("succeed", 0, "")]
