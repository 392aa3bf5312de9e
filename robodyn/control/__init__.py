# SPDX-License-Identifier: Apache-2.0

"""Controllers, which compute efforts from a measured state and a trajectory."""

from robodyn.control.command_units import COMMAND_UNITS, CommandUnit
from robodyn.control.computed_torque import (
    ComputedTorque,
    ConstantEffort,
    Controller,
    Feedforward,
    GravityCompensation,
)
from robodyn.control.follower import TrajectoryFollower
from robodyn.control.follower_settings import Command, FollowerSettings
from robodyn.control.joint_space import JointMotion, joint_motion, trajectory_from_joints
from robodyn.control.path_tolerance import path_tolerances
from robodyn.control.watchdog import EffortRampDown, Watchdog, WatchdogState

__all__ = [
    "COMMAND_UNITS",
    "Command",
    "CommandUnit",
    "ComputedTorque",
    "ConstantEffort",
    "Controller",
    "EffortRampDown",
    "Feedforward",
    "FollowerSettings",
    "GravityCompensation",
    "JointMotion",
    "TrajectoryFollower",
    "Watchdog",
    "WatchdogState",
    "joint_motion",
    "path_tolerances",
    "trajectory_from_joints",
]
