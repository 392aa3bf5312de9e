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

"""Broadcasting on `/tf`, listening to it and `/tf_static`: the latest transforms, composed.

Names, arguments and meaning are those of ROS's tf2_ros. There is no history: a transform is to be
had at the latest time only, which upstream's `Time()` asks for.
"""

from __future__ import annotations

from collections.abc import Sequence

from geometry_msgs.msg import TransformStamped
from rclpy.duration import Duration
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile
from rclpy.time import Time

from tf2_msgs.msg import TFMessage
from tf2_ros.tree import (
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    TransformException,
    Tree,
)

__all__ = [
    "Buffer",
    "ConnectivityException",
    "ExtrapolationException",
    "InvalidArgumentException",
    "LookupException",
    "TransformBroadcaster",
    "TransformException",
    "TransformListener",
]

_MOVING = QoSProfile(depth=100, history=HistoryPolicy.KEEP_LAST)
_STATIC = QoSProfile(
    depth=100, history=HistoryPolicy.KEEP_LAST, durability=DurabilityPolicy.TRANSIENT_LOCAL
)


class Buffer:
    """The latest transform of each frame."""

    def __init__(self, *, node: Node | None = None) -> None:
        """Begin empty; `node` is there for upstream's sake."""
        self._tree = Tree()

    def set_transform(self, transform: TransformStamped, authority: str) -> None:
        """Take a transform; what is none is logged and dropped, as upstream does."""
        self._set(transform, authority, static=False)

    def set_transform_static(self, transform: TransformStamped, authority: str) -> None:
        """Take a transform that holds for all time."""
        self._set(transform, authority, static=True)

    def lookup_transform(
        self, target_frame: str, source_frame: str, time: Time, timeout: Duration | None = None
    ) -> TransformStamped:
        """Return where the source frame is in the target frame, at the latest common time.

        Raises:
            TransformException: one of them is unknown, the two are not connected, or a time other
                than the latest, or a time-out, is asked for.
        """
        if time.nanoseconds or (timeout is not None and timeout.nanoseconds):
            raise ExtrapolationException("the latest transforms only are kept, and not waited for")
        return self._tree.lookup(target_frame, source_frame)

    def can_transform(
        self, target_frame: str, source_frame: str, time: Time, timeout: Duration | None = None
    ) -> bool:
        """Return whether `lookup_transform` has an answer."""
        try:
            self.lookup_transform(target_frame, source_frame, time, timeout)
        except TransformException:
            return False
        return True

    def all_frames_as_string(self) -> str:
        """Return every frame with its parent, one a line."""
        return "".join(
            f"Frame {child} exists with parent {parent}.\n"
            for child, parent in self._tree.parents.items()
        )

    def clear(self) -> None:
        """Forget everything that moves."""
        self._tree.forget_moving()

    def _set(self, transform: TransformStamped, authority: str, *, static: bool) -> None:
        try:
            self._tree.add(transform, static=static)
        except InvalidArgumentException as error:
            get_logger("tf2_buffer").error(f"transform from {authority} ignored: {error}")


class TransformBroadcaster:
    """Publishes transforms on `/tf`."""

    def __init__(self, node: Node, qos: QoSProfile | int | None = None) -> None:
        """Publish by a node."""
        self._publisher = node.create_publisher(TFMessage, "/tf", qos or _MOVING)

    def sendTransform(  # noqa: N802 - upstream's name
        self, transform: TransformStamped | Sequence[TransformStamped]
    ) -> None:
        """Send a transform, or several."""
        several = [transform] if isinstance(transform, TransformStamped) else transform
        self._publisher.publish(bytes(TFMessage(transforms=several)))


class TransformListener:
    """Fills a buffer with what arrives on `/tf` and `/tf_static`."""

    def __init__(self, buffer: Buffer, node: Node, *, spin_thread: bool = False) -> None:
        """Subscribe by a node that the caller spins."""
        if spin_thread:
            raise TypeError("spin_thread is not here: spin the node")
        self._node = node
        self._subscriptions = [
            self._listen("/tf", buffer.set_transform, _MOVING),
            self._listen("/tf_static", buffer.set_transform_static, _STATIC),
        ]

    def unregister(self) -> None:
        """Listen no more."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _listen(self, topic: str, take: object, profile: QoSProfile) -> object:
        def receive(data: bytes) -> None:
            try:
                message = TFMessage.from_bytes(data)
            except ValueError as error:
                get_logger("tf2_listener").error(f"{topic} ignored: {error}")
                return
            for transform in message.transforms:
                take(transform, topic)

        return self._node.create_subscription(TFMessage, topic, receive, profile, raw=True)
