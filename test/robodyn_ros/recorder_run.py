# SPDX-License-Identifier: Apache-2.0

"""A recorder, in a process of its own or in that of the tests, and what is in its bag."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from local_graph import LocalGraph
from rclpy.duration import Duration
from rclpy.serialization import deserialize_message
from ros_harness import (
    PATIENCE,
    RELIABLE,
    Peer,
    Process,
    executable,
    free_domain,
    ros_arguments,
)

if TYPE_CHECKING:
    from pathlib import Path

    from rclpy.publisher import Publisher


class Run:
    """A recorder in a domain of its own, and a publisher there."""

    def __init__(self, folder: Path, parameters: dict[str, object], *more: str) -> None:
        self.peer = Peer(free_domain())
        self.folder = folder
        self._publishers: list[Publisher] = []
        given = {"output": folder, "name": "bag"} | parameters
        self.process = Process(
            [executable("recorder"), *ros_arguments(given, *more)], self.peer.domain
        )
        self.peer.partners.append(self.process)

    def publisher(self, kind, topic, profile=None):
        """A publisher whose messages the recorder gets from the first on."""
        publisher = self.peer.node.create_publisher(kind, topic, profile or RELIABLE)
        self.peer.until(lambda: publisher.get_subscription_count() > 0, f"recorder on {topic}")
        self._publishers.append(publisher)
        return publisher

    def finish(self) -> None:
        """Ctrl-C, and the bag is complete; losses are logged last.

        On a busy machine what was published last may have got lost on its way, and is sent again
        seconds later; a recorder that is requested to end waits for a second.
        """
        self.peer.spin(0.3)
        for publisher in self._publishers:
            assert publisher.wait_for_all_acked(Duration(seconds=PATIENCE))
        self.peer.partners.clear()
        self.process.signal(signal.SIGINT)
        assert self.process.wait() == 0, self.process.output
        assert "Traceback" not in self.process.output
        reported = [line for line in self.process.lines if "messages lost" not in line]
        assert "recorded" in reported[-1]

    def close(self) -> None:
        self.process.close()
        self.peer.close()


class LocalRun(LocalGraph):
    """A recorder in this process, and a publisher there."""

    def __init__(self, folder: Path, parameters: dict[str, object], *more: str) -> None:
        self.folder = folder
        super().__init__({"recorder": {"output": folder, "name": "bag"} | parameters}, *more)

    def publisher(self, kind, topic, profile=RELIABLE, listeners=1):
        """A publisher whose messages so many subscriptions of the recorder get, from the first."""
        publisher = self.peer.create_publisher(kind, topic, profile)

        def found() -> bool:
            received = [s.get_publisher_count() for s in self.nodes["recorder"].subscriptions
                     if s.topic_name == publisher.topic_name]  # fmt: skip
            return publisher.get_subscription_count() >= listeners and all(received)

        self.until(found, f"recorder on {topic}")
        return publisher

    def finish(self) -> dict[str, list[tuple[int, bytes]]]:
        """End the recorder; what is in the bag, by topic."""
        self.spin(0.1)
        self.end("recorder")
        return contents(self.folder / "bag")


def contents(bag: Path) -> dict[str, list[tuple[int, bytes]]]:
    """Stamp and bytes of every message, by topic, as rosbags reads them."""
    from rosbags import rosbag2

    found: dict[str, list[tuple[int, bytes]]] = {}
    with rosbag2.Reader(bag) as reader:
        for connection, stamp, data in reader.messages():
            found.setdefault(connection.topic, []).append((stamp, bytes(data)))
    return found


def messages_of(recorded: list[tuple[int, bytes]], kind: type) -> list[object]:
    """As ROS reads them; bytes that only pad fields may differ."""
    return [deserialize_message(data, kind) for _, data in recorded]
