# SPDX-License-Identifier: Apache-2.0

"""Checks of all messages of nodes, for any input."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import TransitionEvent
from nav_msgs.msg import Odometry, Path
from rcl_interfaces.msg import Log, ParameterEvent
from rclpy.publisher import Publisher
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory
from visualization_msgs.msg import MarkerArray

import robodyn as rd
from robodyn_ros import messages

try:
    from tf2_msgs.msg import TFMessage
except ImportError:  # then no node sends any
    TFMessage = None

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest


def finite(values: Iterable[float]) -> bool:
    return all(map(math.isfinite, values))


class Judge:
    """Sees every message that is handed to a publisher; remembers the first that are wrong.

    Attributes:
        checked: number of checked messages.
        wrong: those that no node may send.
        now: the time of the latest state [ns].
    """

    def __init__(self, mechanism: rd.Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
        self._limits = dict(zip(mechanism.joint_names, mechanism.effort_limits, strict=True))
        self._bounds = mechanism.effort_limits
        self.checked = self.now = 0
        self.wrong: list[str] = []
        self._rules = {
            Float64MultiArray: self._efforts,
            JointState: self._joints,
            JointTrajectory: self._path,
            MultiDOFJointTrajectory: self._platform_path,
            Odometry: self._state,
            Float64: self._number,
            MarkerArray: self._markers,
            Path: self._drawn_path,
            DiagnosticArray: self._diagnostics,
            TFMessage: self._transforms,
            Clock: self._any,
            Log: self._any,
            TransitionEvent: self._any,
            ParameterEvent: self._any,
        }
        publish = Publisher.publish

        def judged(publisher: Publisher, message: Any) -> None:
            if publisher not in self.exempt:
                self.checked += 1
                # a type without a rule is a fault as well
                sound = self._rules[type(message)](publisher.topic_name, message)
                if not sound and len(self.wrong) < 3:
                    self.wrong.append(f"{publisher.topic_name}: {message}"[:1500])
            publish(publisher, message)

        self.exempt: list[Publisher] = []
        monkeypatch.setattr(Publisher, "publish", judged)

    def _any(self, _: str, __: object) -> bool:
        return True

    def _efforts(self, _: str, message: Float64MultiArray) -> bool:
        return bool((np.abs(message.data) <= self._bounds).all())

    def _joints(self, topic: str, message: JointState) -> bool:
        if topic == "/joint_states":
            self.now = messages.to_nanoseconds(message.header.stamp)
        sound = finite([*message.position, *message.velocity, *message.effort])
        if "forces" in topic:  # those that the motion needs; what is commanded is cut
            return sound
        bounds = [self._limits.get(name, 0.0) for name in message.name]
        return sound and all(abs(e) <= b for e, b in zip(message.effort, bounds, strict=False))

    def _path(self, _: str, message: JointTrajectory) -> bool:
        return all(
            finite([*point.positions, *point.velocities, *point.accelerations])
            and (not point.effort or bool((np.abs(point.effort) <= self._bounds).all()))
            for point in message.points
        )

    def _platform_path(self, _: str, message: MultiDOFJointTrajectory) -> bool:
        return all(
            finite(messages.pose_array(point.transforms[0]))
            and all(finite(messages.twist_array(t)) for t in point.velocities)
            and all(finite(messages.twist_array(t)) for t in point.accelerations)
            for point in message.points
        )

    def _state(self, _: str, message: Odometry) -> bool:
        self.now = messages.to_nanoseconds(message.header.stamp)
        return (
            finite(messages.pose_array(message.pose.pose))
            and finite(messages.twist_array(message.twist.twist))
            and finite(message.pose.covariance)
            and finite(message.twist.covariance)
        )

    def _number(self, topic: str, message: Float64) -> bool:
        if topic.endswith("/scale"):
            return 0.0 <= message.data <= 1.0
        if topic.endswith("/singularity_ahead"):
            return message.data >= 0.0  # infinity: none
        return message.data >= 1.0  # a condition number, infinite at a singularity

    def _transforms(self, _: str, message: TFMessage) -> bool:
        return all(finite(messages.pose_array(each.transform)) for each in message.transforms)

    def _markers(self, _: str, message: MarkerArray) -> bool:
        return all(
            finite(messages.pose_array(marker.pose))
            and finite((marker.scale.x, marker.scale.y, marker.scale.z))
            and all(finite((p.x, p.y, p.z)) for p in marker.points)
            for marker in message.markers
        )

    def _drawn_path(self, _: str, message: Path) -> bool:
        return all(finite(messages.pose_array(each.pose)) for each in message.poses)

    def _diagnostics(self, _: str, message: DiagnosticArray) -> bool:
        return all(
            s.name and s.message and s.level in (b"\0", b"\1", b"\2") for s in message.status
        )
