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

"""Events of the launch itself; those of processes are in `launch.events.process`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..event import Event
from . import process
from .matchers import matches_action

if TYPE_CHECKING:
    from ..actions import TimerAction
    from ..launch_description import LaunchDescription

__all__ = ["IncludeLaunchDescription", "Shutdown", "TimerEvent", "matches_action", "process"]


class IncludeLaunchDescription(Event):
    """A launch description is to be visited."""

    name = "launch.events.IncludeLaunchDescription"

    def __init__(self, launch_description: LaunchDescription) -> None:
        """Keep the description."""
        self.launch_description = launch_description


class Shutdown(Event):
    """The launch is to shut down, with all its processes."""

    name = "launch.events.Shutdown"

    def __init__(self, *, reason: str = "reason not given", due_to_sigint: bool = False) -> None:
        """Keep the reason."""
        self.reason = reason
        self.due_to_sigint = due_to_sigint


class TimerEvent(Event):
    """A timer has run out."""

    name = "launch.events.TimerEvent"

    def __init__(self, *, timer_action: TimerAction) -> None:
        """Keep the timer."""
        self.timer_action = timer_action
