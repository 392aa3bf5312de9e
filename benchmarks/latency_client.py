# SPDX-License-Identifier: Apache-2.0

"""The client that sends requests to the nodes and their echoes, and measures the response time."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import rclpy
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

import robodyn as rd
from robodyn.trajectories.sampled import knot_times
from robodyn_ros import messages, qos
from robodyn_ros.executor import EventsExecutor
from robodyn_ros.mechanism_messages import messages_of
from robodyn_ros.messages import JointStateMessage, OdometryMessage

if TYPE_CHECKING:
    from benchmarks.latency_scenarios import Scenario

KINDS = {"condition_number": Float64, "platform_state": Odometry}
BLOCK = 0.5  # [s] after which the other one gets a request
FLIGHT = 120.0  # [s] that the motion takes, longer than all the states sent
PATIENCE = 0.3  # [s] timeout of a reply


class Peer:
    """A node or an echo, in its own namespace: sends requests and records the response times.

    An answer is known by its stamp; one without a stamp, or the simulator's, which is of a later
    time, is that to the oldest question still open.
    """

    def __init__(self, node: Any, scenario: Scenario, namespace: str, pid: int) -> None:
        self.pid = pid
        self.latencies: list[float] = []
        self.unanswered = 0
        self.stamp = 0
        self.in_turn = scenario.topic == "joint_commands"
        self._by_stamp = scenario.answer != "condition_number" and not self.in_turn
        self._open: dict[int, float] = {}
        self._taken: list[float] = []
        question = Odometry if scenario.topic == "platform_state" else JointState
        self._publisher = node.create_publisher(
            question, f"{namespace}/{scenario.topic}", qos.STATE
        )
        answer = KINDS.get(scenario.answer, JointState)
        self._subscription = node.create_subscription(
            answer, f"{namespace}/{scenario.answer}", self._receive, qos.STATE
        )
        self._node = node

    def ready(self) -> bool:
        """Whether both ways are open."""
        topic = self._subscription.topic_name
        return bool(self._publisher.get_subscription_count() and self._node.count_publishers(topic))

    @property
    def waiting(self) -> bool:
        """Whether a question is open."""
        return bool(self._open)

    def ask(self, message: Any) -> None:
        """Publish, and note when."""
        stamp = messages.to_nanoseconds(message.header.stamp)
        self._open[stamp] = time.perf_counter()
        self._publisher.publish(message)

    def _receive(self, message: Any) -> None:
        now = time.perf_counter()
        if hasattr(message, "header"):
            self.stamp = messages.to_nanoseconds(message.header.stamp)
        key = self.stamp if self._by_stamp else next(iter(self._open), None)
        asked = self._open.pop(key, None)
        if asked is not None:
            self._taken.append(now - asked)

    def settle(self, keep: bool) -> None:
        """Close a block. If a lost reply would put the others out of order, none counts."""
        if keep:
            self.unanswered += len(self._open)
            if self._by_stamp or not self._open:
                self.latencies += self._taken
        self._open.clear()
        self._taken.clear()

    def processor(self) -> float:
        """Time [s] that all its threads have run."""
        tasks = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) * 1e-9

    def memory(self) -> float:
        """Resident memory [MB]."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def close(self) -> None:
        """Leave the graph."""
        self._node.destroy_subscription(self._subscription)
        self._node.destroy_publisher(self._publisher)


class Questions:
    """The messages of a scenario, one after another: states along a motion, or efforts."""

    def __init__(self, scenario: Scenario, rate: int) -> None:
        self.mechanism = m = rd.load(scenario.model)
        if m.coordinates.is_pose:
            lift = np.array([0.02, 0.01, 0.02, 0.05, 0.02, 0.03])
            self.motion: Any = rd.plan_line(m.home, m.advance(m.home, lift), duration=FLIGHT)
        else:
            start = m.home + np.linspace(0.3, 0.5, len(m.home))
            self.motion = rd.plan_joints(start, start + 0.2, duration=FLIGHT)
        self.messages = messages_of(m)
        self._topic, self._period = scenario.topic, round(1e9 / rate)
        self._joints = JointStateMessage(m.joint_names)
        self._odometry = OdometryMessage(m.frames)
        self._effort = m.inverse_dynamics(m.home, *np.zeros((2, len(m.joint_names))))

    def trajectory(self) -> Any:
        """The motion as published by a planner."""
        times = knot_times(FLIGHT, self.motion.switching_times, 0.02)
        return self.messages.write_trajectory(times, self.motion.sample(times))

    def __call__(self, number: int, peer: Peer) -> Any:
        """Return the message of this number; the simulator expects the stamp of its last state."""
        if self._topic == "joint_commands":
            return self._joints.filled(peer.stamp, effort=self._effort)
        configuration, velocity, _ = self.motion.sample(number * self._period * 1e-9)
        stamp = (number + 1) * self._period
        if self._topic == "platform_state":
            return self._odometry.filled(stamp, configuration, velocity)
        position = self.mechanism.joint_positions(configuration)
        rate = self.mechanism.joint_velocities(configuration, velocity)
        return self._joints.filled(stamp, position, rate)


