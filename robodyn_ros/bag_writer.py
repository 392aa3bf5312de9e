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

"""Writes a rosbag2 folder in MCAP with the package rosbags, in a separate thread.

The caller does not wait for the disk as long as it keeps up, and Ctrl-C, which Python delivers to
the main thread, cannot interrupt a record. The queue is bounded in bytes.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from robodyn.errors import InvalidInput, MissingExtra, RobodynError
from robodyn.extras import how_to_install

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rclpy.qos import QoSProfile

    from robodyn_ros.message_definitions import Definition

# Version 8 of the metadata is read by every rosbag2 from Humble on; 9 is not.
METADATA_VERSION = 8
NANOSECONDS = 1_000_000_000


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
        MissingExtra: rosbags is not installed.
        InvalidInput: the folder exists, or cannot be created.
    """

    def __init__(self, folder: Path, *, compress: bool = False, limit: int = 64_000_000) -> None:
        try:
            from rosbags.rosbag2 import (
                CompressionFormat,
                CompressionMode,
                StoragePlugin,
                Writer,
                WriterError,
            )
        except ImportError as error:
            raise MissingExtra(
                f"recording needs the package rosbags: {how_to_install('record')}", value="rosbags"
            ) from error
        try:
            self._writer = Writer(
                folder, version=METADATA_VERSION, storage_plugin=StoragePlugin.MCAP
            )
            if compress:
                self._writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
            self._writer.open()
        except (WriterError, OSError) as error:
            raise InvalidInput(f"bag {folder}: {error}", value=str(folder)) from error
        self.messages = 0
        self._connections: list[Any] = []
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
        self, name: str, kind: str, definition: Definition, offered: Sequence[QoSProfile]
    ) -> int:
        """Add a topic of message type `kind`; returns its number for `write`."""
        number, self._topics = self._topics, self._topics + 1
        self._put(-1, 0, (name, kind, definition, list(offered)), 0)
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
            for name, text in (remarks or {}).items():
                self._writer.set_custom_data(name, text)
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
            path = str(self._writer.path)
            raise RecordingFailed(
                f"bag {path} cannot be written: {self._failure}", value=path
            ) from self._failure

    def _run(self) -> None:
        try:
            while self._write_waiting():
                pass
            self._writer.close()
        except Exception as error:
            # every failure is raised again in the thread that calls `write`
            with self._changed:
                self._failure = error
                self._waiting.clear()
                self._changed.notify_all()
            self._writer.abort()

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
                self._connect(*data)
            else:
                self._writer.write(self._connections[topic], stamp, data)
        return bool(batch)

    def _connect(
        self, name: str, kind: str, definition: Definition, offered: list[QoSProfile]
    ) -> None:
        self._connections.append(
            self._writer.add_connection(
                name,
                kind,
                msgdef=definition.text,
                rihs01=definition.hash,
                offered_qos_profiles=[_recorded(profile) for profile in offered],
            )
        )


def _recorded(profile: QoSProfile) -> Any:
    """A QoS profile as stored in a bag; both number the policies as rmw does."""
    from rosbags.interfaces import (
        Qos,
        QosDurability,
        QosHistory,
        QosLiveliness,
        QosReliability,
        QosTime,
    )

    def time(duration: Any) -> QosTime:
        return QosTime(*divmod(duration.nanoseconds, NANOSECONDS))

    return Qos(
        QosHistory(int(profile.history)),
        profile.depth,
        QosReliability(int(profile.reliability)),
        QosDurability(int(profile.durability)),
        time(profile.deadline),
        time(profile.lifespan),
        QosLiveliness(int(profile.liveliness)),
        time(profile.liveliness_lease_duration),
        profile.avoid_ros_namespace_conventions,
    )
