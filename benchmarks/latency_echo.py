# SPDX-License-Identifier: Apache-2.0

"""The bare rclpy echo beside which the nodes are measured, a process of its own.

It answers each message with the messages that a node would answer it with, of the same types and
sizes, prepared in advance; only the stamp is filled in.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

import rclpy
from nav_msgs.msg import Odometry
from rclpy.executors import ExternalShutdownException
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray

import robodyn as rd
from robodyn_ros import qos
from robodyn_ros.executor import spin


def joint_state(names: tuple[str, ...], *fields: str) -> JointState:
    """A JointState with zeros in the fields named."""
    message = JointState(name=list(names))
    for field in fields:
        setattr(message, field, [0.0] * len(names))
    return message


def answers(node: str, mechanism: Any) -> list[tuple[str, Any]]:
    """Return topic and message of each reply; the client waits for the last one."""
    joints, is_pose = mechanism.joint_names, mechanism.coordinates.is_pose
    if node == "inverse_dynamics":
        return [
            ("effort_controller/commands", Float64MultiArray(data=[0.0] * len(joints))),
            ("joint_commands", joint_state(joints, "effort")),
        ]
    if node == "condition_monitor":
        return [
            ("condition_monitor/condition_number_scaled", Float64()),
            ("condition_monitor/scale", Float64()),
            ("condition_number", Float64()),
        ]
    if node == "state_estimator":
        passive = mechanism.passive_joint_names
        return [
            ("passive_joint_states", joint_state(passive, "position", "velocity")),
            ("platform_state", Odometry()),
        ]
    states = [
        ("joint_states", joint_state(mechanism.all_joint_names, "position", "velocity", "effort"))
    ]
    return [("clock", Clock()), *states, *([("platform_state", Odometry())] if is_pose else [])]


def main() -> None:
    """`latency_echo.py NODE MODEL TOPIC [--ros-args ...]`."""
    name, model, topic = sys.argv[1:4]
    mechanism = rd.load(model)
    rclpy.init(args=sys.argv[4:])
    node = rclpy.create_node("echo")
    replies = [
        (node.create_publisher(type(message), where, qos.COMMAND), message)
        for where, message in answers(name, mechanism)
    ]
    stamped = [message.header for _, message in replies if hasattr(message, "header")]

    def answer(message: Any) -> None:
        for header in stamped:
            header.stamp = message.header.stamp
        for publisher, reply in replies:
            # inverse_dynamics does not publish its other command without a subscriber
            if name != "inverse_dynamics" or publisher.get_subscription_count():
                publisher.publish(reply)

    kind = Odometry if topic == "platform_state" else JointState
    profile = qos.LOSSLESS if name == "condition_monitor" else qos.STATE
    node.create_subscription(kind, topic, answer, profile)
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        spin(node)


if __name__ == "__main__":
    main()
