# SPDX-License-Identifier: Apache-2.0

"""Transforms of floating joints, broadcast where tf2_ros is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geometry_msgs.msg import TransformStamped

from robodyn_ros import qos
from robodyn_ros.messages import fill_pose, fill_stamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rclpy.node import Node

    from robodyn.arrays import FloatArray

try:
    from tf2_ros import TransformBroadcaster
except ImportError:
    TransformBroadcaster = None


class FloatingBroadcaster:
    """parent -> child of floating joints, such as a platform's in its base.

    robot_state_publisher has no positions of these.
    """

    def __init__(self, node: Node, joints: Iterable[tuple[str, str]]) -> None:
        # as many as of the states beside them: a recorder that falls behind misses none
        self._broadcaster = TransformBroadcaster(node, qos.STATE) if TransformBroadcaster else None
        if self._broadcaster is None:
            names = ", ".join(f"{parent} -> {child}" for parent, child in joints)
            node.get_logger().info(f"tf2_ros is not installed: no transform {names}")

    def send(self, stamp: int, poses: Mapping[tuple[str, str], FloatArray]) -> None:
        """Broadcast poses (7,) of children in their parents' frames, at a stamp [ns]."""
        if self._broadcaster is None:
            return
        transforms = []
        for (parent, child), pose in poses.items():
            transform = TransformStamped(child_frame_id=child)
            transform.header.frame_id = parent
            fill_stamp(transform.header.stamp, stamp)
            fill_pose(transform.transform, pose)
            transforms.append(transform)
        self._broadcaster.sendTransform(transforms)
