# SPDX-License-Identifier: Apache-2.0

"""Controllers, which compute efforts from a measured state and a trajectory."""

from robodyn.control.active_trajectory import ActiveTrajectory
from robodyn.control.command_units import COMMAND_UNITS, CommandUnit
from robodyn.control.computed_torque import (
    ComputedTorque,
    ConstantEffort,
    Controller,
    Feedforward,
    GravityCompensation,
    reduced_efforts,
)
from robodyn.control.conditioning import (
    ERROR,
    OK,
    WARN,
    ConditionLevel,
    condition_rate,
    speed_scale,
    weakest_direction,
)
from robodyn.control.follower import TrajectoryFollower
from robodyn.control.follower_settings import Command, FollowerSettings
from robodyn.control.goal_watch import Errors, GoalCode, GoalWatch, Tolerances, resolve_tolerance
from robodyn.control.joint_readings import JointReadings, foreign_names
from robodyn.control.joint_space import JointMotion, joint_motion, trajectory_from_joints
from robodyn.control.limited_motions import limited_handover, limited_stop
from robodyn.control.lookahead import look_ahead, needs_regularity
from robodyn.control.path_clock import PathClock
from robodyn.control.path_progress import PathProgress
from robodyn.control.path_tolerance import DEFAULT_TOLERANCE, describe_deviation, path_tolerances
from robodyn.control.singularity import motion_singularities, singular_times, threshold_crossings
from robodyn.control.slowing import SpeedScale
from robodyn.control.state_stamps import SELECTION_COUNT, PublisherVote, StateStamps
from robodyn.control.watchdog import EffortRampDown, Watchdog, WatchdogState

__all__ = [
    "COMMAND_UNITS",
    "DEFAULT_TOLERANCE",
    "ERROR",
    "OK",
    "SELECTION_COUNT",
    "WARN",
    "ActiveTrajectory",
    "Command",
    "CommandUnit",
    "ComputedTorque",
    "ConditionLevel",
    "ConstantEffort",
    "Controller",
    "EffortRampDown",
    "Errors",
    "Feedforward",
    "FollowerSettings",
    "GoalCode",
    "GoalWatch",
    "GravityCompensation",
    "JointMotion",
    "JointReadings",
    "PathClock",
    "PathProgress",
    "PublisherVote",
    "SpeedScale",
    "StateStamps",
    "Tolerances",
    "TrajectoryFollower",
    "Watchdog",
    "WatchdogState",
    "condition_rate",
    "describe_deviation",
    "foreign_names",
    "joint_motion",
    "limited_handover",
    "limited_stop",
    "look_ahead",
    "motion_singularities",
    "needs_regularity",
    "path_tolerances",
    "reduced_efforts",
    "resolve_tolerance",
    "singular_times",
    "speed_scale",
    "threshold_crossings",
    "trajectory_from_joints",
    "weakest_direction",
]  # fmt: skip
