# SPDX-License-Identifier: Apache-2.0

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
    """Return a function that returns whether an action is this one."""
    return lambda action: action is target_action
