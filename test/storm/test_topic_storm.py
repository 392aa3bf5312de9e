# SPDX-License-Identifier: Apache-2.0

"""Hostile messages on every topic that a node subscribes to: all nodes live, commands stay sound.

A few nodes run at a time, each as a process of its own, over DDS. The graph lists their topics, and
the type of a message its fields. Half of the messages are sound but for some fields; others are
bytes that are no message, or one that is cut or has other bits. One machine is engaged again and
again meanwhile: its commands, and the efforts of the controller, go to topics of their own, where
they are judged. At last the nodes are interrupted, while messages come as fast as they can be sent.
"""

from __future__ import annotations

import importlib
import math
import re
import sys
import warnings
from collections import deque
from contextlib import suppress
from pathlib import Path
from signal import SIGABRT, SIGINT, SIGTERM
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("rclpy")
sys.path.append(str(Path(__file__).parents[1] / "robodyn_ros"))

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from ros_harness import Peer, Process, executable, free_domain, ros_arguments
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

import robodyn as rd
from robodyn.errors import IncompleteBagWarning
from robodyn.formats import read_bag
from robodyn_ros.nodes import NODES, NOT_COMPLETED

# Log line of a node once it subscribes to all of its topics; by default "ready".
READY = {
    "vehicle_flight": "on the runway",
    "recorder": "recording to",
    "web_viewer": "showing",
    "describer": "waiting for the topic",
}
SILENT = ("force_markers", "trajectory_planner")  # they log nothing when they are ready
RCLError = rclpy_implementation.RCLError
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.ros

MODEL = "stewart_symmetric"
USUAL = 100
# Nodes that run at a time, and topics to which some of them subscribe.
GROUPS = (
    (("joint_commander", "simulated_drives", "motion_cueing", "vehicle_flight", "drive_link"),
     ("/platform_setpoint", "/joint_states", "/enable")),
    (("trajectory_planner", "inverse_dynamics", "condition_monitor", "forward_simulator",
      "state_estimator"), ("/joint_states", "/clock", "/joint_trajectory")),
    (("force_markers", "pose_sliders", "recorder", "run_summary", "web_viewer", "describer"),
     ("/joint_states", "/robot_description", "/condition_number")),
)  # fmt: skip
# Between requests to the machine, in messages.
REQUESTS = 30
# Limit of the log of a storm: lines are throttled by topic and shortened [characters].
LOG_AT_ONCE, LOG_PER_SECOND = 200_000, 5_000
NUMBERS = (math.nan, math.inf, -math.inf, 1e308, -1e308, 1e300, 1e155, 1e20, 1e6, -0.0, 5e-324)
TEXTS = (
    "", " ", "\x00", "\x1b[31mred", "\ufffd\U0010ffff", "/etc/passwd", "../../x", "a\nb", "{}",
    "nan", "x" * 100_000, "engaged", "fault", "world", "<robot/>",
    "<robot name='r'><link name='a'/></robot>",
    "<mujoco><include file='/etc/passwd'/></mujoco>",
    "<mujoco><custom><text name='robodyn' data='no json'/></custom></mujoco>",
)  # fmt: skip
BYTES = (b"", b"\0", b"\0\1\0\0", b"\0\1\0\0\1\0\0\0", b"\xff" * 40, b"\0\1\0\0" + b"\xff" * 60)
KEPT = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE)
# Subscribers of either durability take it, and it is kept for neither.
HOSTILE = QoSProfile(
    depth=10,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)


