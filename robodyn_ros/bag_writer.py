# SPDX-License-Identifier: Apache-2.0

"""Writer of a rosbag2 folder: uses rosbag2 if it is installed, otherwise the package rosbags.

The storage classes of both packages have the same methods. `add_topic` returns the handle that
`write` takes for the topic, `close` completes the bag and writes remarks to the `custom_data` of
its metadata, and `abort` closes it after an error.

Stamps are simulated time if there is a clock, else wall time. A recorder often starts before the
simulator; messages are buffered until the clock of the run is known. A bag never mixes the two:
with stamps of 1970 and of today it could not be played.

A message's simulated time is that of the last tick sent before it, not of the last one received: a
recorder that lags behind receives messages of several topics in another order than they were sent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from rclpy.qos import QoSProfile

from robodyn.errors import InvalidInput, MissingExtra, RobodynError
from robodyn.extras import how_to_install
from robodyn_ros.messages import NANOSECONDS

try:
    import rosbag2_py
except ImportError:
    rosbag2_py = None

# Version 8 of the metadata is read by every rosbag2 from Humble on; 9 is not.
METADATA_VERSION = 8


class RecordingFailed(RobodynError, OSError):
    """Error raised if the bag cannot be written, for example because the disk is full."""


class BagWriter:
    """Writer of a rosbag2 folder; `close` completes the bag.

    Args:
        folder: folder of the bag; it must not exist.
        compress: whether to compress chunks of an MCAP file by zstd.

    Attributes:
        messages: number of messages accepted.
        has_failed: whether the bag could not be written.

    Raises:
        MissingExtra: neither rosbag2 nor rosbags is installed.
        InvalidInput: the folder exists, or cannot be created.
    """

    def __init__(self, folder: Path, *, compress: bool = False) -> None:
        # Humble's rosbag2 takes QoS in another form
        native = hasattr(rosbag2_py, "to_rclcpp_qos_vector")
        try:
            self._storage = (_Rosbag2Storage if native else _RosbagsStorage)(folder, compress)
        except ImportError as error:
            raise MissingExtra(
                f"recording needs rosbag2, or the package rosbags: {how_to_install('record')}",
                value="rosbags",
            ) from error
        # rosbag2 raises RuntimeError, rosbags its own type
        except Exception as error:
            raise InvalidInput(f"bag {folder}: {error}", value=str(folder)) from error
        self._path, self.has_failed, self.messages = str(folder), False, 0

    def add_topic(
        self, name: str, kind: str, offered: Sequence[QoSProfile], digest: str = ""
    ) -> Any:
        """Add a topic of a message type.

        Args:
            name: name of the topic.
            kind: message type, `package/msg/Type`.
            offered: QoS profiles of the topic's publishers.
            digest: type hash `RIHS01_...` (REP-2016) that identifies the version of the type, if
                known.

        Returns:
            Handle of the topic, to pass to `write`.

        Raises:
            InvalidInput: no definition of this type is available.
            RecordingFailed: the bag cannot be written.
        """
        return self._call("add_topic", name, kind, digest, [_qos_fields(each) for each in offered])

    def write(self, topic: Any, stamp: int, data: bytes) -> None:
        """Append a serialized message.

        Args:
            topic: handle returned by `add_topic`.
            stamp: time [ns] of the message.
            data: serialized message.

        Raises:
            RecordingFailed: the bag cannot be written; raised once, later messages are dropped.
        """
        self.messages += 1
        self._call("write", topic, stamp, data)

    def flush(self) -> None:
        """Flush all messages to the file, so that they survive if the process is killed.

        Raises:
            RecordingFailed: the bag cannot be written.
        """
        self._call("flush")

    def close(self, remarks: Mapping[str, str] | None = None) -> None:
        """Complete the bag: write its index and metadata.yaml.

        The metadata contains `remarks` as `custom_data`.

        Raises:
            RecordingFailed: the index cannot be written; the bag contains the messages so far.
        """
        self._call("close", remarks or {})

    def _call(self, what: str, *args: Any) -> Any:
        if self.has_failed:
            return None
        try:
            return getattr(self._storage, what)(*args)
        except InvalidInput:
            raise
        except Exception as error:  # rosbag2 raises RuntimeError
            self.has_failed = True
            self._storage.abort()
            raise RecordingFailed(
                f"bag {self._path} cannot be written: {error}", value=self._path
            ) from error


class _Rosbag2Storage:
    """Bag writer that uses rosbag2 and the default storage of the ROS 2 distribution."""

    def __init__(self, folder: Path, compress: bool) -> None:
        options = rosbag2_py.StorageOptions(uri=str(folder))
        if compress:
            options.storage_id, options.storage_preset_profile = "mcap", "zstd_fast"
        self._folder, self._topics = str(folder), 0
        self._writer = rosbag2_py.SequentialWriter()
        self._writer.open(options, rosbag2_py.ConverterOptions("cdr", "cdr"))
        self.write = lambda topic, stamp, data: self._writer.write(topic, data, stamp)

    def add_topic(self, name: str, kind: str, digest: str, profiles: Sequence[Any]) -> str:
        offered = rosbag2_py.to_rclcpp_qos_vector(yaml.safe_dump(profiles), METADATA_VERSION)
        self._writer.create_topic(
            rosbag2_py.TopicMetadata(
                id=self._topics,
                name=name,
                type=kind,
                serialization_format="cdr",
                offered_qos_profiles=offered,
                type_description_hash=digest,
            )
        )
        self._topics += 1
        return name

    def close(self, remarks: Mapping[str, str]) -> None:
        self._writer.close()
        if remarks:
            file = rosbag2_py.MetadataIo()
            metadata = file.read_metadata(self._folder)
            metadata.custom_data = dict(remarks)
            file.write_metadata(self._folder, metadata)

    def flush(self) -> None:
        """Do nothing: rosbag2 has its own cache, which cannot be flushed."""

    def abort(self) -> None:
        """Do nothing: the messages written so far are already in the file."""


class _RosbagsStorage:
    """Bag writer that uses rosbags: an MCAP file with the common types of ROS 2."""

    def __init__(self, folder: Path, compress: bool) -> None:
        from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
        from rosbags.rosbag2.metadata import parse_qos
        from rosbags.typesys import Stores, get_typestore

        self._types, self._profiles = get_typestore(Stores.LATEST), parse_qos
        self._writer = Writer(folder, version=METADATA_VERSION, storage_plugin=StoragePlugin.MCAP)
        if compress:
            self._writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        self._writer.open()
        self.write, self.abort = self._writer.write, self._writer.abort

    def flush(self) -> None:
        """Write the current chunk to the file; rosbags does so only once per megabyte."""
        storage: Any = self._writer.storage
        chunk = getattr(storage, "chunk", None)
        if chunk is not None and chunk.msgs:
            storage.close_chunk()
            storage.bio.flush()

    def add_topic(self, name: str, kind: str, digest: str, profiles: Sequence[Any]) -> Any:
        if kind not in self._types.fielddefs:
            raise InvalidInput(f"rosbags has no definition of message type {kind}", value=kind)
        return self._writer.add_connection(
            name,
            kind,
            msgdef=self._types.generate_msgdef(kind, ros_version=2)[0],
            rihs01=digest or self._types.hash_rihs01(kind),
            offered_qos_profiles=self._profiles([*profiles]),
        )

    def close(self, remarks: Mapping[str, str]) -> None:
        for name, text in remarks.items():
            self._writer.set_custom_data(name, text)
        self._writer.close()


def _qos_fields(profile: QoSProfile) -> dict[str, Any]:
    """Convert a QoS profile to bag metadata (version 8), with rmw's policy values."""

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


