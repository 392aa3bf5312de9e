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

"""One process of the operating system, in a group of its own, with its output read by lines."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence

LineCallback = Callable[[int, str], None]

PR_SET_PDEATHSIG = 1
# Loaded before any fork: the child must do as little as possible.
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def _own_group_bound_to(parent: int) -> Callable[[], None]:
    """Return what the child does first: leave the parent's group, but not outlive the parent.

    Without the death signal (Linux only) a launch that is killed with SIGKILL leaves orphans.
    """

    def prepare() -> None:
        os.setpgid(0, 0)
        if _libc is not None:
            _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != parent:
                os._exit(1)

    return prepare


class _Lines(asyncio.Protocol):
    """Splits what arrives on a pipe into lines."""

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._on_line = on_line
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + self._decoder.decode(data)).split("\n")
        for line in lines:
            self._on_line(line.rstrip("\r"))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._rest:
            self._on_line(self._rest)
        if not self.closed.done():
            self.closed.set_result(None)


class ChildProcess:
    """A started process; `on_line(source, line)` gets its lines, source 0 is stdout, 1 stderr."""

    def __init__(
        self,
        cmd: str | Sequence[str],
        *,
        cwd: str | None,
        env: Mapping[str, str] | None,
        emulate_tty: bool,
        on_line: LineCallback,
    ) -> None:
        """Start it; text instead of a list of words is run by a shell. Raises OSError."""
        ends = [os.openpty() if emulate_tty else os.pipe() for _ in range(2)]
        try:
            self._popen = subprocess.Popen(
                cmd,
                shell=isinstance(cmd, str),
                cwd=cwd,
                env=env,
                stdin=subprocess.PIPE,
                stdout=ends[0][1],
                stderr=ends[1][1],
                preexec_fn=_own_group_bound_to(os.getpid()),
            )
        except BaseException:
            for read_end, _ in ends:
                os.close(read_end)
            raise
        finally:
            for _, write_end in ends:
                os.close(write_end)
        self.pid = self._popen.pid
        self.returncode: int | None = None
        self._read_ends = [read_end for read_end, _ in ends]
        self._on_line = on_line
        self._signalled = False

    async def wait(self) -> int:
        """Read its output until it has ended; return its code, negative for a signal."""
        loop = asyncio.get_running_loop()
        readers = []
        for source, read_end in enumerate(self._read_ends):
            readers.append(
                await loop.connect_read_pipe(
                    lambda source=source: _Lines(lambda line: self._on_line(source, line)),
                    os.fdopen(read_end, "rb", 0),
                )
            )
        await self._exited()
        # The last lines are still in the pipes. What the process started may keep them open, so
        # do not wait for ever.
        await asyncio.wait([protocol.closed for _, protocol in readers], timeout=0.5)
        if self._signalled:
            # It was told to stop; so was all that it started and that is still in its group. The
            # group's number cannot have been given to others: its leader is not reaped yet.
            self.send_signal(signal.SIGKILL)
        for transport, _ in readers:
            transport.close()
        self._popen.stdin.close()
        self.returncode = self._popen.wait()
        return self.returncode

    async def _exited(self) -> None:
        """Wait until the process is a zombie; it is reaped later, so its id stays taken."""
        loop = asyncio.get_running_loop()
        try:
            handle = os.pidfd_open(self.pid)
        except (AttributeError, OSError):
            # Not Linux, or an old kernel.
            while not os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                await asyncio.sleep(0.02)
            return
        done = loop.create_future()
        loop.add_reader(handle, lambda: done.done() or done.set_result(None))
        try:
            await done
        finally:
            loop.remove_reader(handle)
            os.close(handle)

    def send_signal(self, signum: signal.Signals) -> None:
        """Send a signal to the process and to all it started that is still in its group."""
        self._signalled = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signum)
