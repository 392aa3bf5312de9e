"""Controllers: from a measured state and a trajectory to efforts."""

from robodyn.control.computed_torque import (
    ComputedTorque,
    ConstantEffort,
    Controller,
    Feedforward,
    GravityCompensation,
)
from robodyn.control.follower import Command, TrajectoryFollower
from robodyn.control.joint_space import JointMotion, joint_motion, platform_from_joints
from robodyn.control.watchdog import Watchdog, WatchdogState

__all__ = [
    "Command",
    "ComputedTorque",
    "ConstantEffort",
    "Controller",
    "Feedforward",
    "GravityCompensation",
    "JointMotion",
    "TrajectoryFollower",
    "Watchdog",
    "WatchdogState",
    "joint_motion",
    "platform_from_joints",
]
