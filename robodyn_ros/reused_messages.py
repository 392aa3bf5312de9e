# SPDX-License-Identifier: Apache-2.0

"""Messages that are reused for each publication, because making one takes longer than filling it.

Publishing serialises a message before it returns, so one object suffices. Numbers are assigned as
`array.array`, which rosidl accepts without checking each element.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from robodyn.poses import twist_in_body
from robodyn_ros.messages import fill_pose, fill_stamp, fill_twist

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robodyn.arrays import FloatArray


def numbers(values: FloatArray) -> array[float]:
    """Float64 values in the form that a message field accepts fastest."""
    return array("d", values.tobytes())


class JointStateMessage:
    """A JointState of fixed joints; a field that is None keeps its value, initially empty.

    `told_in` is the unit of commands: the message has no other place for it than its frame.
    """

    def __init__(self, names: Sequence[str], told_in: str = "") -> None:
        self._message = JointState(name=list(names))
        self._message.header.frame_id = told_in
        self._stamp = self._message.header.stamp

    def filled(
        self,
        stamp: int,
        position: FloatArray | None = None,
        velocity: FloatArray | None = None,
        effort: FloatArray | None = None,
    ) -> JointState:
        """The message at a stamp [ns]."""
        message = self._message
        fill_stamp(self._stamp, stamp)
        if position is not None:
            message.position = numbers(position)
        if velocity is not None:
            message.velocity = numbers(velocity)
        if effort is not None:
            message.effort = numbers(effort)
        return message


class MultiArrayMessage:
    """A Float64MultiArray of one dimension, labelled with the unit of commands if one is given."""

    def __init__(self, size: int = 0, told_in: str = "") -> None:
        self._message = Float64MultiArray()
        if told_in:
            dimension = MultiArrayDimension(label=told_in, size=size, stride=size)
            self._message.layout.dim = [dimension]

    def filled(self, values: FloatArray) -> Float64MultiArray:
        """The message with values (n,)."""
        self._message.data = numbers(values)
        return self._message


class OdometryMessage:
    """A platform's state; its twist is, as Odometry prescribes, in the platform's frame."""

    def __init__(self, frames: tuple[str, str]) -> None:
        self._message = Odometry()
        self._message.header.frame_id, self._message.child_frame_id = frames

    def filled(self, stamp: int, pose: FloatArray, twist: FloatArray) -> Odometry:
        """Pose (7,) and twist (6,) in the base frame, at a stamp [ns]."""
        message = self._message
        fill_stamp(message.header.stamp, stamp)
        fill_pose(message.pose.pose, pose)
        fill_twist(message.twist.twist, twist_in_body(pose, twist))
        return message
