# SPDX-License-Identifier: Apache-2.0

"""Real processes and a real node to talk to them: what every test over DDS is made of.

Nothing here decides a test by its timing: a wait ends as soon as its condition holds, and its
time-out only bounds how long a failing test takes.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import rclpy
import warm_start
from ament_index_python.packages import get_package_prefix
from rcl_interfaces.srv import ListParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from six_legs import six_legs

try:
    # without a sourced ROS 2, bare/ sets what sourcing would set
    from robodyn_bare.environment import prepare
except ImportError:
    pass
else:
    prepare()

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rclpy.publisher import Publisher

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
os.environ["PYTHONUNBUFFERED"] = "1"
os.environ["PYTHONFAULTHANDLER"] = "1"
os.environ["RCUTILS_COLORIZED_OUTPUT"] = "0"

# Timeout for a busy machine; normally waits are much shorter.
PATIENCE = 150.0
# Timeout of a turn of an executor [s]. With a timeout other than the last one, rclpy drops the rest
# of what is ready and begins with the timers again: nodes on a busy machine received no message.
TURN = 0.01

RELIABLE = QoSProfile(history=HistoryPolicy.KEEP_ALL, reliability=ReliabilityPolicy.RELIABLE)
LATCHED = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)

# Linux, sys/prctl.h
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None

T = TypeVar("T")
_domains = itertools.count(os.getpid() * 13)
# as many as one test module may have waiting at a time
MARKS = 16
_marks: deque[socket.socket] = deque()


def free_domain() -> int:
    """Return a ROS domain, 1..100, that no process on this machine uses or is about to use.

    DDS takes 250 ports from 7400 + 250 * domain on, but a launch only some seconds after it was
    told its domain. So that no other test takes the same meanwhile, the last of these ports, which
    DDS itself does not reach, is held for a while.
    """
    for _ in range(100):
        domain = 1 + next(_domains) % 100
        first = 7400 + 250 * domain
        if any(first <= port < first + 250 for port in _udp_ports()):
            continue
        mark = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            mark.bind(("127.0.0.1", first + 249))
        except OSError:  # another was quicker
            mark.close()
            continue
        if len(_marks) == MARKS:
            _marks.popleft().close()
        _marks.append(mark)
        return domain
    raise RuntimeError("no ROS domain is free on this machine")


def _udp_ports() -> set[int]:
    rows = Path("/proc/net/udp").read_text().splitlines()[1:]
    return {int(row.split()[1].split(":")[1], 16) for row in rows}


def executable(name: str) -> str:
    """Path of a node of the package `robodyn`, where `ros2 run` would find it."""
    return str(Path(get_package_prefix("robodyn"), "lib", "robodyn", name))


def ros_arguments(parameters: Mapping[str, object], *more: str) -> list[str]:
    """Return the command-line arguments that set parameters."""
    words = [w for name, value in parameters.items() for w in ("-p", f"{name}:={_yaml(value)}")]
    return ["--ros-args", *words, *more]


def _yaml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _die_with_the_test() -> None:
    """End the processes of a test with it, also if the test itself is killed.

    Ctrl-C reaches it as in a terminal, also where the tests run in the background of a shell.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def zero_length_pose(platform: Any) -> np.ndarray:
    """A pose (7,) of a platform in which the ends of its first leg lie on each other."""
    leg = six_legs(platform).legs[0]
    return np.append(np.array(leg.base) - np.array(leg.platform), [0.0, 0.0, 0.0, 1.0])


