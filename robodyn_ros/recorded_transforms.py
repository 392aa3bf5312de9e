# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The platform's transforms in a bag where tf2_msgs is not installed.

Nothing publishes `/tf` then, yet viewers such as Foxglove need it to move the model. A platform's
state has the same pose, so the transform is made from it, as the simulator would broadcast it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message

from robodyn.errors import InvalidInput
from robodyn_ros import messages, qos
from robodyn_ros.message_definitions import common_definition, message_class

if TYPE_CHECKING:
    from robodyn_ros.bag_writer import BagWriter

TOPIC = "/tf"
KIND = "tf2_msgs/msg/TFMessage"
STATE_KIND = "nav_msgs/msg/Odometry"


def transforms_are_missing() -> bool:
    """Whether the message type of transforms is not installed."""
    try:
        message_class(KIND)
    except InvalidInput:
        return True
    return False


class RecordedTransforms:
    """The topic `/tf` of a bag, made from recorded platform states.

    Attributes:
        topic: the number to write it by.
    """

    def __init__(self, bag: BagWriter) -> None:
        from rosbags.typesys import Stores, get_typestore

        self.topic = bag.add_topic(TOPIC, KIND, common_definition(KIND), [qos.STATE])
        self._store = get_typestore(Stores.ROS2_JAZZY)

    def serialized(self, state: bytes) -> bytes:
        """A serialized TFMessage with the pose of a serialized Odometry: header -> child frame."""
        odometry = deserialize_message(state, Odometry)
        kinds = self._store.types
        stamp = odometry.header.stamp
        x, y, z, *quaternion = messages.pose_array(odometry.pose.pose).tolist()
        transform = kinds["geometry_msgs/msg/TransformStamped"](
            kinds["std_msgs/msg/Header"](
                kinds["builtin_interfaces/msg/Time"](stamp.sec, stamp.nanosec),
                odometry.header.frame_id,
            ),
            odometry.child_frame_id,
            kinds["geometry_msgs/msg/Transform"](
                kinds["geometry_msgs/msg/Vector3"](x, y, z),
                kinds["geometry_msgs/msg/Quaternion"](*quaternion),
            ),
        )
        return bytes(self._store.serialize_cdr(kinds[KIND]([transform]), KIND))