class Hostile:
    """Makes messages of any type, sound but for some of their fields, or not at all."""

    def __init__(self, mechanism: Any, rng: np.random.Generator) -> None:
        self.rng, self.mechanism = rng, mechanism
        self.home = mechanism.joint_positions(mechanism.home).tolist()
        self.now: Callable[[], Any]

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def pick(self, choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def bytes_for(self, kind: type) -> bytes:
        """Bytes that are no message of this type, or hardly one."""
        if self.chance(0.5):
            return self.pick(BYTES)
        data = bytearray(serialize_message(self.message(kind)))[:5000]
        if self.chance(0.4):
            return bytes(data[: self.rng.integers(len(data) + 1)])
        for _ in range(int(self.rng.integers(1, 6))):
            data[self.rng.integers(4, len(data))] = self.rng.integers(256)
        return bytes(data)

    def message(self, kind: type) -> Any:
        spoilt = self.pick((0.0, 0.05, 0.3))
        count = self.pick((len(self.home),) * 4 + (0, 1, 300))
        return self.made(kind, spoilt, count)

    def made(self, kind: type, spoilt: float, count: int) -> Any:
        if kind.__name__ == "Time" and self.chance(0.7):
            return self.now()
        message = kind()
        for field, form in kind.get_fields_and_field_types().items():
            setattr(message, field, self.value(field, form, spoilt, count))
        if kind.__name__ == "Quaternion" and not self.chance(spoilt):
            message.x, message.y, message.z, message.w = 0.0, 0.0, 0.0, 1.0
        return message

    def value(self, field: str, form: str, spoilt: float, count: int) -> Any:
        if form.startswith("sequence<"):
            inner = form[len("sequence<") : -1].partition(",")[0]
            size = self.pick((0, 1, 7)) if self.chance(spoilt) else count
            if "/" in inner:  # of messages fewer
                size = min(size, 20)
            return [self.value(f"{field}.{k}", inner, spoilt, count) for k in range(size)]
        if form.endswith("]"):
            inner, _, size = form[:-1].partition("[")
            return [self.value(field, inner, spoilt, count) for _ in range(int(size))]
        if form in ("double", "float"):
            if self.chance(spoilt):
                number = self.pick(NUMBERS)
                return number if form == "double" else float(np.clip(number, -1e38, 1e38))
            return self.near(field)
        if form.startswith("string"):
            names = (*self.mechanism.joint_names, *self.mechanism.frames)
            if self.chance(spoilt):
                return self.pick(TEXTS)
            _, _, index = field.rpartition(".")
            return names[int(index) % len(self.home)] if index.isdigit() else self.pick(names)
        if form == "boolean":
            return self.chance(0.5)
        if form == "octet":
            return bytes([int(self.pick((0, 1, 2, 3, 255)))])
        if form.startswith(("int", "uint")) or form in ("char", "byte"):
            return self.integer(form, spoilt)
        package, _, name = form.partition("/")
        return self.made(
            getattr(importlib.import_module(f"{package}.msg"), name), spoilt, min(count, 7)
        )

    def near(self, field: str) -> float:
        """A number that is sound where it may stand: a joint's position, or a pose's."""
        name, _, index = field.rpartition(".")
        if name == "z":
            return float(self.mechanism.home[2])
        base = self.home[int(index) % len(self.home)] if "position" in name else 0.0
        return float(base + self.rng.normal(scale=0.02))

    def integer(self, form: str, spoilt: float) -> int:
        bits = int("".join(c for c in form if c.isdigit()) or 8)
        low, high = (0, 2**bits - 1) if form.startswith(("u", "c", "b")) else (
            -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)  # fmt: skip
        return int(self.pick((low, high, 0, 1))) if self.chance(spoilt) else int(
            self.rng.integers(0, 3))  # fmt: skip


class Commands:
    """Commands for drives: records the first ones that no drive may get."""

    def __init__(self, mechanism: Any, peer: Peer) -> None:
        self.wrong: list[str] = []
        self.positions = self.efforts = 0
        self._mechanism = mechanism
        peer.node.create_subscription(Float64MultiArray, "out/positions", self._on_positions, KEPT)
        peer.node.create_subscription(JointState, "out/efforts", self._on_efforts, KEPT)

    def _on_positions(self, message: Float64MultiArray) -> None:
        self.positions += 1
        m = self._mechanism
        positions = m.drives.signs * np.array(message.data) + m.drives.offsets
        low, high = m.position_limits.T
        self._judge(positions, low - 1e-9, high + 1e-9, "position")

    def _on_efforts(self, message: JointState) -> None:
        self.efforts += 1
        limits = self._mechanism.effort_limits
        self._judge(np.array(message.effort), -limits, limits, "effort")

    def _judge(self, values: np.ndarray, low: np.ndarray, high: np.ndarray, what: str) -> None:
        if not (np.isfinite(values).all() and (values >= low).all() and (values <= high).all()):
            self.wrong.append(f"{what}: {values}")


def parameters_of(output: Path) -> dict[str, tuple[dict[str, object], list[str]]]:
    """Parameters and ROS arguments by the name of a node; not set: those of all."""
    positions = ["-r", "position_controller/commands:=out/positions"]
    # the commander does not start where others publish what it commands with
    alone = ["-r", "effort_controller/commands:=out/feedforward", "-r", "joint_commands:=out/joint"]
    return {
        "joint_commander": ({"rate": 50.0}, positions + alone),
        "simulated_drives": ({"rate": 50.0}, positions),
        "motion_cueing": ({"rate": 50.0}, []),
        "vehicle_flight": ({"rate": 50.0}, []),
        "inverse_dynamics": ({"use_scale": True}, ["-r", "joint_commands:=out/efforts"]),
        "forward_simulator": (
            {"stepping": "realtime", "real_time_factor": 0.2},
            ["-r", "joint_states:=simulated_states"],
        ),
        "condition_monitor": ({}, ["-p", "use_sim_time:=true"]),
        "recorder": ({"output": output, "name": "bag", "time": "wall"}, []),
        "run_summary": ({"output": output / "summary"}, []),
        "web_viewer": ({"port": 0, "rate": 5.0}, []),
        "describer": ({"port": 0}, ["-r", "__node:=describer"]),
    }


@pytest.fixture
def nodes(request, tmp_path) -> Iterator[tuple[Peer, dict[str, Process]]]:
    """Start nodes; "describer" is a viewer without a model."""
    peer, given, started = Peer(free_domain()), parameters_of(tmp_path), {}
    for name in request.param:
        values, more = given.get(name, ({}, []))
        if name not in ("vehicle_flight", "describer"):
            values = {"model": MODEL} | values
        words = ros_arguments(values, *more)
        command = executable("web_viewer" if name == "describer" else name)
        started[name] = Process([command, *words], peer.domain)
    yield peer, started
    for process in started.values():
        process.close()
    peer.close()


def subscribed(peer: Peer, names: list[str]) -> dict[str, type]:
    """The topics of nodes with their types, but for those on which they are judged."""
    found: dict[str, type] = {}
    for name in names:
        for topic, kinds in peer.node.get_subscriber_names_and_types_by_node(name, "/"):
            package, _, kind = kinds[0].split("/")
            if not topic.startswith(("/out/", "/rosout", "/parameter_events")):
                found[topic] = getattr(importlib.import_module(f"{package}.msg"), kind)
    return found


def interrupt(
    peer: Peer, processes: dict[str, Process], rng: Any, send: Callable[[], None]
) -> None:
    """Interrupt nodes while messages come as fast as they can be sent; fail if one does not end."""
    for process in processes.values():
        process.signal(SIGINT if rng.random() < 0.5 else SIGTERM)

    def ended() -> bool:
        for _ in range(100):
            send()
        return not any(process.alive for process in processes.values())

    try:
        peer.until(ended, "the end of all nodes")
    finally:
        for name, process in processes.items():
            if process.alive:
                process.signal(SIGABRT)  # with the stacks of its threads
                process.wait()
                print(f"{name} did not end:\n{process.output[-5000:]}")


def test_nodes_of_all_groups_are_all_nodes():
    assert {name for names, _ in GROUPS for name in names} == {*NODES, "describer"}


@pytest.mark.parametrize(
    ("nodes", "expected"), GROUPS, indirect=["nodes"], ids=["machine", "control", "others"]
)
def test_hostile_messages_on_every_topic_of_every_node(nodes, expected, rng, storm, tmp_path):
    peer, processes = nodes
    mechanism = rd.load(MODEL)
    commands, hostile = Commands(mechanism, peer), Hostile(mechanism, rng)
    hostile.now = lambda: peer.node.get_clock().now().to_msg()
    names = list(processes)
    for name, process in processes.items():
        if name not in SILENT:
            process.wait_for_line(READY.get(name, "ready"))
    # a node's subscriptions become known one after another
    peer.until(
        lambda: (
            set(names) <= set(peer.node.get_node_names())
            and all(subscribed(peer, [name]) for name in SILENT if name in names)
            and set(expected) <= set(subscribed(peer, names))
        ),
        "all nodes in the graph",
    )
    topics = subscribed(peer, names)
    assert len(topics) >= 8
    has_machine = "joint_commander" in names
    peer.until(lambda: commands.positions > 0 or not has_machine, "positions for the drives")
    publishers = {
        topic: peer.node.create_publisher(kind, topic, HOSTILE) for topic, kind in topics.items()
    }
    peer.until(
        lambda: all(p.get_subscription_count() for p in publishers.values()), "all subscriptions"
    )
    requests = [
        peer.node.create_client(Trigger, f"joint_commander/{name}")
        for name in ("reset", "engage", "engage", "freeze", "park")
    ]
    recent = deque(maxlen=500)
    begun, before = peer.node.get_clock().now().nanoseconds, commands.positions
    for k in storm(USUAL):
        topic = hostile.pick(list(topics))
        make = hostile.bytes_for if hostile.chance(0.2) else hostile.message
        recent.append((publishers[topic], make(topics[topic])))
        with suppress(RCLError):  # a listener is too slow for more
            publishers[topic].publish(recent[-1][1])
        if k % REQUESTS == 0 and (client := hostile.pick(requests)).service_is_ready():
            client.call_async(Trigger.Request())
        peer.spin(0.0)
        assert commands.wrong == [], f"after {k + 1} messages: {commands.wrong[0]}"
    for name, process in processes.items():
        if name == "run_summary" and not process.alive:  # a run that ended in any way
            assert process.wait() in (0, 1, NOT_COMPLETED), process.output[-3000:]
            continue
        assert process.alive, f"{name} ended:\n{process.output[-3000:]}"
        peer.wait_until_known(f"/{name}")  # it responds
    seconds = 1e-9 * (peer.node.get_clock().now().nanoseconds - begun)
    assert commands.positions > before or not has_machine

    def send() -> None:
        publisher, message = hostile.pick(recent)
        with suppress(RCLError):
            publisher.publish(message)

    interrupt(peer, processes, rng, send)
    assert commands.wrong == [], commands.wrong[0]
    for name, process in processes.items():
        assert process.wait() in ((0, 1, NOT_COMPLETED) if name == "run_summary" else (0,)), name
        # without the notes of rcutils, one for every message that is no message
        text = re.sub(r"^>>> \[rcutils.*?^<<<$", "", process.output, flags=re.DOTALL | re.MULTILINE)
        assert len(text) < LOG_AT_ONCE + LOG_PER_SECOND * seconds, f"{name}: {text[-3000:]}"
        assert "unexpected" not in text, f"{name}: {lines_with('unexpected', process)}"
        assert "Traceback" not in text, f"{name}: {text[-3000:]}"
    if "recorder" in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IncompleteBagWarning)
            bag = read_bag(tmp_path / "bag", lambda topic, _: topic == "/joint_states")
        assert bag.messages


def lines_with(word: str, process: Process) -> str:
    return "\n".join(line[:500] for line in process.lines if word in line)[:3000]
