# SPDX-License-Identifier: Apache-2.0

"""A pulse of `external_wrench` of fixed duration, by the stamps of the states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from geometry_msgs.msg import WrenchStamped

from robodyn_ros import messages, qos

if TYPE_CHECKING:
    from rclpy.node import Node

    from robodyn.arrays import FloatArray


class WrenchPulse:
    """Publishes a wrench, and zero after its duration or when time is reset.

    Args:
        node: that publishes.
        duration: [s] by the stamps of the states.
    """

    def __init__(self, node: Node, duration: float) -> None:
        self._publisher = node.create_publisher(WrenchStamped, "external_wrench", qos.COMMAND)
        self._duration = round(duration * messages.NANOSECONDS)
        self._begun: int | None = None

    def begin(self, stamp: int, frame: str, wrench: FloatArray) -> None:
        """Start a wrench (6,) [N, N m] in a frame at a stamp [ns]."""
        self._frame, self._begun = frame, stamp
        self._publish(wrench)

    def update(self, stamp: int) -> None:
        """End the pulse if it is over at this stamp [ns]."""
        if self._begun is not None and not 0 <= stamp - self._begun < self._duration:
            self._begun = None
            self._publish(np.zeros(6))

    def _publish(self, wrench: FloatArray) -> None:
        message = WrenchStamped()
        message.header.frame_id = self._frame
        force, torque = message.wrench.force, message.wrench.torque
        force.x, force.y, force.z, torque.x, torque.y, torque.z = wrench.tolist()
        self._publisher.publish(message)