class Process:
    """A command in a session of its own; its output is collected as it comes."""

    def __init__(self, command: Sequence[str], domain: int | str, cwd: Path | None = None) -> None:
        self.lines: list[str] = []
        self._news = threading.Condition()
        environment = {**os.environ, "ROS_DOMAIN_ID": str(domain)}
        warm = warm_start.start(command, environment, cwd) if _is_node(command) else None
        self._popen = warm or subprocess.Popen(
            command,
            env=environment,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=_die_with_the_test,
        )
        self.pid = self._popen.pid
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._popen.stdout is not None
        for line in self._popen.stdout:
            with self._news:
                self.lines.append(line.rstrip("\n"))
                self._news.notify_all()
        with self._news:
            self._news.notify_all()

    @property
    def output(self) -> str:
        """All that was written so far."""
        return "\n".join(self.lines)

    @property
    def alive(self) -> bool:
        return self._popen.poll() is None

    def wait_for_line(self, *texts: str, times: int = 1, timeout: float = PATIENCE) -> str:
        """The n-th line that holds all texts; fails when the process ends without it."""
        deadline = time.monotonic() + timeout
        with self._news:
            while True:
                found = [line for line in self.lines if all(text in line for text in texts)]
                if len(found) >= times:
                    return found[times - 1]
                ended = not self._reader.is_alive()
                left = deadline - time.monotonic()
                if ended or left <= 0.0:
                    why = "ended" if ended else f"in {timeout:g} s"
                    raise AssertionError(f"no line with {texts} ({why}):\n{self.output}")
                self._news.wait(min(left, 0.2))

    def provoke(self, action: Callable[[], object], *texts: str, timeout: float = PATIENCE) -> str:
        """Repeat an action until a new line holds all texts; what is logged may be throttled."""
        known = len(self.lines)
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            assert self.alive, self.output
            action()
            with self._news:
                self._news.wait(0.3)
            for line in self.lines[known:]:
                if all(text in line for text in texts):
                    return line
        raise AssertionError(f"no line with {texts} in {timeout:g} s:\n{self.output}")

    def wait(self, timeout: float = PATIENCE) -> int:
        """The exit code; fails when it does not end."""
        try:
            code = self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {timeout:g} s:\n{self.output}") from None
        self._reader.join(5.0)
        return code

    def signal(self, number: signal.Signals) -> None:
        self._popen.send_signal(number)

    def close(self) -> None:
        """End it if it still runs, with all that it started."""
        if self.alive:
            self.signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                self._popen.wait(15.0)
        for pid in session_of(self.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._popen.wait(15.0)
        self._reader.join(5.0)


def _is_node(command: Sequence[str]) -> bool:
    """Whether a command is one of our nodes, whose executables are Python scripts."""
    return Path(command[0]).parent == Path(executable(""))


def session_of(leader: int) -> dict[int, str]:
    """Every living process, by id, of the session that a process opened, with its command."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with suppress(OSError):
            # "pid (command) state ppid pgrp session ...", and the command may hold blanks
            state, _, _, session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
            if int(session) == leader and state != "Z":
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                found[int(folder.name)] = command
    return found


class Peer:
    """A node in the test process; it stops waiting when one of its partners has ended."""

    def __init__(self, domain: int, name: str = "peer") -> None:
        self.domain = domain
        self.partners: list[Process] = []
        self._context = rclpy.Context()
        rclpy.init(args=[], context=self._context, domain_id=domain)
        self.node = rclpy.create_node(name, context=self._context, use_global_arguments=False)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._received = 0
        # when the latest message of each topic was sent, on the clock of time.time_ns
        self._sent: dict[str, int] = {}
        self._topics = 0

    def close(self) -> None:
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def spin(self, seconds: float) -> None:
        """Spin for a while, and then until all received messages are processed.

        On a busy machine messages are queued for longer than they are listened to. A topic on
        which messages keep coming is heard once one of them was sent after the while.
        """
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._executor.spin_once(timeout_sec=TURN)
        end, idle, turns = time.time_ns(), 0, 0
        self._sent.clear()
        # after a turn each, every topic with messages has been received
        while idle < 3 and not (turns > self._topics and min(self._sent.values(), default=0) > end):
            known = self._received
            self._executor.spin_once(timeout_sec=0.0)
            idle = idle + 1 if self._received == known else 0
            turns += 1

    def until(self, condition: Callable[[], T], what: str, timeout: float = PATIENCE) -> T:
        """Spin until the condition returns a true value, and return it."""
        deadline = time.monotonic() + timeout
        while not (answer := condition()):
            if time.monotonic() > deadline:
                raise AssertionError(f"not in {timeout:g} s: {what}")
            for partner in self.partners:
                assert partner.alive, f"waiting for {what}, a partner ended:\n{partner.output}"
            self._executor.spin_once(timeout_sec=0.05)
        return answer

    def listen(self, kind: type[T], topic: str, qos: QoSProfile = RELIABLE) -> list[T]:
        """A list to which every message on a topic is appended; its publisher is there already."""
        received: list[T] = []

        def receive(message: T, info: dict[str, int]) -> None:
            received.append(message)
            self._received += 1
            self._sent[topic] = info["source_timestamp"]

        subscription = self.node.create_subscription(kind, topic, receive, qos)
        self._topics += 1
        self.until(subscription_matched(self.node, subscription), f"a publisher of {topic}")
        return received

    def publisher(self, kind: type, topic: str, listeners: int = 1) -> Publisher:
        """A publisher that so many listeners have found."""
        publisher = self.node.create_publisher(kind, topic, RELIABLE)
        self.until(
            lambda: publisher.get_subscription_count() >= listeners, f"{listeners} on {topic}"
        )
        return publisher

    def call(self, kind: type, name: str, request: Any = None) -> Any:
        """Call a service of a node and return its response."""
        client = self.node.create_client(kind, name)
        self.until(client.service_is_ready, f"service {name}")
        self.wait_until_known(name.rpartition("/")[0])
        future = client.call_async(kind.Request() if request is None else request)
        self.until(future.done, f"an answer of {name}")
        self.node.destroy_client(client)
        return future.result()

    def wait_until_known(self, node: str) -> None:
        """Wait until a node knows every client that was created here so far.

        A server knows of a client later than the client of it, and its responses until then are
        lost. It learns of clients in their order, so that it knows all earlier ones as soon as a
        later one has a response. This one may ask again and again, as it changes nothing.
        """
        client = self.node.create_client(ListParameters, f"{node}/list_parameters")
        futures: list[Any] = []

        def is_answered() -> bool:
            if client.service_is_ready():
                futures.append(client.call_async(ListParameters.Request()))
                self.spin(TURN * len(futures))
            return any(future.done() for future in futures)

        self.until(is_answered, f"parameters of {node}")
        self.node.destroy_client(client)


def subscription_matched(node: rclpy.node.Node, subscription: Any) -> Callable[[], bool]:
    """Whether a publisher of its topic is known to the node and to the subscription itself."""
    return lambda: (
        node.count_publishers(subscription.topic_name) > 0
        and subscription.get_publisher_count() > 0
    )
