# SPDX-License-Identifier: Apache-2.0

"""Markers for RViz and Foxglove: legs' forces as arrows, a path coloured by its condition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from geometry_msgs.msg import Point
from nav_msgs.msg import Path
from rclpy.duration import Duration
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from robodyn_ros import qos
from robodyn_ros.messages import path, to_stamp

if TYPE_CHECKING:
    from rclpy.node import Node

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.mechanism import Mechanism
    from robodyn.trajectories import Trajectory

# Okabe and Ito (2008): distinguishable with any colour vision, and by brightness.
PUSH = (0.0, 0.447, 0.698)  # blue
PULL = (0.902, 0.624, 0.0)  # orange
LEVELS = ((0.0, 0.620, 0.451), (0.941, 0.894, 0.259), (0.835, 0.369, 0.0))  # green, yellow, red
# An arrow shorter than this fraction of its width is not drawn.
SHORTEST = 0.01
# A path is displayed by poses at equal intervals of time from its start to its end.
DRAWN = np.linspace(0.0, 1.0, 201)


class ForceArrows:
    """Makes the markers of one mechanism.

    Args:
        mechanism: its actuators push on the moving body along legs.
        newtons_per_metre: force that an arrow of one metre stands for.
        width: diameter of an arrow's shaft [m].
        lifetime: markers not renewed for this long disappear [s].
        by_level: colour arrows by the condition level instead of by the force's sign.
        values: write each force beside its arrow.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        newtons_per_metre: float,
        width: float,
        lifetime: float,
        by_level: bool,
        values: bool,
    ) -> None:
        self._mechanism = mechanism
        self._scale = newtons_per_metre
        self._width = width
        self._lifetime = Duration(seconds=lifetime).to_msg()
        self._by_level = by_level
        self._values = values
        self._frame = mechanism.frames[0]
        self._size = mechanism.size

    def markers(
        self, stamp: int, configuration: FloatArray, forces: FloatArray, level: int
    ) -> list[Marker]:
        """One arrow per leg for its force on the moving body, forces (n,) [N].

        Raises:
            KinematicsError: a leg has no direction in this configuration.
        """
        tips, directions = self._mechanism.leg_directions(configuration)
        ends = tips + (forces / self._scale)[:, None] * directions
        found = []
        for leg, force in enumerate(forces):
            rgb = LEVELS[level] if self._by_level else (PUSH if force >= 0.0 else PULL)
            found.append(self._arrow(stamp, leg, tips[leg], ends[leg], rgb))
            if self._values:
                text = self.text(stamp, "force_value", leg, f"{force:.4g}N", ends[leg], rgb)
                found.append(text)
        return found

    def condition(self, stamp: int, configuration: FloatArray, number: float, level: int) -> Marker:
        """The condition number above the moving body, in the colour of its level."""
        above = self._mechanism.body_pose(configuration)[:3] + np.array(
            [0.0, 0.0, 0.5 * self._size]
        )
        text = f"condition={number:.4g}"  # RViz draws spaces much too wide
        return self.text(stamp, "condition_number", 0, text, above, LEVELS[level])

    def text(
        self,
        stamp: int,
        namespace: str,
        number: int,
        text: str,
        where: FloatArray,
        rgb: tuple[float, float, float],
    ) -> Marker:
        """A label that faces the camera."""
        marker = self._marker(stamp, namespace, number, Marker.TEXT_VIEW_FACING, rgb)
        marker.text = text
        marker.scale.z = 4.0 * self._width
        position = marker.pose.position
        position.x, position.y, position.z = (float(value) for value in where)
        return marker

    def _arrow(
        self,
        stamp: int,
        leg: int,
        start: FloatArray,
        end: FloatArray,
        rgb: tuple[float, float, float],
    ) -> Marker:
        marker = self._marker(stamp, "force", leg, Marker.ARROW, rgb)
        length = float(np.linalg.norm(end - start))
        if length < SHORTEST * self._width:
            marker.action = Marker.DELETE
            return marker
        marker.points = [Point(x=float(x), y=float(y), z=float(z)) for x, y, z in (start, end)]
        marker.scale.x, marker.scale.y = self._width, 2.0 * self._width
        # a head of fixed size, but never longer than half the arrow
        marker.scale.z = min(3.0 * self._width, 0.5 * length)
        return marker

    def _marker(
        self, stamp: int, namespace: str, number: int, kind: int, rgb: tuple[float, float, float]
    ) -> Marker:
        marker = Marker(ns=namespace, id=number, type=kind, action=Marker.ADD)
        marker.header.frame_id = self._frame
        marker.header.stamp = to_stamp(stamp)
        marker.pose.orientation.w = 1.0
        marker.lifetime = self._lifetime
        marker.color = ColorRGBA(r=rgb[0], g=rgb[1], b=rgb[2], a=1.0)
        return marker


def colored_path(
    mechanism: Mechanism, frame: str, configurations: FloatArray, warn: float, error: float
) -> MarkerArray:
    """One line strip through the body's positions of configurations (N, nq), in the base's frame.

    Green at a condition number of 1, yellow at `warn`, red from `error` on; in between by its
    logarithm.
    """
    numbers = mechanism.condition_number(configurations)
    ends = np.log(np.maximum.accumulate([1.0, max(warn, 1.001), max(error, 1.002)]))
    at = np.log(np.minimum(numbers, 1e300))
    colors = np.stack([np.interp(at, ends, part) for part in np.array(LEVELS).T], axis=1)
    marker = Marker(ns="planned_path", id=0, type=Marker.LINE_STRIP, action=Marker.ADD)
    marker.header.frame_id = frame
    marker.pose.orientation.w = 1.0
    marker.scale.x = 0.01 * mechanism.size
    for place, color in zip(
        mechanism.body_pose(configurations)[:, :3].tolist(), colors.tolist(), strict=True
    ):
        marker.points.append(Point(x=place[0], y=place[1], z=place[2]))
        marker.colors.append(ColorRGBA(r=color[0], g=color[1], b=color[2], a=1.0))
    return MarkerArray(markers=[marker])


class PathDisplay:
    """Publishes a planned path for display: its poses, and a line coloured by its condition.

    Args:
        node: that publishes `planned_path` and `planned_path_markers`.
        mechanism: what follows the path.
    """

    def __init__(self, node: Node, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self._drawn = node.create_publisher(Path, "planned_path", qos.LATCHED)
        self._colored = node.create_publisher(MarkerArray, "planned_path_markers", qos.LATCHED)

    def show(self, plan: Trajectory, warn: float, error: float) -> None:
        """Show a plan; levels of the condition number as for `colored_path`."""
        frame = self._mechanism.frames[0]
        places = plan.sample(plan.duration * DRAWN).configuration
        self._drawn.publish(path(frame, self._mechanism.body_pose(places)))
        self._colored.publish(colored_path(self._mechanism, frame, places, warn, error))
