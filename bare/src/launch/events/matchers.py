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

"""Matchers of processes, for `SignalProcess` and `ShutdownProcess`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def matches_action(target_action: Any) -> Callable[[Any], bool]:
    """Match the process of one action."""
    return lambda action: action is target_action


def matches_name(name: str) -> Callable[[Any], bool]:
    """Match a process by its final name, such as 'talker-1'."""
    return lambda action: (action.process_details or {}).get("name") == name


def matches_pid(pid: int) -> Callable[[Any], bool]:
    """Match a process by its id."""
    return lambda action: (action.process_details or {}).get("pid") == pid


def matches_executable(executable: str) -> Callable[[Any], bool]:
    """Match a process by the end of its command's first word."""
    return lambda action: (action.process_details or {"cmd": [""]})["cmd"][0].endswith(executable)
