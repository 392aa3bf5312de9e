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
