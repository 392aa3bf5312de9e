# SPDX-License-Identifier: Apache-2.0

"""trajectory_planner with `profile: time_optimal`: goals, goals while moving, canceling."""

from __future__ import annotations

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from local_graph import LocalGraph
from message_makers import odometry
from nav_msgs.msg import Odometry
from ros_harness import LATCHED
from std_srvs.srv import Trigger
from trajectory_msgs.msg import MultiDOFJointTrajectory

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.trajectories import Motion, SampledTrajectory, point_times
from robodyn_ros import messages

pytestmark = pytest.mark.ros
MODEL = "stewart_symmetric"
FRAMES = ("base_link", "platform_link")
NEAR = rd.pose_from_rpy([0.05, 0.0, 1.0], [0.0, 0.05, 0.0])
BACK = rd.pose_from_rpy([-0.05, 0.03, 1.0], [0.05, 0.0, 0.0])
LEAD = 0.02
JERK = 20.0


@pytest.fixture(scope="module")
def platform():
    return rd.load(MODEL)


@pytest.fixture
def graph():
    given = {"model": MODEL, "profile": "time_optimal", "reserve": 0.05, "lead": LEAD}
    with LocalGraph({"trajectory_planner": given}) as made:
        yield made


@pytest.fixture
def smooth():
    given = {"model": MODEL, "profile": "time_optimal", "reserve": 0.05, "jerk_limit": JERK}
    with LocalGraph({"trajectory_planner": given}) as made:
        yield made


class Peers:
    """Peers of a planner."""

    def __init__(self, graph: LocalGraph) -> None:
        self.graph = graph
        self.states = graph.publisher(Odometry, "platform_state")
        self.goals = graph.publisher(PoseStamped, "goal_pose")
        self.received = graph.listen(MultiDOFJointTrajectory, "platform_trajectory", LATCHED)
        self.diagnostics = graph.listen(DiagnosticArray, "/diagnostics")

    def be_at(self, pose, twist, stamp=0):
        self.states.publish(odometry(stamp, FRAMES, pose, twist))
        self.graph.spin(0.05)

    def go(self, pose):
        message = PoseStamped()
        message.header.frame_id = "base_link"
        messages.fill_pose(message.pose, pose)
        self.goals.publish(message)

    def planned(self, platform, number):
        message = self.graph.until(lambda: self.received[number:], "a trajectory", 120.0)[0]
        times = point_times(message.points)
        motion = Motion(
            np.array([messages.pose_array(point.transforms[0]) for point in message.points]),
            np.array([messages.twist_array(point.velocities[0]) for point in message.points]),
            np.array([messages.twist_array(point.accelerations[0]) for point in message.points]),
        )
        start = messages.to_nanoseconds(message.header.stamp)
        return SampledTrajectory(platform, times, motion), start


def test_a_limit_of_jerk_is_kept(smooth, platform):
    peers = Peers(smooth)
    home = platform.home
    peers.be_at(home, np.zeros(6))
    peers.go(NEAR)
    plan, _ = peers.planned(platform, 0)
    straight = rd.plan_line(home, NEAR, duration=1.0)
    limited = rd.time_optimal(platform, straight, reserve=0.05, jerk_limits=JERK)
    assert plan.duration == pytest.approx(limited.duration, rel=1e-6)
    accelerations = motions.driven_motion(platform, *plan.knots).accelerations
    jerk = np.diff(accelerations, axis=0) / np.diff(plan.times)[:, None]
    assert np.abs(jerk).max() == pytest.approx(JERK, rel=1e-2)
    # times are whole nanoseconds
    np.testing.assert_allclose(accelerations[[0, -1]], 0.0, atol=1e-6)


def test_goals_are_reached_as_fast_as_limits_allow_and_replaced_without_a_stop(graph, platform):
    peers = Peers(graph)
    home = platform.home
    peers.be_at(home, np.zeros(6))
    peers.go(NEAR)
    plan, start = peers.planned(platform, 0)
    assert start == 0
    straight = rd.plan_line(home, NEAR, duration=1.0)
    assert plan.duration == pytest.approx(
        rd.time_optimal(platform, straight, reserve=0.05).duration, rel=1e-6
    )
    assert rd.check_limits(platform, plan) is None
    np.testing.assert_allclose(platform.difference(plan.sample(1e3)[0], NEAR), 0.0, atol=1e-9)

    # while it moves, another goal: from where it will be, as fast as it will be
    now = 0.3 * plan.duration
    state = plan.sample(now)
    stamp = 1_000_000_000
    peers.be_at(state.configuration, state.velocity, stamp)
    peers.go(BACK)
    onward, start = peers.planned(platform, 1)
    assert start == stamp + round(LEAD * 1e9)
    begins = onward.sample(0.0)
    expected = plan.sample(now + LEAD)
    np.testing.assert_allclose(begins.velocity, expected.velocity, atol=2e-3)
    way = platform.difference(begins.configuration, expected.configuration)
    np.testing.assert_allclose(way, 0.0, atol=2e-3)
    assert np.abs(begins.velocity).max() > 0.1
    np.testing.assert_allclose(platform.difference(onward.sample(1e3)[0], BACK), 0.0, atol=1e-9)
    assert rd.check_limits(platform, onward) is None
    texts = {
        status.message
        for message in peers.diagnostics
        for status in message.status
        if status.name == "trajectory_planner: planning"
    }
    assert "idle" in texts


def test_impossible_goals_are_refused_and_canceled_searches_end(graph, platform):
    peers = Peers(graph)
    peers.be_at(platform.home, np.zeros(6))
    peers.go(rd.pose_from_rpy([0.0, 0.0, 2.0], [0.0, 0.0, 0.0]))
    line = graph.line("goal_pose refused")
    assert "its limit is 1.4 m" in line
    assert "% of the path" in line
    answer = graph.call(Trigger, "trajectory_planner/cancel")
    assert answer.success
    # the hold that canceling publishes is all that was published
    graph.until(lambda: peers.received, "the hold")
    assert [len(message.points) for message in peers.received] == [1]
