"""What the surroundings exert on the mechanism, in the frame that its message names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from geometry_msgs.msg import WrenchStamped

from robodyn.errors import InvalidInput, RobodynError
from robodyn.poses import twist_in_base as turned_to_base
from robodyn_ros import messages, qos

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rclpy.node import Node

    from robodyn.mechanism import Mechanism
    from robodyn_ros.interfaces import Interface

    FloatArray = NDArray[np.float64]


class ExternalWrench:
    """The last `external_wrench` received; it acts until another one comes.

    A wrench in the base frame, or without a frame, is taken as it is; one in the frame of the
    moving body turns with it. Either is about the body's reference point.
    """

    def __init__(self, node: Node, mechanism: Mechanism, interface: Interface) -> None:
        self._node = node
        self._mechanism = mechanism
        self._frames = interface.base_frame, interface.body_frame
        self._value = np.zeros(6)
        self._turns = False
        node.create_subscription(WrenchStamped, "external_wrench", self._receive, qos.COMMAND)

    def at(self, configuration: FloatArray) -> FloatArray:
        """(6,) [N, N m] in the base frame, for a mechanism in this configuration."""
        if not self._turns:
            return self._value
        pose = self._mechanism.body_pose(configuration)
        return turned_to_base(pose, self._value)

    def _receive(self, message: WrenchStamped) -> None:
        base, body = self._frames
        frame = message.header.frame_id
        try:
            if frame not in ("", base, body):
                raise InvalidInput(
                    f"frame is {frame!r}, expected {base!r} or {body!r}", value=frame
                )
            self._value = messages.finite("wrench", messages.wrench_array(message.wrench))
        except RobodynError as error:
            self._node.get_logger().error(
                f"external_wrench refused: {error}", throttle_duration_sec=1.0
            )
            return
        self._turns = frame == body
