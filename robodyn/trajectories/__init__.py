# SPDX-License-Identifier: Apache-2.0

"""Trajectories: lines with blends, joint motions, waypoints, the papers' paths, knots."""

from robodyn.trajectories.base import Motion, Trajectory
from robodyn.trajectories.demonstration import demonstration
from robodyn.trajectories.handover import Handover
from robodyn.trajectories.line import JointLine, Line, plan_joints, plan_line, plan_line_rpy
from robodyn.trajectories.paper_paths import ARM_PATHS, PAPER_PATHS, arm_path, paper_path
from robodyn.trajectories.sampled import SampledTrajectory, knot_times
from robodyn.trajectories.sequence import Sequence
from robodyn.trajectories.waypoints import load_path

__all__ = [
    "ARM_PATHS",
    "PAPER_PATHS",
    "Handover",
    "JointLine",
    "Line",
    "Motion",
    "SampledTrajectory",
    "Sequence",
    "Trajectory",
    "arm_path",
    "demonstration",
    "knot_times",
    "load_path",
    "paper_path",
    "plan_joints",
    "plan_line",
    "plan_line_rpy",
]
