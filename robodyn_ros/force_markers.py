# SPDX-License-Identifier: Apache-2.0

"""Node that publishes the forces of the legs as markers.

The node subscribes to `platform_state`, `inverse_dynamics/forces` and `condition_number`. The node
publishes `force_markers` (MarkerArray) at a display rate that does not depend on the rate of the
states.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import Point
from rclpy.duration import Duration
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import ColorRGBA, Float64
from visualization_msgs.msg import Marker, MarkerArray

import robodyn as rd
from robodyn.algorithms.conditioning import condition_text
from robodyn.arrays import FloatArray
from robodyn.control.conditioning import ConditionLevel
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation import presentation
from robodyn_ros import messages, qos
from robodyn_ros.interfaces import Interface, steady_timer, subscribe
from robodyn_ros.markers import LEVELS
from robodyn_ros.parameters import declare, load_mechanism, table

PARAMETERS = table("mechanism", "force_markers")
# As in `markers`: distinguishable with any color vision, and by brightness.
PUSH = (0.0, 0.447, 0.698)  # blue
PULL = (0.902, 0.624, 0.0)  # orange
Color = tuple[float, float, float]
# An arrow shorter than this fraction of its width is not drawn.
SHORTEST = 0.01


class ForceMarkers(Node):
    """Node that publishes markers of the latest leg forces at the latest configuration."""

    def __init__(self) -> None:
        super().__init__("force_markers")
        self._p = p = declare(self, PARAMETERS)
        mechanism = load_mechanism(p)
        if not presentation.has_legs(mechanism):
            raise rd.ModelError(
                f"{mechanism.name} has no legs: force_markers draws actuator forces along the legs "
                "of a parallel platform"
            )
        self._joints = mechanism.joint_names
        self._arrows = ForceArrows(mechanism, p)
        self._level = ConditionLevel(p["warn"], p["error"], p["hysteresis"])
        self._state: tuple[int, FloatArray] | None = None
        self._forces: FloatArray | None = None
        self._number: float | None = None
        self._received = -math.inf
        self._new = False
        self._markers = self.create_publisher(MarkerArray, "force_markers", qos.COMMAND)
        Interface(self, mechanism).on_state(self._on_state, qos.LATEST)
        subscribe(self, JointState, "inverse_dynamics/forces", self._on_forces, qos.LATEST)
        subscribe(self, Float64, "condition_number", self._on_number, qos.RECENT)
        steady_timer(self, 1.0 / p["rate"], self._publish)

    def _on_state(self, stamp: int, configuration: FloatArray, _: FloatArray) -> None:
        self._state = stamp, configuration
        self._new = True

    def _on_forces(self, message: JointState) -> None:
        self._forces = messages.joint_values(message, self._joints, "effort")
        self._received = time.monotonic()
        self._new = True

    def _on_number(self, message: Float64) -> None:
        self._number = message.data
        self._level.update(message.data)

    def _publish(self) -> None:
        stale = time.monotonic() - self._received > self._p["lifetime"]
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


class ForceArrows:
    """Factory of RViz markers for the leg forces and the condition number of a mechanism.

    Args:
        mechanism: mechanism whose actuators push on the moving body along legs.
        p: values of the node's parameters, by name.
    """

    def __init__(self, mechanism: Mechanism, p: Mapping[str, Any]) -> None:
        self._mechanism = mechanism
        self._scale, self._width, self._values = p["newtons_per_meter"], p["width"], p["values"]
        self._lifetime = Duration(seconds=p["lifetime"]).to_msg()
        self._by_level = p["color_by"] == "condition"
        self._frame = mechanism.frames[0]
        self._size = mechanism.size

    def markers(
        self, stamp: int, configuration: FloatArray, forces: FloatArray, level: int
    ) -> list[Marker]:
        """Create an arrow for the force of each leg on the moving body.

        Args:
            stamp: time [ns].
            configuration: (nq,) configuration of the mechanism.
            forces: (n,) [N] forces of the legs.
            level: status level of the condition number: 0, 1 (warning) or 2 (error).

        Returns:
            The markers.

        Raises:
            KinematicsError: a leg has no direction in this configuration.
        """
        tips, directions = presentation.leg_directions(self._mechanism, configuration)
        ends = tips + (forces / self._scale)[:, None] * directions
        found = []
        for leg, force in enumerate(forces):
            rgb = LEVELS[level] if self._by_level else (PUSH if force >= 0.0 else PULL)
            found.append(self._arrow(stamp, leg, (tips[leg], ends[leg]), rgb))
            if self._values:
                kind = "force_value", leg
                found.append(self._text(stamp, kind, f"{force:.4g}N", ends[leg], rgb))
        return found

    def condition(self, stamp: int, configuration: FloatArray, number: float, level: int) -> Marker:
        """Create a label above the body with the condition number, colored by its level.

        Args:
            stamp: time [ns].
            configuration: (nq,) configuration of the mechanism.
            number: condition number.
            level: status level of the condition number: 0, 1 (warning) or 2 (error).

        Returns:
            The marker.
        """
        above = self._mechanism.body_pose(configuration)[:3] + np.array(
            [0.0, 0.0, 0.5 * self._size]
        )
        text = f"condition={condition_text(number)}"  # RViz draws spaces much too wide
        return self._text(stamp, ("condition_number", 0), text, above, LEVELS[level])

    def _text(
        self, stamp: int, kind: tuple[str, int], text: str, where: FloatArray, rgb: Color
    ) -> Marker:
        """Create a text marker that faces the camera."""
        marker = self._marker(stamp, kind, Marker.TEXT_VIEW_FACING, rgb)
        marker.text = text
        marker.scale.z = 4.0 * self._width
        messages.fill_vector(marker.pose.position, where)
        return marker

    def _arrow(self, stamp: int, leg: int, ends: Sequence[FloatArray], rgb: Color) -> Marker:
        marker = self._marker(stamp, ("force", leg), Marker.ARROW, rgb)
        length = float(np.linalg.norm(ends[1] - ends[0]))
        if length < SHORTEST * self._width:
            marker.action = Marker.DELETE
            return marker
        marker.points = [Point(x=float(x), y=float(y), z=float(z)) for x, y, z in ends]
        marker.scale.x, marker.scale.y = self._width, 2.0 * self._width
        # a head of fixed size, but never longer than half the arrow
        marker.scale.z = min(3.0 * self._width, 0.5 * length)
        return marker

    def _marker(self, stamp: int, kind: tuple[str, int], shape: int, rgb: Color) -> Marker:
        """Create a marker of the given shape and color; `kind` is its namespace and ID."""
        marker = Marker(ns=kind[0], id=kind[1], type=shape, action=Marker.ADD)
        marker.header.frame_id = self._frame
        marker.header.stamp = messages.to_stamp(stamp)
        marker.pose.orientation.w = 1.0
        marker.lifetime = self._lifetime
        marker.color = ColorRGBA(r=rgb[0], g=rgb[1], b=rgb[2], a=1.0)
        return marker
