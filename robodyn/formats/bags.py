# SPDX-License-Identifier: Apache-2.0

"""Bags, read and written by the package rosbags; ROS is not needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robodyn.errors import InvalidInput, writing
from robodyn.extras import needing


@dataclass(frozen=True)
class Bag:
    """What was wanted of a bag, in the order in which it was received.

    Attributes:
        topics: all topics by name: the type of their messages, and how many there are.
        messages: of the wanted topics: name, time of receipt [ns], message.
        unreadable: wanted topics whose type neither the bag nor rosbags defines.
    """

    topics: dict[str, tuple[str, int]]
    messages: list[tuple[str, int, Any]]
    unreadable: tuple[str, ...]


def read_bag(bag: Path, wanted: Callable[[str, str], bool]) -> Bag:
    """The messages of a rosbag2 folder, a .mcap or a .db3 file, compressed or not.

    Args:
        bag: the folder or file.
        wanted: whether a topic is wanted, by its name and the type of its messages.

    Raises:
        MissingExtra: rosbags is not installed.
        InvalidInput: no bag, or one that cannot be read.
    """
    with needing("record", "reading a bag needs the package rosbags", "rosbags"):
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    try:
        store = get_typestore(Stores.ROS2_JAZZY)
        with AnyReader([_storage(bag)], default_typestore=store) as reader:
            topics: dict[str, tuple[str, int]] = {}
            for each in reader.connections:
                _, count = topics.get(each.topic, ("", 0))
                topics[each.topic] = (each.msgtype, count + each.msgcount)
            chosen = [each for each in reader.connections if wanted(each.topic, each.msgtype)]
            known = reader.typestore.fielddefs
            readable = [each for each in chosen if each.msgtype in known]
            messages: list[tuple[str, int, Any]] = []
            if readable:  # an empty list would mean all connections
                for connection, stamp, raw in reader.messages(readable):
                    message = reader.deserialize(raw, connection.msgtype)
                    messages.append((connection.topic, stamp, message))
            unreadable = sorted({each.topic for each in chosen if each.msgtype not in known})
            return Bag(dict(sorted(topics.items())), messages, tuple(unreadable))
    # a damaged file may raise any error of rosbags, of SQLite or of a decompressor
    except Exception as failure:
        reason = " ".join(str(failure).split()) or type(failure).__name__
        raise InvalidInput(f"{bag}: this bag cannot be read: {reason}", value=str(bag)) from (
            failure
        )


def write_bag(
    folder: Path, make: Callable[[dict[str, Any]], Iterable[tuple[str, int, Any]]]
) -> None:
    """A rosbag2 folder, an MCAP file, of messages.

    Args:
        folder: it must not exist.
        make: of the types of messages, by name, the topic, stamp [ns] and message of each, in the
            order of their stamps.

    Raises:
        MissingExtra: rosbags is not installed.
        OutputError: it cannot be written.
    """
    with needing("record", "writing a bag needs the package rosbags", "rosbags"):
        from rosbags.rosbag2 import StoragePlugin, Writer
        from rosbags.typesys import Stores, get_typestore
    store = get_typestore(Stores.ROS2_JAZZY)
    connections: dict[str, Any] = {}
    with writing(folder), Writer(folder, version=8, storage_plugin=StoragePlugin.MCAP) as writer:
        for topic, stamp, message in make(store.types):
            kind = message.__msgtype__
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=store)
            writer.write(connections[topic], stamp, store.serialize_cdr(message, kind))


def _storage(bag: Path) -> Path:
    """The bag; of a folder without metadata, as after an interruption, its only file."""
    if not bag.is_dir() or (bag / "metadata.yaml").exists():
        return bag
    files = [each for each in sorted(bag.iterdir()) if each.suffix in (".mcap", ".db3")]
    return files[0] if len(files) == 1 else bag
