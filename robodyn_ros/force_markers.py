# SPDX-License-Identifier: Apache-2.0

"""Node `force_markers`: the legs' forces as arrows for RViz and Foxglove.

Subscribes `platform_state`, `inverse_dynamics/forces` and `condition_number`; publishes
`force_markers` (MarkerArray) at a display rate, however fast states arrive.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from visualization_msgs.msg import MarkerArray

import robodyn as rd
from robodyn.control.conditioning import ConditionLevel
from robodyn_ros import messages, qos
from robodyn_ros.interfaces import Interface, listen, steady_timer
from robodyn_ros.markers import ForceArrows
from robodyn_ros.parameters import declare, load_mechanism, table

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray

PARAMETERS = table("mechanism", "force_markers")


class ForceMarkers(Node):
    """Shows the latest forces at the latest configuration."""

    def __init__(self) -> None:
        super().__init__("force_markers")
        self._p = p = declare(self, PARAMETERS)
        mechanism = load_mechanism(p)
        if not mechanism.acts_along_legs:
            raise rd.ModelError(
                f"{mechanism.name} has no legs: force_markers draws actuator forces along the legs "
                "of a parallel platform"
            )
        self._joints = mechanism.joint_names
        self._arrows = ForceArrows(
            mechanism,
            p["newtons_per_metre"],
            p["width"],
            p["lifetime"],
            p["colour_by"] == "condition",
            p["values"],
        )
        self._level = ConditionLevel(p["warn"], p["error"], p["hysteresis"])
        self._state: tuple[int, FloatArray] | None = None
        self._forces: FloatArray | None = None
        self._number: float | None = None
        self._heard = -math.inf
        self._new = False
        self._markers = self.create_publisher(MarkerArray, "force_markers", qos.COMMAND)
        Interface(self, mechanism).on_state(self._on_state, qos.LATEST)
        listen(self, JointState, "inverse_dynamics/forces", self._on_forces, qos.LATEST)
        self.create_subscription(Float64, "condition_number", self._on_number, qos.RECENT)
        steady_timer(self, 1.0 / p["rate"], self._publish)

    def _on_state(self, stamp: int, configuration: FloatArray, _: FloatArray) -> None:
        self._state = stamp, configuration
        self._new = True

    def _on_forces(self, message: JointState) -> None:
        self._forces = messages.joint_values(message, self._joints, "effort")
        self._heard = time.monotonic()
        self._new = True

    def _on_number(self, message: Float64) -> None:
        self._number = message.data
        self._level.update(message.data)

    def _publish(self) -> None:
        stale = time.monotonic() - self._heard > self._p["lifetime"]
        if not self._new or self._state is None or self._forces is None or stale:
            return  # markers already shown expire by themselves
        self._new = False
        stamp, configuration = self._state
        level = self._level.level
        try:
            markers = self._arrows.markers(stamp, configuration, self._forces, level)
        except rd.KinematicsError as error:
            self.get_logger().error(f"forces not drawn: {error}", throttle_duration_sec=1.0)
            return
        if self._p["values"] and self._number is not None:
            markers.append(self._arrows.condition(stamp, configuration, self._number, level))
        self._markers.publish(MarkerArray(markers=markers))