class Client:
    """Node that sends requests to all of them."""

    def __init__(self) -> None:
        rclpy.init()
        self.node = rclpy.create_node("latency")
        self._executor = (EventsExecutor or SingleThreadedExecutor)()
        self._executor.add_node(self.node)
        self._planner: Any = None

    def measure(
        self, scenario: Scenario, rate: int, blocks: int, node_pid: int, echo_pid: int
    ) -> tuple[np.ndarray, np.ndarray, tuple[int, int], tuple[float, float]]:
        """Latencies [s] of node and echo, unanswered questions, and processor time each [us]."""
        questions = Questions(scenario, rate)
        peers = [
            Peer(self.node, scenario, namespace, pid)
            for namespace, pid in (("/node", node_pid), ("/echo", echo_pid))
        ]
        self.publish_trajectory(scenario, questions)
        self.meet(*peers)
        number, spent, asked = 0, [0.0, 0.0], [0, 0]
        count = round(rate * BLOCK)
        for block in range(-1, blocks):
            for which, peer in enumerate(peers):
                before = peer.processor()
                number = self._block(peer, questions, rate, number, count)
                peer.settle(keep=block >= 0)
                if block >= 0:
                    spent[which] += peer.processor() - before
                    asked[which] += count
        for peer in peers:
            peer.close()
        if self._planner is not None:
            self.node.destroy_publisher(self._planner)
            self._planner = None
        node, echo = peers
        busy = tuple(1e6 * s / n for s, n in zip(spent, asked, strict=True))
        return (
            np.array(node.latencies or [np.nan]),
            np.array(echo.latencies or [np.nan]),
            (node.unanswered, echo.unanswered),
            (busy[0], busy[1]),
        )

    def publish_trajectory(self, scenario: Scenario, questions: Questions) -> None:
        """Give the node the trajectory along which the states lie, if it takes any."""
        if scenario.node != "inverse_dynamics":
            return
        trajectory = questions.trajectory()
        topic = f"/node/{questions.messages.trajectory_topic}"
        self._planner = self.node.create_publisher(type(trajectory), topic, qos.LATCHED)
        self._planner.publish(trajectory)

    def meet(self, *peers: Peer) -> None:
        """Wait until all nodes are connected."""
        while not all(peer.ready() for peer in peers):
            self.spin(time.perf_counter() + 0.1)
        self.spin(time.perf_counter() + 1.0)

    def settle(self, peer: Peer) -> None:
        """Wait for the last replies, without a time limit."""
        end = time.perf_counter() + PATIENCE
        while peer.waiting and time.perf_counter() < end:
            self.spin(time.perf_counter() + 0.01)

    def _block(self, peer: Peer, questions: Questions, rate: int, number: int, count: int) -> int:
        begin = time.perf_counter() + 2e-3
        for index in range(count):
            self.spin(begin + index / rate)
            late = time.perf_counter() + PATIENCE
            while peer.in_turn and peer.waiting and time.perf_counter() < late:
                self.spin(time.perf_counter() + 1e-4)
            peer.ask(questions(number + index, peer))
        self.settle(peer)
        return number + count

    def spin(self, until: float) -> None:
        """Receive replies until a time of the performance counter [s]."""
        while (left := until - time.perf_counter()) > 0.0:
            self._executor.spin_once(timeout_sec=left)

    def close(self) -> None:
        """Leave the graph."""
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown()
