# SPDX-License-Identifier: Apache-2.0

"""Runs the `ros2` of bare/ as a user would, with a small package that is "installed" editable."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("robodyn_bare") is None:  # real ROS 2 is used instead
    collect_ignore_glob = ["test_*.py"]

HERE = Path(__file__).parent
PACKAGE = HERE / "package"
ROS2 = Path(sys.executable).with_name("ros2")
PATIENCE = 20.0


def processes_with(token: str) -> list[int]:
    """Return the ids of the processes whose command line holds the token."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if token.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def wait_until(condition: Callable[[], object], what: str) -> None:
    """Wait for the condition, patiently."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited too long for {what}"
        time.sleep(0.02)


class Running:
    """A process in the background whose lines are collected as they come."""

    def __init__(self, cmd: list[str], env: dict[str, str], cwd: Path) -> None:
        self.popen = subprocess.Popen(
            cmd,
            env=env,
            cwd=cwd,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            # as in a terminal, also where the tests run in the background of a shell
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.popen.stdout:
            self.lines.append(line.rstrip("\n"))

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def wait_for(self, words: str) -> str:
        """Wait for a line with these words and return it."""

        def found() -> list[str]:
            return [line for line in list(self.lines) if words in line]

        wait_until(lambda: found() or self.popen.poll() is not None, f"{words!r} in {self.text}")
        if not found():
            self._reader.join(PATIENCE)
        assert found(), f"no {words!r} in:\n{self.text}"
        return found()[0]

    def end(self, signum: signal.Signals | None = None) -> int:
        """Send a signal, if any, and return the exit code."""
        if signum is not None:
            self.popen.send_signal(signum)
        code = self.popen.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code

    def clean_up(self) -> None:
        if self.popen.poll() is None:
            self.popen.kill()
            self.popen.wait()


class Cli:
    """Starts `ros2` in an environment of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.installed = folder / "installed"
        install(PACKAGE, self.installed)
        path = [str(self.installed), str(PACKAGE)]
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("ROS_", "AMENT_"))},
            "PYTHONPATH": os.pathsep.join(path),
            "ROS_DOMAIN_ID": "77",
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "ROS_LOG_DIR": str(folder / "log"),
            "HOME": str(folder),
        }
        self.started: list[Running] = []

    def start(self, *words: str, **env: str) -> Running:
        """Start `ros2 ...` in the background."""
        running = Running([str(ROS2), *words], {**self.env, **env}, self.folder)
        self.started.append(running)
        return running

    def __call__(self, *words: str, **env: str) -> subprocess.CompletedProcess:
        """Run `ros2 ...` to its end."""
        return subprocess.run(
            [str(ROS2), *words],
            env={**self.env, **env},
            cwd=self.folder,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=2 * PATIENCE,
        )

    def write(self, body: str) -> str:
        """Write a launch file whose description is the body; return its path."""
        path = self.folder / f"written_{uuid.uuid4().hex}.launch.py"
        path.write_text(HEADER + body, encoding="utf-8")
        return str(path)


HEADER = """
import sys
from launch import LaunchDescription
from launch.actions import *
from launch.event_handlers import OnProcessExit, OnProcessIO
from launch.events import Shutdown, matches_action
from launch.events.process import ShutdownProcess
from launch.substitutions import *
from launch_ros.actions import Node

def python(code, *words, **kwargs):
    return ExecuteProcess(cmd=[sys.executable, '-c', code, *words], **kwargs)

def on_exit(process, function):
    return RegisterEventHandler(OnProcessExit(target_action=process, on_exit=function))

def sleeper(*words, **kwargs):
    code = 'import time\\ntry: print("up", flush=True); time.sleep(600)\\n' \\
           'except KeyboardInterrupt: print("interrupted", flush=True)'
    return python(code, *words, **kwargs)
"""


def install(package: Path, folder: Path) -> None:
    """Write what `pip install --editable` records of a package."""
    info = folder / "bare_demo-0.0.1.dist-info"
    info.mkdir(parents=True)
    record = {"url": package.as_uri(), "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(record))
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bare-demo\nVersion: 0.0.1\n")
    (info / "entry_points.txt").write_text(
        "[console_scripts]\ntalker = bare_demo.talker:main\ntool = bare_demo.tool:main\n"
    )


@contextlib.contextmanager
def cli(folder: Path) -> Iterator[Cli]:
    made = Cli(folder)
    try:
        yield made
    finally:
        for running in made.started:
            running.clean_up()


@pytest.fixture
def ros2(tmp_path: Path) -> Iterator[Cli]:
    """The `ros2` command."""
    with cli(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def shared_ros2(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """Provide the fixture for a whole module."""
    with cli(tmp_path_factory.mktemp("ros2")) as made:
        yield made


@pytest.fixture
def token() -> Iterator[str]:
    """A word to be found in command lines; at the end no process may have it."""
    word = f"token{uuid.uuid4().hex}"
    yield word
    wait_until(lambda: not processes_with(word), "the processes to be gone")


@pytest.fixture
def until() -> Callable[[Callable[[], object], str], None]:
    """Wait for a condition: until(condition, what it is)."""
    return wait_until


@pytest.fixture
def pids_with() -> Callable[[str], list[int]]:
    """The ids of the processes with a word in their command line."""
    return processes_with
