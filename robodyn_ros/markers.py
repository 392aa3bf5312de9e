# SPDX-License-Identifier: Apache-2.0

"""Display of a planned path in RViz and Foxglove, colored by the condition number."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import Point, PoseStamped
from nav_msgs.msg import Path
from rclpy.node import Node
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from robodyn.arrays import FloatArray
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories import Trajectory
from robodyn_ros import qos
from robodyn_ros.messages import fill_pose

# Okabe and Ito (2008): distinguishable with any color vision, and by brightness.
LEVELS = ((0.0, 0.620, 0.451), (0.941, 0.894, 0.259), (0.835, 0.369, 0.0))  # green, yellow, red
# A path is displayed by poses at equal intervals of time from its start to its end.
DRAWN = np.linspace(0.0, 1.0, 201)


def colored_path(
    mechanism: Mechanism, frame: str, configurations: FloatArray, warn: float, error: float
) -> MarkerArray:
    """Create a marker with the body's path, colored by the condition number.

    The line is green at a condition number of 1, yellow at `warn`, and red at and above `error`.
    Colors in between follow the logarithm of the condition number.

    Args:
        mechanism: mechanism that follows the path.
        frame: name of the base frame.
        configurations: (N, nq) configurations along the path.
        warn, error: condition numbers at which the line is yellow and red.

    Returns:
        One line strip in the base frame.
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
    """Publisher of a planned path as poses, and as a line colored by the condition number.

    Args:
        node: node that publishes `planned_path` and `planned_path_markers`.
        mechanism: mechanism that follows the path.
    """

    def __init__(self, node: Node, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self._drawn = node.create_publisher(Path, "planned_path", qos.LATCHED)
        self._colored = node.create_publisher(MarkerArray, "planned_path_markers", qos.LATCHED)

    def show(self, plan: Trajectory, warn: float, error: float) -> None:
        """Publish the poses along a plan, and the line through them, see `colored_path`.

        Args:
            plan: planned motion.
            warn, error: condition numbers at which the line is yellow and red.
        """
        frame = self._mechanism.frames[0]
        places = plan.sample(plan.duration * DRAWN).configuration
        path = Path()
        path.header.frame_id = frame
        for pose in self._mechanism.body_pose(places):
            stamped = PoseStamped(header=path.header)
            fill_pose(stamped.pose, pose)
            path.poses.append(stamped)
        self._drawn.publish(path)
        self._colored.publish(colored_path(self._mechanism, frame, places, warn, error))
