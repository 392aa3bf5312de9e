# SPDX-License-Identifier: Apache-2.0

"""Real nodes with a real executor in the test process, for what needs no process of its own.

Everything goes over DDS as it would between processes, but one executor turns all of it: a test
says what is sent and waits for what comes back.
"""

from __future__ import annotations

import time
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

import rclpy
from rcl_interfaces.msg import Log
from rcl_interfaces.srv import SetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.logging import LoggingSeverity
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from ros_harness import PATIENCE, RELIABLE, TURN, free_domain, ros_arguments

from robodyn_ros.nodes import NODES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rclpy.node import Node
    from rclpy.publisher import Publisher
    from rclpy.subscription import Subscription

EVERY_LOG = QoSProfile(
    depth=1000,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
# A publisher and a subscription of one process find each other in this time [s].
FOUND = 5.0
# Between repetitions of an action that a condition waits for [s].
PERIOD = 0.02
T = TypeVar("T")


class LocalGraph:
    """Nodes of ours by name, each with its parameters, and a peer that talks to them."""

    def __init__(self, nodes: Mapping[str, Mapping[str, object]], *more: str) -> None:
        given = {
            f"{name}:{parameter}": value
            for name, parameters in nodes.items()
            for parameter, value in parameters.items()
        }
        rclpy.init(args=ros_arguments(given, *more), domain_id=free_domain())
        self._executor = SingleThreadedExecutor()
        try:
            self.peer = rclpy.create_node("peer", use_global_arguments=False)
            self._executor.add_node(self.peer)
            self._logs: list[Log] = []
            self._rosout = self._subscribe_rosout()
            self.nodes: dict[str, Node] = {}
            for name in nodes:
                self.start(name)
        except BaseException:
            rclpy.try_shutdown()
            raise

    def start(self, name: str) -> Node:
        """A node; one of that name that is there already is ended."""
        if name in self.nodes:
            self.end(name)
        made = getattr(import_module(f"robodyn_ros.{name}"), NODES[name])()
        self.nodes[name] = made
        self._executor.add_node(made)
        self._find_logs()
        return made

    def end(self, name: str) -> None:
        """End a node, as Ctrl-C would."""
        self._executor.remove_node(self.nodes[name])
        self.nodes.pop(name).destroy_node()

    def _subscribe_rosout(self) -> Subscription:
        # also what was logged before the two have found each other
        return self.peer.create_subscription(Log, "/rosout", self._logs.append, EVERY_LOG)

    def _find_logs(self) -> None:
        """Wait for the loggers of all nodes; Fast DDS sometimes never matches a pair."""
        deadline = time.monotonic() + FOUND
        while self._rosout.get_publisher_count() < len(self.nodes):
            self._executor.spin_once(timeout_sec=TURN)
            if time.monotonic() > deadline:
                self.peer.destroy_subscription(self._rosout)
                self._logs.clear()  # all of it comes again
                self._rosout, deadline = self._subscribe_rosout(), deadline + FOUND

    def __enter__(self) -> LocalGraph:
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown()
        for node in (*self.nodes.values(), self.peer):
            # a level that a test gave would hold for every later node of the same name
            node.get_logger().set_level(LoggingSeverity.UNSET)
            node.destroy_node()
        rclpy.try_shutdown()

    def spin(self, seconds: float) -> None:
        """Let everything run for a while."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._executor.spin_once(timeout_sec=TURN)

    def spin_some(self, times: int) -> None:
        """Run what is ready, so many callbacks at most, without waiting."""
        for _ in range(times):
            self._executor.spin_once(timeout_sec=0.0)

    def until(
        self,
        condition: Callable[[], T],
        what: str,
        timeout: float = PATIENCE,
        repeat: Callable[[], object] | None = None,
    ) -> T:
        """Spin until the condition returns a true value, and return it.

        `repeat`, such as a publisher of states, is called every 20 ms: at every turn of the
        executor, it would keep all nodes busy.
        """
        due = time.monotonic()
        deadline = due + timeout
        while not (answer := condition()):
            now = time.monotonic()
            if repeat is not None and now >= due:
                repeat()
                due = now + PERIOD
            if now > deadline:
                raise AssertionError(f"not in {timeout:g} s: {what}; logged: {self.lines}")
            self._executor.spin_once(timeout_sec=0.05)
        return answer

    @property
    def lines(self) -> list[str]:
        """Return the log of the nodes."""
        return [log.msg for log in self._logs]

    def line(self, *texts: str) -> str:
        """The first logged line with all texts, once it is there."""
        return self.until(
            lambda: next((one for one in self.lines if all(t in one for t in texts)), ""),
            f"a line with {texts}",
        )

    def publisher(self, kind: type, topic: str, qos: QoSProfile = RELIABLE) -> Publisher:
        """A publisher that its listeners have found, and that has found them.

        Each end learns of the other by itself; what is sent before both did is lost.
        """
        publisher = self.peer.create_publisher(kind, topic, qos)
        nodes = (self.peer, *self.nodes.values())
        name = publisher.topic_name
        writers = sum(p.topic_name == name for node in nodes for p in node.publishers)
        latched = qos.durability == DurabilityPolicy.TRANSIENT_LOCAL
        readers = [
            s
            for node in nodes
            for s in node.subscriptions
            if s.topic_name == name
            # a latched subscription receives nothing from a volatile publisher
            and (latched or s.qos_profile.durability != DurabilityPolicy.TRANSIENT_LOCAL)
        ]
        self.until(
            lambda: (
                publisher.get_subscription_count() >= max(len(readers), 1)
                and all(reader.get_publisher_count() >= writers for reader in readers)
            ),
            f"a listener on {topic}",
        )
        return publisher

    def listen(self, kind: type[T], topic: str, qos: QoSProfile = RELIABLE) -> list[T]:
        """A list to which every message on a topic is appended, once both ends have met."""
        received: list[T] = []
        own = self.peer.create_subscription(kind, topic, received.append, qos)
        resolved = self.peer.resolve_topic_name(topic)

        def found() -> bool:
            publishers = [p for node in self.nodes.values() for p in node.publishers]
            known = any(p.topic_name == resolved and p.get_subscription_count() for p in publishers)
            return known and own.get_publisher_count() > 0

        self.until(found, f"a publisher of {topic}")
        return received

    def call(self, kind: type, name: str, request: Any = None) -> Any:
        """Call a service and return its response."""
        client = self.peer.create_client(kind, name)
        self.until(client.service_is_ready, f"service {name}")
        future = client.call_async(kind.Request() if request is None else request)
        self.until(future.done, f"an answer of {name}")
        self.peer.destroy_client(client)
        return future.result()

    def set(self, node: str, **values: object) -> list[str]:
        """Set parameters as `ros2 param set` does; the reasons of those that are refused."""
        expected = [
            Parameter(name, value=value).to_parameter_msg() for name, value in values.items()
        ]
        request = SetParameters.Request(parameters=expected)
        answer = self.call(SetParameters, f"/{node}/set_parameters", request)
        return [result.reason for result in answer.results if not result.successful]
