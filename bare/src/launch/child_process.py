# SPDX-License-Identifier: Apache-2.0

"""One process of the operating system, in a group of its own, with its output read by lines."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence

STDOUT, STDERR = 1, 2
# Longest time [s] for which the last lines of a process are read from the pipes after its end. The
# limit is needed because a process that it has started may keep the pipes open.
LAST_LINES = 0.5


def _killed_with_us(cmd: Sequence[str]) -> list[str]:
    """Return the command such that Linux kills its process when this one ends, even by SIGKILL.

    `setpriv` is part of util-linux. Without it a launch that is killed leaves its processes behind,
    as upstream's does.
    """
    setpriv = shutil.which("setpriv")
    return [*cmd] if setpriv is None else [setpriv, "--pdeathsig", "KILL", "--", *cmd]


class _Lines:
    """Splits bytes into lines."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    def add(self, data: bytes) -> list[str]:
        """Return the lines that are complete now."""
        *lines, self._rest = (self._rest + self._decoder.decode(data)).split("\n")
        return [line.rstrip("\r") for line in lines]

    def end(self) -> list[str]:
        """Return the last line if no newline ended it."""
        return [self._rest] if self._rest else []


class ChildProcess(asyncio.SubprocessProtocol):
    """A process; `on_line(source, line)` gets its lines, with STDOUT or STDERR as the source.

    `on_start(pid)` is called before its first line.

    Attributes:
        pid: its process id, and that of its group.
    """

    def __init__(
        self, on_start: Callable[[int], None], on_line: Callable[[int, str], None]
    ) -> None:
        """Prepare; `start` starts it."""
        loop = asyncio.get_running_loop()
        self._exited, self._closed = loop.create_future(), loop.create_future()
        self._lines = {STDOUT: _Lines(), STDERR: _Lines()}
        self._on_start, self._on_line = on_start, on_line
        self._signalled = False

    async def start(self, cmd: Sequence[str]) -> None:
        """Start it in the environment and folder of this process. Raises OSError."""
        await asyncio.get_running_loop().subprocess_exec(
            lambda: self,
            *_killed_with_us(cmd),
            stdin=subprocess.PIPE,
            preexec_fn=os.setpgrp,
        )

    def connection_made(self, transport: asyncio.SubprocessTransport) -> None:
        """Called when it has started."""
        self._transport = transport
        self.pid = transport.get_pid()
        self._on_start(self.pid)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Called when it has written something."""
        for line in self._lines[fd].add(data):
            self._on_line(fd, line)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Called when one of its outputs is closed."""
        for line in self._lines[fd].end() if fd in self._lines else ():
            self._on_line(fd, line)

    def process_exited(self) -> None:
        """Called when it has ended."""
        self._exited.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called when it has ended and nothing can write to its pipes any more."""
        if not self._closed.done():
            self._closed.set_result(None)

    @property
    def has_ended(self) -> bool:
        """Whether it has ended."""
        return self._exited.done()

    async def wait(self) -> int:
        """Wait until it has ended; return its return code, negative for a signal."""
        await self._exited
        await asyncio.wait([self._closed], timeout=LAST_LINES)
        if self._signalled:
            # It was requested to stop, so the processes that it has left behind must end, too.
            self.send_signal(signal.SIGKILL)
        self._transport.close()
        return self._transport.get_returncode()

    def send_signal(self, signum: signal.Signals) -> None:
        """Send a signal to the process and to all it has started that are still in its group."""
        self._signalled = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signum)
