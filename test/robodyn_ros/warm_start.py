# SPDX-License-Identifier: Apache-2.0

"""Processes of Python scripts that find the imports of the library made.

Python, numba and the library take a node most of the time that it needs to start. Here one process
imports them once, and forks for every node: the script runs as always, in a session, an environment
and a folder of its own. rclpy is not imported before, as it starts threads, which a fork loses.

Only where a script is started under the variables that the server was started under, and on Linux,
where a fork of the server's becomes a child of whoever asked for it. Otherwise `start` says None.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Modules that most nodes import, and that load most of scipy and of the standard library.
MODULES = (
    "robodyn.loading.load",
    "robodyn.control",
    "robodyn.planning",
    "robodyn.simulation",
    "robodyn.trajectories",
    "yaml",
)
# These may differ from those of the server; nothing reads them while it is imported.
OWN_VARIABLES = {
    "CYCLONEDDS_URI",
    "FASTDDS_DEFAULT_PROFILES_FILE",
    "FASTRTPS_DEFAULT_PROFILES_FILE",
    "PYTEST_CURRENT_TEST",
    "ROS_DOMAIN_ID",
}
# Cache of machine code of this run: a test with another one starts no server, which would fill it.
CACHE = os.environ.get("NUMBA_CACHE_DIR")
# More than a command with its environment [bytes].
MESSAGE = 1 << 18
# Linux, sys/prctl.h
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


class Forked:
    """Used part of `Popen`, for a process that the server has forked."""

    def __init__(self, pid: int, stdout: IO[str]) -> None:
        self.pid = pid
        self.stdout = stdout
        self._descriptor = os.pidfd_open(pid)
        self._code: int | None = None
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        with self._lock:
            if self._code is None:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self._code = os.waitstatus_to_exitcode(status)
                    os.close(self._descriptor)
            return self._code

    def wait(self, timeout: float) -> int:
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            left = deadline - time.monotonic()
            if left <= 0.0:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            with suppress(OSError):  # polled by another thread meanwhile
                select.select([self._descriptor], [], [], left)
        return code

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


class Server:
    """The process that has imported, seen from the tests."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = _fixed(environment)
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )

    def serves(self, environment: Mapping[str, str]) -> bool:
        return self._process.poll() is None and _fixed(environment) == self._environment

    def start(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path | None
    ) -> Forked:
        """Run a Python script; its output and its errors come from `stdout`."""
        task = {
            "command": list(command),
            "environment": dict(environment),
            "folder": str(folder or Path.cwd()),
            "parent": os.getpid(),
        }
        read, write = os.pipe()
        with self._lock:
            _adopt(True)
            socket.send_fds(self._channel, [json.dumps(task).encode()], [write])
            os.close(write)
            pid = int(self._channel.recv(32))
            _adopt(False)
        return Forked(pid, os.fdopen(read, errors="replace"))


def _fixed(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name not in OWN_VARIABLES}


def _adopt(yes: bool) -> None:
    """Whether forks of our children become ours when those end."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(yes))


_servers: list[Server] = []


def start(
    command: Sequence[str], environment: Mapping[str, str], folder: Path | None
) -> Forked | None:
    """Run a Python script by a fork of a process that has imported; None where that cannot be."""
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        return None
    if environment.get("NUMBA_CACHE_DIR") != CACHE:
        return None
    if not _servers:
        _servers.append(Server(environment))
    if not _servers[0].serves(environment):
        return None
    return _servers[0].start(command, environment, folder)


def load_kernels(model: str) -> None:
    """Load the machine code of a mechanism, and what all machine code needs."""
    import robodyn as rd
    from robodyn.warmup import warm_up, warm_up_watching

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mechanism = rd.load(model)
    warm_up(mechanism)
    warm_up_watching(mechanism)


def serve(channel: socket.socket) -> None:
    """Fork for each task in the server, until there are no more requests."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(channel, MESSAGE, 1)
        if not message:
            sys.exit()
        (output,) = descriptors
        task = json.loads(message)
        child = os.fork()
        if child:
            os.close(output)
            os.waitpid(child, 0)
            continue
        if os.fork():
            os._exit(0)
        while (
            os.getppid() != task["parent"]
        ):  # until then our end would be that of the one in between
            time.sleep(0.0005)
        _become(task, output)
        channel.sendall(str(os.getpid()).encode())
        channel.close()
        return


def _become(task: dict[str, object], output: int) -> None:
    """Make of the fork what `ros_harness.Process` makes of a process."""
    os.setsid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    for standard in (1, 2):
        os.dup2(output, standard)
    os.close(output)
    os.environ.clear()
    os.environ.update(task["environment"])
    os.chdir(task["folder"])
    sys.argv = list(task["command"])
    sys.path[0] = str(Path(sys.argv[0]).parent)


if __name__ == "__main__":
    # as a node does before it imports NumPy: threads would be lost by the fork
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    gc.disable()
    for name in MODULES:
        importlib.import_module(name)
    load_kernels("stewart_dasgupta")
    gc.freeze()
    gc.enable()
    assert len(os.listdir("/proc/self/task")) == 1
    serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_path(sys.argv[0], run_name="__main__")
