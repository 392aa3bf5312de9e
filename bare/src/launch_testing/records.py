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

"""What the processes of a launch have written so far, and how they ended."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from launch.events.process import ProcessExited, ProcessIO, RunningProcessEvent


def matches(process: Any, event: RunningProcessEvent) -> bool:
    """Whether an event is of a process, given as its action or as a part of its name."""
    if isinstance(process, str):
        return process in event.process_name
    return process is event.action


class ProcessInfo:
    """The processes that have ended, in that order."""

    def __init__(self) -> None:
        """Begin with none."""
        self._changed = threading.Condition()
        self._exited: list[ProcessExited] = []

    def append(self, event: ProcessExited) -> None:
        """Add one."""
        with self._changed:
            self._exited.append(event)
            self._changed.notify_all()

    def __iter__(self) -> Iterator[ProcessExited]:
        """Iterate over those that have ended so far."""
        with self._changed:
            return iter(list(self._exited))

    def assertWaitForShutdown(self, process: Any, timeout: float = 10) -> None:  # noqa: N802
        """Fail when a process has not ended in time [s]."""
        with self._changed:
            ended = self._changed.wait_for(
                lambda: any(matches(process, event) for event in self._exited), timeout
            )
        assert ended, f"Timed out waiting for process '{process}' to finish"


class ProcessOutput:
    """Every piece of output, in the order it came."""

    def __init__(self) -> None:
        """Begin with none."""
        self._changed = threading.Condition()
        self._events: list[ProcessIO] = []

    def append(self, event: ProcessIO) -> None:
        """Add a piece."""
        with self._changed:
            self._events.append(event)
            self._changed.notify_all()

    def __iter__(self) -> Iterator[ProcessIO]:
        """Iterate over what came so far."""
        with self._changed:
            return iter(list(self._events))

    def waitFor(  # noqa: N802
        self,
        expected_output: str | list[str],
        process: Any = None,
        timeout: float = 10,
        stream: str = "stderr",
    ) -> bool:
        """Wait until one process has written all of these texts, and tell whether it has."""
        texts = [expected_output] if isinstance(expected_output, str) else list(expected_output)

        def written() -> bool:
            streams: dict[str, str] = {}
            for event in self._events:
                right = stream == "both" or event.from_stdout == (stream == "stdout")
                if right and (process is None or matches(process, event)):
                    name = event.process_name
                    streams[name] = streams.get(name, "") + event.text.decode(errors="replace")
            return any(all(text in whole for text in texts) for whole in streams.values())

        with self._changed:
            return self._changed.wait_for(written, timeout)

    def assertWaitFor(self, *args: Any, **kwargs: Any) -> None:  # noqa: N802
        """Fail when they have not been written in time [s]."""
        assert self.waitFor(*args, **kwargs), f"Waiting for output timed out: {args}"