Write = Callable[[Any, int, bytes], None]

# Limit of buffered bytes; beyond it the wall clock is used.
MOST_HELD = 64_000_000
# Ticks kept for messages that are received late.
TICKS = 10_000


class BagClock:
    """Clock that stamps messages for a bag with simulated time or wall time.

    Messages are buffered until it is known which of the two applies.

    Args:
        source: `sim`, `wall`, or `auto`, which the first call to `tick` or `use_wall_clock`
            decides.
        write: called with the topic's handle, the stamp [ns] and the data of each stamped message.
        most_held: number of buffered bytes above which the wall clock is used.

    Attributes:
        source: `sim` or `wall` once decided.
        elapsed: simulated time [ns] that has passed since the first tick.
    """

    def __init__(self, source: str, write: Write, most_held: int = MOST_HELD) -> None:
        self.source = source
        self._ticks: deque[tuple[int, int]] = deque(maxlen=TICKS)
        self._write = write
        self._most_held = most_held
        self._held: deque[tuple[Any, int, int, bytes]] = deque()
        self._bytes = 0
        self.elapsed = 0

    @property
    def now(self) -> int | None:
        """Latest simulated time [ns]; None if none was received yet."""
        return self._ticks[-1][1] if self._ticks else None

    def tick(self, now: int, sent: int) -> bool:
        """Update the simulated time from a message on `/clock`.

        Negative times are ignored: no ROS clock and no bag can represent them.

        Args:
            now: simulated time [ns].
            sent: wall time [ns] at which the tick was sent.

        Returns:
            Whether simulated time went back.
        """
        if now < 0:
            return False
        back = self.now is not None and now < self.now
        self.elapsed += max(0, now - (now if self.now is None else self.now))
        self._ticks.append((sent, now))
        if self.source == "auto":
            self.source = "sim"
        if self.source == "sim":
            self._release()
        return back

    def use_wall_clock(self) -> None:
        """Use wall time, unless simulated time was received already."""
        if not self._ticks:
            self.source = "wall"
            self._release()

    def take(self, topic: Any, sent: int, received: int, data: bytes) -> None:
        """Stamp and write a message, or buffer it until the time source is known.

        Args:
            topic: handle returned by `BagWriter.add_topic`.
            sent, received: wall times [ns] at which the message was sent and received.
            data: serialized message.
        """
        if self.source == "wall":
            self._write(topic, received, data)
        elif self._ticks:
            self._write(topic, self._simulated_time(sent), data)
        else:
            self._held.append((topic, sent, received, data))
            self._bytes += len(data)
            if self._bytes > self._most_held:
                self.use_wall_clock()

    def _simulated_time(self, sent: int) -> int:
        for tick_sent, now in reversed(self._ticks):
            if tick_sent <= sent:
                return now
        return self._ticks[0][1]

    def _release(self) -> None:
        while self._held:
            self.take(*self._held.popleft())
        self._bytes = 0
