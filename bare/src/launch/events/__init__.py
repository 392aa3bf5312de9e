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

from collections.abc import Callable

from ..action import Action
from ..event import Event

__all__ = ["Shutdown", "matches_action"]


class Shutdown(Event):
    """The launch is to shut down, with all its processes."""

    def __init__(self, *, reason: str = "reason not given") -> None:
        """Keep the reason."""
        self.reason = reason


def matches_action(target_action: Action) -> Callable[[Action], bool]:
    """Return a function that tells whether an action is this one."""
    return lambda action: action is target_action
