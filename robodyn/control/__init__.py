# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Controllers: from a measured state and a trajectory to efforts."""

from robodyn.control.command_units import COMMAND_UNITS, CommandUnit
from robodyn.control.computed_torque import (
    ComputedTorque,
    ConstantEffort,
    Controller,
    Feedforward,
    GravityCompensation,
)
from robodyn.control.follower import Command, TrajectoryFollower
from robodyn.control.joint_space import JointMotion, joint_motion, trajectory_from_joints
from robodyn.control.path_tolerance import path_tolerances
from robodyn.control.watchdog import LettingGo, Watchdog, WatchdogState

__all__ = [
    "COMMAND_UNITS",
    "Command",
    "CommandUnit",
    "ComputedTorque",
    "ConstantEffort",
    "Controller",
    "Feedforward",
    "GravityCompensation",
    "JointMotion",
    "LettingGo",
    "TrajectoryFollower",
    "Watchdog",
    "WatchdogState",
    "joint_motion",
    "path_tolerances",
    "trajectory_from_joints",
]
