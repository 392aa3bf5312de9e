# SPDX-License-Identifier: Apache-2.0

"""Events of processes."""

from __future__ import annotations

from collections.abc import Callable

from ..action import Action
from ..event import Event


class ProcessExited(Event):
    """The process of an action has ended.

    Attributes:
        action: the action that started it.
        process_name: such as 'talker-1'.
        returncode: negative if a signal ended it.
    """

    def __init__(self, *, action: Action, process_name: str, returncode: int) -> None:
        """Keep them."""
        self.action = action
        self.process_name = process_name
        self.returncode = returncode


class ProcessIO(Event):
    """The process of an action has written a line to its standard output or error."""

    def __init__(self, *, action: Action, text: bytes, fd: int, **_process: object) -> None:
        """Store the line; ROS 2's event also contains its process."""
        self.action = action
        self.text = text
        self.from_stdout = fd == 1


class ShutdownProcess(Event):
    """Processes are to be shut down: by SIGINT, then SIGTERM, then SIGKILL."""

    def __init__(self, *, process_matcher: Callable[[Action], bool]) -> None:
        """Keep the function that selects the processes by their actions."""
        self.process_matcher = process_matcher
