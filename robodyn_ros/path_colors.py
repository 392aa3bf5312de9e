# SPDX-License-Identifier: Apache-2.0

"""A planned path as a line whose colour is its condition number, for RViz and Foxglove."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from geometry_msgs.msg import Point
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from robodyn_ros.force_arrows import LEVELS

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.mechanism import Mechanism


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
