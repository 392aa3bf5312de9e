# SPDX-License-Identifier: Apache-2.0

"""Trajectories arrive from volatile and from latched publishers, each message once."""

from __future__ import annotations

import numpy as np
import pytest
from local_graph import LocalGraph
from message_makers import joint_state
from rclpy.qos import QoSProfile
from ros_harness import LATCHED
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.trajectories import Motion
from robodyn_ros import interfaces, messages

pytestmark = pytest.mark.ros
# as `ros2 topic pub` publishes by default
VOLATILE = QoSProfile(depth=10)
PROFILES = pytest.mark.parametrize("profile", [VOLATILE, LATCHED], ids=["volatile", "latched"])


def accepted(graph):
    return sum("points accepted" in line for line in graph.lines)


def to_rest(mechanism, topic):
    """A trajectory message of one point, at home."""
    rest = np.zeros((1, mechanism.coordinates.velocity_size))
    motion = Motion(mechanism.home[None], rest, rest)
    if topic == "platform_trajectory":
        return messages.platform_trajectory("base_link", "platform_joint", np.zeros(1), motion)
    rows = motions.driven_motion(mechanism, *motion)
    return messages.joint_trajectory(mechanism.joint_names, np.zeros(1), rows)


@PROFILES
@pytest.mark.parametrize("stamped", [True, False], ids=["", "content"])
@pytest.mark.parametrize(
    ("model", "topic"),
    [
        ("puma560", "joint_trajectory"),
        ("stewart_symmetric", "joint_trajectory"),
        ("stewart_symmetric", "platform_trajectory"),
    ],
)
def test_each_trajectory_is_accepted_once(model, topic, profile, stamped, monkeypatch):
    """Also when the same one is sent again; without source timestamps, too."""
    monkeypatch.setattr(interfaces, "STAMPED", stamped)
    kind = MultiDOFJointTrajectory if topic == "platform_trajectory" else JointTrajectory
    message = to_rest(rd.load(model), topic)
    with LocalGraph({"inverse_dynamics": {"model": model}}) as graph:
        publisher = graph.publisher(kind, topic, profile)
        for count in (1, 2, 3):
            publisher.publish(message)
            graph.until(lambda count=count: accepted(graph) >= count, "an accepted trajectory")
        graph.spin(0.3)
        assert accepted(graph) == 3
        # the volatile publisher is warned of the latched subscription, the node logs nothing
        assert not any("offering incompatible" in line for line in graph.lines)


def test_a_late_joiner_receives_what_was_latched_and_then_volatile_publishers():
    arm = rd.load("puma560")
    with LocalGraph({"inverse_dynamics": {"model": "puma560"}}) as graph:
        latched = graph.publisher(JointTrajectory, "joint_trajectory", LATCHED)
        latched.publish(to_rest(arm, "joint_trajectory"))
        graph.line("points accepted")
        graph.start("inverse_dynamics")
        graph.until(lambda: accepted(graph) == 2, "the latched trajectory")
        graph.spin(0.2)
        assert accepted(graph) == 2
        volatile = graph.publisher(JointTrajectory, "joint_trajectory", VOLATILE)
        volatile.publish(to_rest(arm, "joint_trajectory"))
        graph.until(lambda: accepted(graph) == 3, "the volatile trajectory")


def test_a_volatile_trajectory_is_followed():
    arm = rd.load("puma560")
    with LocalGraph({"inverse_dynamics": {"model": "puma560"}}) as graph:
        efforts = graph.listen(Float64MultiArray, "effort_controller/commands")
        states = graph.publisher(JointState, "joint_states")
        graph.publisher(JointTrajectory, "joint_trajectory", VOLATILE).publish(
            to_rest(arm, "joint_trajectory")
        )
        graph.line("points accepted")
        states.publish(joint_state(1, arm.joint_names, arm.home, np.zeros(6)))
        graph.until(lambda: efforts, "efforts")
        np.testing.assert_allclose(efforts[0].data, arm.gravity(arm.home), rtol=0, atol=1e-9)
