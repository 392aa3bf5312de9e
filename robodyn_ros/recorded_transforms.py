# SPDX-License-Identifier: Apache-2.0

"""Transforms of a mechanism for a bag if tf2_msgs is not installed.

No node publishes `/tf` then, but viewers such as Foxglove need it: they show joint states as
numbers and do not move links by them. A platform's state contains its pose, and joint states
determine all other links, so the transforms are computed from these, like those that simulator and
robot_state_publisher would broadcast.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.util import find_spec

import numpy as np
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from robodyn.arrays import FloatArray
from robodyn.errors import RobodynError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.model.joint import Joint
from robodyn.poses import pose_from_matrix
from robodyn.presentation import presentation
from robodyn.presentation.figure import frame_in_parent
from robodyn_ros import messages, qos
from robodyn_ros.bag_writer import BagWriter
from robodyn_ros.mechanism_messages import messages_of

TOPIC = "/tf"
KIND = "tf2_msgs/msg/TFMessage"
STATE_KIND = "nav_msgs/msg/Odometry"
JOINTS_KIND = "sensor_msgs/msg/JointState"
# Shortest time between transforms of joints, by the stamps of their states [ns].
PERIOD = 20_000_000


def transforms_are_missing() -> bool:
    """Return whether the message type of transforms, tf2_msgs, is not installed."""
    return find_spec("tf2_msgs") is None


class RecordedTransforms:
    """Source of the topic `/tf` in a bag, computed from recorded states.

    Args:
        bag: bag to which the topic is added.
        joints: joints of the recorded mechanism's URDF; none if unknown.
        mechanism: recorded mechanism, for the poses of its floating joints; None if unknown.

    Attributes:
        topic: handle of the topic in the bag.
    """

    def __init__(
        self, bag: BagWriter, joints: Sequence[Joint] = (), mechanism: Mechanism | None = None
    ) -> None:
        from rosbags.typesys import Stores, get_typestore

        self._store = get_typestore(Stores.ROS2_JAZZY)
        self.topic = bag.add_topic(TOPIC, KIND, [qos.STATE])
        self._moving = [joint for joint in joints if joint.kind not in ("fixed", "floating")]
        self._floating: list[Joint] = []
        # the state is the pose of this body
        if mechanism is not None and not mechanism.coordinates.is_pose:
            self._mechanism, self._reader = mechanism, messages_of(mechanism)
            self._floating = [joint for joint in joints if joint.kind == "floating"]
        self._positions: dict[str, float] = {}
        self._last: int | None = None

    def of_state(self, state: bytes) -> bytes | None:
        """Compute the transform of the platform from a serialized Odometry message.

        Returns:
            A serialized TFMessage with the transform from the header's frame to the child frame;
            None if the pose is not finite.

        Raises:
            InvalidInput: the data are not an Odometry message.
        """
        odometry = messages.deserialize(state, Odometry)
        frames = odometry.header.frame_id, odometry.child_frame_id
        pose = messages.pose_array(odometry.pose.pose)
        if not np.isfinite(pose).all():
            return None
        return self._serialize(messages.to_nanoseconds(odometry.header.stamp), {frames: pose})

    def of_joints(self, states: bytes) -> bytes | None:
        """Compute the transforms of links from a serialized JointState message.

        Parents and children are those of the URDF; joints not in the message keep their last
        positions.

        Returns:
            A serialized TFMessage; None if less than `PERIOD` has passed since the last one, or if
            no transform can be computed.

        Raises:
            InvalidInput: the data are not a JointState message.
        """
        message = messages.deserialize(states, JointState)
        for name, position in zip(message.name, message.position, strict=False):
            if math.isfinite(position):
                self._positions[name] = position
        stamp = messages.to_nanoseconds(message.header.stamp)
        if self._last is not None and self._last <= stamp < self._last + PERIOD:
            return None
        poses = {**self._place(), **self._float(message)}
        if not poses:
            return None
        self._last = stamp
        return self._serialize(stamp, poses)

    def _place(self) -> dict[tuple[str, str], FloatArray]:
        poses = {}
        for joint in self._moving:
            leader = joint.name if joint.mimic is None else joint.mimic.joint
            if leader in self._positions:
                frame = frame_in_parent(joint, self._positions, {})
                poses[joint.parent, joint.child] = pose_from_matrix(frame)
        return poses

    def _float(self, message: JointState) -> Mapping[tuple[str, str], FloatArray]:
        if not self._floating:
            return {}
        try:
            _, configuration, _ = self._reader.read_state(message)
            return presentation.floating_poses(self._mechanism, configuration)
        except RobodynError:  # of another mechanism, or of a subset of the joints
            return {}

    def _serialize(self, stamp: int, poses: Mapping[tuple[str, str], FloatArray]) -> bytes:
        """Serialize poses (7,) of child frames in their parent frames, at a stamp [ns]."""
        kinds = self._store.types
        time = messages.to_stamp(stamp)  # clipped to the range of stamps
        at = kinds["builtin_interfaces/msg/Time"](time.sec, time.nanosec)
        transforms = []
        for (parent, child), pose in poses.items():
            x, y, z, *quaternion = pose.tolist()
            transform = kinds["geometry_msgs/msg/Transform"](
                kinds["geometry_msgs/msg/Vector3"](x, y, z),
                kinds["geometry_msgs/msg/Quaternion"](*quaternion),
            )
            header = kinds["std_msgs/msg/Header"](at, parent)
            transforms.append(kinds["geometry_msgs/msg/TransformStamped"](header, child, transform))
        return bytes(self._store.serialize_cdr(kinds[KIND](transforms), KIND))
