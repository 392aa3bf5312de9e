# SPDX-License-Identifier: Apache-2.0

"""Trajectories: lines, joint motions, waypoints with blends, sampled motions, papers' paths."""

from robodyn.trajectories.base import AtRest, Motion, Trajectory
from robodyn.trajectories.demonstration import demonstration
from robodyn.trajectories.fourier import FourierSeries, FourierTrajectory
from robodyn.trajectories.handover import Handover
from robodyn.trajectories.joint_points import BLEND, through_points
from robodyn.trajectories.line import JointLine, Line, plan_joints, plan_line, plan_line_rpy
from robodyn.trajectories.messages import (
    joint_rows,
    point_times,
    pose_array,
    sampled_trajectory,
    twist_array,
    without_turns,
)
from robodyn.trajectories.paper_paths import ARM_PATHS, PAPER_PATHS, arm_path, paper_path
from robodyn.trajectories.parabolic_blends import ViaPoints
from robodyn.trajectories.point_stream import PointStream, StreamedPoint
from robodyn.trajectories.profiles import (
    PEAK_SPEED,
    Cycloidal,
    ParabolicBlend,
    check_profile,
    cubic,
    make_profile,
    quintic,
    shortest_duration,
)
from robodyn.trajectories.sag_compensation import SagCompensation
from robodyn.trajectories.sampled import SampledTrajectory, knot_times
from robodyn.trajectories.sequence import Sequence
from robodyn.trajectories.straight import distance_to_start
from robodyn.trajectories.tip_joints import TipJoints, space_of
from robodyn.trajectories.tip_line import plan_tip_line
from robodyn.trajectories.waypoints import default_path, load_path

__all__ = [
    "ARM_PATHS", "BLEND", "PAPER_PATHS", "PEAK_SPEED", "AtRest", "Cycloidal", "FourierSeries",
    "FourierTrajectory", "Handover", "JointLine", "Line", "Motion", "ParabolicBlend",
    "PointStream", "SagCompensation", "SampledTrajectory", "Sequence", "StreamedPoint",
    "TipJoints", "Trajectory", "ViaPoints", "arm_path", "check_profile", "cubic",
    "default_path", "demonstration", "distance_to_start", "joint_rows", "knot_times",
    "load_path", "make_profile", "paper_path", "plan_joints", "plan_line", "plan_line_rpy",
    "plan_tip_line", "point_times", "pose_array", "quintic", "sampled_trajectory",
    "shortest_duration", "space_of", "through_points", "twist_array", "without_turns",
]  # fmt: skip
