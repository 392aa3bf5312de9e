# SPDX-License-Identifier: Apache-2.0

"""Messages of states as other programs send them; our nodes reuse theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from robodyn.poses import twist_in_body
from robodyn_ros.messages import fill_pose, fill_twist, to_stamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robodyn.arrays import FloatArray


def odometry(stamp: int, frames: tuple[str, str], pose: FloatArray, twist: FloatArray) -> Odometry:
    """Platform state: pose in the base frame, twist, as Odometry prescribes, in the platform's."""
    message = Odometry()
    message.header.stamp = to_stamp(stamp)
    message.header.frame_id, message.child_frame_id = frames
    fill_pose(message.pose.pose, pose)
    fill_twist(message.twist.twist, twist_in_body(pose, twist))
    return message


def joint_state(
    stamp: int,
    names: Sequence[str],
    position: FloatArray | None = None,
    velocity: FloatArray | None = None,
    effort: FloatArray | None = None,
) -> JointState:
    """A JointState; fields that are None stay empty."""
    message = JointState(name=list(names))
    message.header.stamp = to_stamp(stamp)
    for field, values in (("position", position), ("velocity", velocity), ("effort", effort)):
        if values is not None:
            setattr(message, field, values.tolist())
    return message
