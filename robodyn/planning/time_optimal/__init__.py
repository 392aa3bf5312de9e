# SPDX-License-Identifier: Apache-2.0

"""Time-optimal motion along a path."""

from robodyn.planning.time_optimal.constraints.all import Constraints
from robodyn.planning.time_optimal.curves import WaypointSpline, coordinate_weights, cubic_to_goal
from robodyn.planning.time_optimal.easing import Easing
from robodyn.planning.time_optimal.motion import time_fractions
from robodyn.planning.time_optimal.online import time_optimal_from
from robodyn.planning.time_optimal.path import PathPieces, grade
from robodyn.planning.time_optimal.program import SpeedSpline
from robodyn.planning.time_optimal.sampled_path import sample_path
from robodyn.planning.time_optimal.search import ReachableMotion, reachable_motion
from robodyn.planning.time_optimal.smooth_curve import SmoothCurve
from robodyn.planning.time_optimal.spacing import spacing

__all__ = [
    "Constraints",
    "Easing",
    "PathPieces",
    "ReachableMotion",
    "SmoothCurve",
    "SpeedSpline",
    "WaypointSpline",
    "coordinate_weights",
    "cubic_to_goal",
    "grade",
    "reachable_motion",
    "sample_path",
    "spacing",
    "time_fractions",
    "time_optimal_from",
]  # fmt: skip
