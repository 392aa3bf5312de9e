# SPDX-License-Identifier: Apache-2.0

"""Path planning that avoids singularities, joint limits and collisions."""

from robodyn.planning.paths.around import around_singularities
from robodyn.planning.paths.bounds import Bounds
from robodyn.planning.paths.clearance import Clearance, segment_distances
from robodyn.planning.paths.curves import Curve, PoseCurve, Spline, curve_along
from robodyn.planning.paths.free_motion import FreeMotion
from robodyn.planning.paths.planned_path import PlannedPath
from robodyn.planning.paths.projected_space import space_of
from robodyn.planning.paths.shortening import densify, shortcut
from robodyn.planning.paths.spaces import Space
from robodyn.planning.paths.tree_search import Budget, PlanningProblem, TreeSearch

__all__ = [
    "Bounds", "Budget", "Clearance", "Curve", "FreeMotion", "PlannedPath", "PlanningProblem",
    "PoseCurve", "Space", "Spline", "TreeSearch", "around_singularities", "curve_along",
    "densify", "segment_distances", "shortcut", "space_of",
]  # fmt: skip
