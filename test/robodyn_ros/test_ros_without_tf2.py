# SPDX-License-Identifier: Apache-2.0

"""Goals and wrenches in frames that only TF could know, where tf2 is not installed."""

from __future__ import annotations

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped, WrenchStamped
from local_graph import LocalGraph
from message_makers import odometry
from nav_msgs.msg import Odometry
from ros_harness import LATCHED
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import MultiDOFJointTrajectory

import robodyn as rd
from robodyn_ros import frames, mechanism_messages, messages

pytestmark = pytest.mark.ros
MODEL = "stewart_symmetric"
FRAMES = ("base_link", "platform_link")
SECOND = 1_000_000_000


@pytest.fixture(autouse=True)
def no_tf2(monkeypatch):
    """Also on a machine that has it."""
    monkeypatch.setattr(frames, "Buffer", None)
    monkeypatch.setattr(mechanism_messages, "TransformBroadcaster", None)


@pytest.fixture(scope="module")
def platform():
    return rd.load(MODEL)


def test_a_goal_in_a_foreign_frame_is_refused_and_the_next_one_is_planned(platform):
    with LocalGraph({"trajectory_planner": {"model": MODEL}}) as graph:
        states = graph.publisher(Odometry, "platform_state")
        goals = graph.publisher(PoseStamped, "goal_pose")
        plans = graph.listen(MultiDOFJointTrajectory, "platform_trajectory", LATCHED)
        states.publish(odometry(0, FRAMES, platform.home, np.zeros(6)))
        graph.spin(0.1)
        goal = PoseStamped()
        goal.header.frame_id = "table"
        messages.fill_pose(goal.pose, platform.home + np.array([0, 0, 0.01, 0, 0, 0, 0]))
        goals.publish(goal)
        graph.line(
            "goal_pose refused: frame is 'table', expected 'base_link' or 'platform_link'",
            "tf2_ros is not installed",
        )
        assert not plans
        goal.header.frame_id = "base_link"
        goals.publish(goal)
        graph.until(lambda: plans, "a trajectory")


def test_a_wrench_in_a_foreign_frame_is_refused_and_the_last_one_acts_on(platform):
    still, push = np.zeros(6), np.array([0.0, 0.0, -100.0, 0.0, 0.0, 0.0])
    expected = platform.inverse_dynamics(platform.home, still, still, push)
    given = {"model": MODEL, "mode": "gravity_compensation", "watchdog_timeout": 0.0}
    with LocalGraph({"inverse_dynamics": given}) as graph:
        states = graph.publisher(Odometry, "platform_state")
        wrenches = graph.publisher(WrenchStamped, "external_wrench")
        commands = graph.listen(JointState, "joint_commands")
        for frame, force in (("base_link", -100.0), ("sensor", -500.0)):
            message = WrenchStamped()
            message.header.frame_id, message.wrench.force.z = frame, force
            wrenches.publish(message)
            graph.spin(0.2)
        graph.line("external_wrench refused: frame is 'sensor'", "tf2_ros is not installed")
        states.publish(odometry(SECOND, FRAMES, platform.home, still))
        graph.until(lambda: commands, "a command")
        np.testing.assert_allclose(commands[-1].effort, expected, rtol=1e-9, atol=1e-7)


def test_a_node_without_tf2_logs_once_that_it_broadcasts_no_transforms():
    with LocalGraph({"state_estimator": {"model": MODEL}}) as graph:
        graph.line("tf2_ros is not installed: no transform base_link -> platform_link")
