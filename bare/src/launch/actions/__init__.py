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

"""Actions, under upstream's names."""

from .configurations import (
    PopLaunchConfigurations,
    PushLaunchConfigurations,
    ResetLaunchConfigurations,
    SetLaunchConfiguration,
    UnsetLaunchConfiguration,
)
from .declare_launch_argument import DeclareLaunchArgument
from .environment import (
    AppendEnvironmentVariable,
    PopEnvironment,
    PushEnvironment,
    ResetEnvironment,
    SetEnvironmentVariable,
    UnsetEnvironmentVariable,
)
from .events import EmitEvent, RegisterEventHandler, Shutdown, UnregisterEventHandler
from .execute_process import ExecuteProcess
from .group_action import GroupAction
from .include_launch_description import IncludeLaunchDescription
from .log_info import LogInfo
from .opaque_function import OpaqueFunction
from .timer_action import TimerAction

__all__ = [
    "AppendEnvironmentVariable",
    "DeclareLaunchArgument",
    "EmitEvent",
    "ExecuteProcess",
    "GroupAction",
    "IncludeLaunchDescription",
    "LogInfo",
    "OpaqueFunction",
    "PopEnvironment",
    "PopLaunchConfigurations",
    "PushEnvironment",
    "PushLaunchConfigurations",
    "RegisterEventHandler",
    "ResetEnvironment",
    "ResetLaunchConfigurations",
    "SetEnvironmentVariable",
    "SetLaunchConfiguration",
    "Shutdown",
    "TimerAction",
    "UnregisterEventHandler",
    "UnsetEnvironmentVariable",
    "UnsetLaunchConfiguration",
]
