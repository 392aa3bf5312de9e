# SPDX-License-Identifier: Apache-2.0

"""Writes a rosbag2 folder in a separate thread.

The caller does not wait for the disk as long as it keeps up, and Ctrl-C, which Python delivers to
the main thread, cannot interrupt a record. The queue is bounded in bytes.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from robodyn.errors import RobodynError
from robodyn_ros.bag_storage import open_storage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rclpy.qos import QoSProfile

    from robodyn_ros.message_definitions import Definition


class RecordingFailed(RobodynError, OSError):
    """The bag could not be written, for example because the disk is full."""


class BagWriter:
    """A bag being written; `close` completes it.

    Args:
        folder: of the bag; it must not exist.
        compress: chunks by zstd.
        limit: bytes in the queue beyond which `write` waits.

    Attributes:
        messages: number of messages accepted.

    Raises:
        MissingExtra: neither rosbag2 nor rosbags is installed.
        InvalidInput: the folder exists, or cannot be created.
    """

    def __init__(self, folder: Path, *, compress: bool = False, limit: int = 64_000_000) -> None:
        self._storage = open_storage(folder, compress=compress)
        self._path = str(folder)
        self.messages = 0
        self._connections: list[Any] = []
        self._remarks: dict[str, str] = {}
        self._topics = 0
        self._limit = limit
        self._waiting: deque[tuple[int, int, Any]] = deque()
        self._bytes = 0
        self._changed = threading.Condition()
        self._closing = False
        self._failure: Exception | None = None
        self._told = False
        self._thread = threading.Thread(target=self._run, name="bag_writer", daemon=True)
        self._thread.start()

    def add_topic(
        self,
        name: str,
        kind: str,
        offered: Sequence[QoSProfile],
        known: Definition | None = None,
    ) -> int:
        """Add a topic of message type `kind`; returns its number for `write`.

        Raises:
            InvalidInput: `known` is not given, and no definition of this type is installed.
        """
        known = known or self._storage.definition(kind)
        number, self._topics = self._topics, self._topics + 1
        self._put(-1, 0, (name, kind, known, list(offered)), 0)
        return number

    def write(self, topic: int, stamp: int, data: bytes) -> None:
        """Append a serialized message, `stamp` [ns].

        Raises:
            RecordingFailed: the bag cannot be written; raised once, later messages are dropped.
        """
        self.messages += 1
        self._put(topic, stamp, data, len(data))

    def close(self, remarks: Mapping[str, str] | None = None) -> None:
        """Write the queue, the index and metadata.yaml, with `remarks` in its `custom_data`.

        Raises:
            RecordingFailed: the bag has what was written so far, but no index.
        """
        with self._changed:
            self._remarks = dict(remarks or {})
            self._closing = True
            self._changed.notify_all()
        self._thread.join()
        self._tell_failure()

    def _put(self, topic: int, stamp: int, data: Any, size: int) -> None:
        with self._changed:
            while self._bytes > self._limit and self._failure is None:
                self._changed.wait()
            if self._failure is not None:
                self._tell_failure()
                return
            self._waiting.append((topic, stamp, data))
            self._bytes += size
            if len(self._waiting) == 1:
                self._changed.notify_all()

    def _tell_failure(self) -> None:
        """Raise it, once."""
        if self._failure is not None and not self._told:
            self._told = True
            raise RecordingFailed(
                f"bag {self._path} cannot be written: {self._failure}", value=self._path
            ) from self._failure

    def _run(self) -> None:
        try:
            while self._write_waiting():
                pass
            self._storage.close(self._remarks)
        except Exception as error:
            # every failure is raised again in the thread that calls `write`
            with self._changed:
                self._failure = error
                self._waiting.clear()
                self._changed.notify_all()
            self._storage.abort()

    def _write_waiting(self) -> bool:
        """Write the queue; False when it is empty and closed."""
        with self._changed:
            while not self._waiting and not self._closing:
                self._changed.wait()
            batch, self._waiting = self._waiting, deque()
            self._bytes = 0
            self._changed.notify_all()
        for topic, stamp, data in batch:
            if topic < 0:
                self._connections.append(self._storage.add_topic(*data))
            else:
                self._storage.write(self._connections[topic], stamp, data)
        return bool(batch)
