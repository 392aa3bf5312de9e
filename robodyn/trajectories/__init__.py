# SPDX-License-Identifier: Apache-2.0

"""Trajectories: lines with blends, joint motions, waypoints, the papers' paths, knots."""

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
