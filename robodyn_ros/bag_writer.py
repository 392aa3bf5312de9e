# SPDX-License-Identifier: Apache-2.0

"""Writes a rosbag2 folder in a separate thread, by rosbag2 where it is installed, else rosbags.

The caller does not wait for the disk as long as it keeps up, and Ctrl-C, which Python delivers to
the main thread, cannot interrupt a record. The queue is bounded in bytes.

Storages by either package have the same methods. `add_topic` returns what `write` takes for the
topic, `close` completes the bag, with remarks in the `custom_data` of its metadata, and `abort`
gives up after an error. A storage is used by one thread, except for `definition`: what it has to be
told of a message type, an InvalidInput where nobody knows the type.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from robodyn.errors import InvalidInput, MissingExtra, RobodynError
from robodyn.extras import how_to_install
from robodyn_ros.message_definitions import Definition, definition

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rclpy.qos import QoSProfile

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


def open_storage(folder: Path, *, compress: bool) -> _ByRosbag2 | _ByRosbags:
    """Begin a bag; with `compress`, chunks of an MCAP file by zstd.

    Raises:
        MissingExtra: neither rosbag2 nor rosbags is installed.
        InvalidInput: the folder exists, or cannot be created.
    """
    try:
        import rosbag2_py

        # Humble's is told of QoS in another way
        native = hasattr(rosbag2_py, "to_rclcpp_qos_vector")
    except ImportError:
        native = False
    try:
        return _ByRosbag2(folder, compress) if native else _ByRosbags(folder, compress)
    except ImportError as error:
        raise MissingExtra(
            f"recording needs rosbag2, or the package rosbags: {how_to_install('record')}",
            value="rosbags",
        ) from error
    # rosbag2 raises RuntimeError, rosbags one of its own
    except Exception as error:
        raise InvalidInput(f"bag {folder}: {error}", value=str(folder)) from error


class _ByRosbag2:
    """As `ros2 bag record` writes, in the default storage of this ROS 2."""

    def __init__(self, folder: Path, compress: bool) -> None:
        import rosbag2_py

        options = rosbag2_py.StorageOptions(uri=str(folder))
        if compress:
            options.storage_id, options.storage_preset_profile = "mcap", "zstd_fast"
        self._folder = str(folder)
        self._rosbag2 = rosbag2_py
        self._writer = rosbag2_py.SequentialWriter()
        self._writer.open(options, rosbag2_py.ConverterOptions("cdr", "cdr"))
        self._topics = 0

    def definition(self, kind: str) -> Definition:
        """Its hash; rosbag2 reads the text itself."""
        package, folder, short = kind.split("/")
        try:
            path = Path(get_package_share_directory(package), folder, f"{short}.json")
            hashes = json.loads(path.read_text(encoding="utf-8"))["type_hashes"]
            return Definition("", next(e["hash_string"] for e in hashes if e["type_name"] == kind))
        except (PackageNotFoundError, OSError, KeyError, StopIteration):
            return Definition("", "")

    def add_topic(
        self, name: str, kind: str, known: Definition, offered: Sequence[QoSProfile]
    ) -> str:
        profiles = yaml.safe_dump([_as_stored(profile) for profile in offered])
        topic = self._rosbag2.TopicMetadata(
            id=self._topics,
            name=name,
            type=kind,
            serialization_format="cdr",
            offered_qos_profiles=self._rosbag2.to_rclcpp_qos_vector(profiles, METADATA_VERSION),
            type_description_hash=known.hash,
        )
        self._topics += 1
        self._writer.create_topic(topic)
        return name

    def write(self, topic: str, stamp: int, data: bytes) -> None:
        self._writer.write(topic, data, stamp)

    def close(self, remarks: Mapping[str, str]) -> None:
        self._writer.close()
        if remarks:
            file = self._rosbag2.MetadataIo()
            metadata = file.read_metadata(self._folder)
            metadata.custom_data = dict(remarks)
            file.write_metadata(self._folder, metadata)

    def abort(self) -> None:
        """Nothing: the messages written so far are in the file."""


class _ByRosbags:
    """An MCAP file by the package rosbags, where there is no rosbag2."""

    def __init__(self, folder: Path, compress: bool) -> None:
        from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

        self._writer = Writer(folder, version=METADATA_VERSION, storage_plugin=StoragePlugin.MCAP)
        if compress:
            self._writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        self._writer.open()

    def definition(self, kind: str) -> Definition:
        return definition(kind)

    def add_topic(
        self, name: str, kind: str, known: Definition, offered: Sequence[QoSProfile]
    ) -> Any:
        return self._writer.add_connection(
            name,
            kind,
            msgdef=known.text,
            rihs01=known.hash,
            offered_qos_profiles=[_of_rosbags(profile) for profile in offered],
        )

    def write(self, topic: Any, stamp: int, data: bytes) -> None:
        self._writer.write(topic, stamp, data)

    def close(self, remarks: Mapping[str, str]) -> None:
        for name, text in remarks.items():
            self._writer.set_custom_data(name, text)
        self._writer.close()

    def abort(self) -> None:
        self._writer.abort()


def _as_stored(profile: QoSProfile) -> dict[str, Any]:
    """A QoS profile as metadata of version 8 have it; policies are numbered as rmw does."""

    def time(duration: Any) -> dict[str, int]:
        seconds, rest = divmod(duration.nanoseconds, NANOSECONDS)
        return {"sec": seconds, "nsec": rest}

    return {
        "history": int(profile.history),
        "depth": profile.depth,
        "reliability": int(profile.reliability),
        "durability": int(profile.durability),
        "deadline": time(profile.deadline),
        "lifespan": time(profile.lifespan),
        "liveliness": int(profile.liveliness),
        "liveliness_lease_duration": time(profile.liveliness_lease_duration),
        "avoid_ros_namespace_conventions": profile.avoid_ros_namespace_conventions,
    }


def _of_rosbags(profile: QoSProfile) -> Any:
    from rosbags import interfaces

    kinds = {
        "history": interfaces.QosHistory,
        "reliability": interfaces.QosReliability,
        "durability": interfaces.QosDurability,
        "liveliness": interfaces.QosLiveliness,
    }
    values: list[Any] = []
    for name, value in _as_stored(profile).items():
        if isinstance(value, dict):
            values.append(interfaces.QosTime(*value.values()))
        else:
            values.append(kinds.get(name, type(value))(value))
    return interfaces.Qos(*values)
