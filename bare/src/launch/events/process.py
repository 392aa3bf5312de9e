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

"""Events of processes."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..event import Event
from .matchers import matches_executable, matches_name, matches_pid

if TYPE_CHECKING:
    from ..actions import ExecuteProcess

__all__ = [
    "ProcessExited",
    "ProcessIO",
    "ProcessStarted",
    "ProcessStderr",
    "ProcessStdout",
    "ProcessTargetedEvent",
    "RunningProcessEvent",
    "ShutdownProcess",
    "SignalProcess",
    "matches_executable",
    "matches_name",
    "matches_pid",
]


class RunningProcessEvent(Event):
    """Something about a process that was started."""

    name = "launch.events.process.RunningProcessEvent"

    def __init__(
        self,
        *,
        action: ExecuteProcess,
        name: str,
        cmd: list[str],
        cwd: str | None,
        env: dict[str, str] | None,
        pid: int,
    ) -> None:
        """Keep what is known about the process."""
        self.action = action
        self.process_name = name
        self.cmd = cmd
        self.cwd = cwd
        self.env = env
        self.pid = pid

    @property
    def execute_process_action(self) -> ExecuteProcess:
        """The action, by upstream's older name."""
        return self.action


class ProcessStarted(RunningProcessEvent):
    """A process was started."""

    name = "launch.events.process.ProcessStarted"


class ProcessExited(RunningProcessEvent):
    """A process ended."""

    name = "launch.events.process.ProcessExited"

    def __init__(self, *, returncode: int, **kwargs: Any) -> None:
        """Keep the return code, negative for a signal."""
        super().__init__(**kwargs)
        self.returncode = returncode


class ProcessIO(RunningProcessEvent):
    """A process wrote something."""

    name = "launch.events.process.ProcessIO"
    from_stdin = False
    from_stdout = False
    from_stderr = False

    def __init__(self, *, text: bytes, **kwargs: Any) -> None:
        """Keep the bytes."""
        super().__init__(**kwargs)
        self.text = text


class ProcessStdout(ProcessIO):
    """A process wrote to its standard output."""

    name = "launch.events.process.ProcessStdout"
    from_stdout = True


class ProcessStderr(ProcessIO):
    """A process wrote to its standard error."""

    name = "launch.events.process.ProcessStderr"
    from_stderr = True


class ProcessTargetedEvent(Event):
    """Something to be done to the processes that a matcher selects."""

    name = "launch.events.process.ProcessTargetedEvent"

    def __init__(self, *, process_matcher: Callable[[ExecuteProcess], bool]) -> None:
        """Keep the matcher."""
        self.process_matcher = process_matcher


class ShutdownProcess(ProcessTargetedEvent):
    """Processes are to be shut down: SIGINT, then SIGTERM, then SIGKILL."""

    name = "launch.events.process.ShutdownProcess"


class SignalProcess(ProcessTargetedEvent):
    """Processes are to get a signal."""

    name = "launch.events.process.SignalProcess"

    def __init__(
        self,
        *,
        signal_number: str | signal.Signals | int,
        process_matcher: Callable[[ExecuteProcess], bool],
    ) -> None:
        """Keep the signal, given by number or by name."""
        super().__init__(process_matcher=process_matcher)
        by_name = isinstance(signal_number, str)
        self.signal = signal.Signals[signal_number] if by_name else signal.Signals(signal_number)

    @property
    def signal_name(self) -> str:
        """The signal's name, such as 'SIGINT'."""
        return self.signal.name
