# SPDX-License-Identifier: Apache-2.0

"""A motion platform as a machine: states, homing, and set-points within limits."""

from robodyn.motion_base.machine.command_gate import CommandGate, CommandRefused
from robodyn.motion_base.machine.commander import PositionCommander, SetPoint
from robodyn.motion_base.machine.homing import HOMINGS
from robodyn.motion_base.machine.limits import DriveLimits
from robodyn.motion_base.machine.machine import Machine, MachineSettings
from robodyn.motion_base.machine.machine_states import (
    EVENTS,
    REQUESTS,
    STATES,
    TRANSITIONS,
    RequestRefused,
    after,
)
from robodyn.motion_base.machine.motion_sources import (
    LateSetPoint,
    PointSource,
    PoseStream,
    TrajectorySource,
    goal,
)
from robodyn.motion_base.machine.servo_text import ServoText
from robodyn.motion_base.machine.set_points import SetPoints
from robodyn.motion_base.machine.stabilized import StabilizedSource, seen_from
from robodyn.motion_base.machine.workspace import Workspace

__all__ = [
    "EVENTS", "HOMINGS", "REQUESTS", "STATES", "TRANSITIONS", "CommandGate", "CommandRefused",
    "DriveLimits", "LateSetPoint", "Machine", "MachineSettings", "PointSource", "PoseStream",
    "PositionCommander", "RequestRefused", "ServoText", "SetPoint", "SetPoints",
    "StabilizedSource", "TrajectorySource", "Workspace", "after", "goal", "seen_from",
]  # fmt: skip
