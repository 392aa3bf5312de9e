# SPDX-License-Identifier: Apache-2.0

"""Bags, read and written with the package rosbags, without ROS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robodyn.errors import IncompleteBagWarning, InvalidInput, warn, writing
from robodyn.extras import require_extra
from robodyn.formats.bag_recovery import Row, files_of, has_journal, recover_messages
from robodyn.formats.regular_files import refuse_special_files


@dataclass(frozen=True)
class Bag:
    """Messages read from a bag, in order of receipt; result of `read_bag`.

    Attributes:
        topics: message type and number of messages of every topic in the bag, by name.
        messages: topic name, time of receipt [ns] and deserialized message, for the requested
            topics.
        unreadable: requested topics whose type neither the bag nor rosbags defines.
    """

    topics: dict[str, tuple[str, int]]
    messages: list[tuple[str, int, Any]]
    unreadable: tuple[str, ...]


def read_bag(bag: Path, is_selected: Callable[[str, str], bool]) -> Bag:
    """Read messages from a rosbag2 folder, a .mcap or a .db3 file, compressed or not.

    If the bag is incomplete, as after a full disk or a crash, intact messages are read.

    Args:
        bag: folder or file.
        is_selected: function of a topic's name and message type that returns whether to read the
            topic.

    Returns:
        The requested messages, and the names of all topics.

    Raises:
        MissingExtra: rosbags is not installed.
        InvalidInput: the bag does not exist or cannot be read.
        IncompleteBagWarning (issued as a warning): messages were recovered or left out; the warning
            describes them.
    """
    with require_extra("record", "reading a bag needs the package rosbags", "rosbags"):
        from rosbags.highlevel import AnyReader  # noqa: F401
    refuse_special_files(bag)
    try:
        if has_journal(bag):  # it may contain more than rosbags reads
            raise ValueError("its database was not closed and still has a journal file")
        return _read_whole(bag, is_selected)
    # a damaged file may raise any error from rosbags, SQLite or a decompressor
    except Exception as failure:
        reason = " ".join(str(failure).split()) or type(failure).__name__
        rows = recover_messages(bag, is_selected) if bag.exists() else []
        if not rows:
            text = f"{bag}: this bag cannot be read: {reason}"
            raise InvalidInput(text, value=str(bag)) from failure
    found = _decode(bag, rows, is_selected)
    first, last = rows[0][1], rows[-1][1]
    warn(
        f"{bag}: this bag is incomplete ({reason}): {len(rows)} complete messages of "
        f"{len(found.topics)} topics over {1e-9 * (last - first):.3f} s were read; later ones are "
        "lost",
        IncompleteBagWarning,
    )
    return found


def _read_whole(bag: Path, is_selected: Callable[[str, str], bool]) -> Bag:
    """Read the requested contents of a complete bag with rosbags."""
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    with AnyReader([_storage(bag)], default_typestore=store) as reader:
        topics: dict[str, tuple[str, int]] = {}
        for each in reader.connections:
            _, count = topics.get(each.topic, ("", 0))
            topics[each.topic] = (each.msgtype, count + each.msgcount)
        chosen = [each for each in reader.connections if is_selected(each.topic, each.msgtype)]
        known = reader.typestore.fielddefs
        readable = [each for each in chosen if each.msgtype in known]
        # an empty list would mean all connections
        raw = reader.messages(readable) if readable else ()
        messages = _deserialize(
            bag, ((each.topic, each.msgtype, at, data) for each, at, data in raw), reader.typestore
        )
        unreadable = sorted({each.topic for each in chosen if each.msgtype not in known})
    return Bag(dict(sorted(topics.items())), messages, tuple(unreadable))


def _decode(bag: Path, rows: Sequence[Row], is_selected: Callable[[str, str], bool]) -> Bag:
    """Return the requested contents of a bag from its recovered messages."""
    from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore

    present = list(dict.fromkeys(topic for topic, _, _ in rows))
    store = get_typestore(Stores.ROS2_JAZZY)
    for topic in present:
        # rosbags may raise any error for a definition; the type may be known all the same
        with suppress(Exception):
            if topic.kind not in store.fielddefs and topic.definition:
                store.register(
                    get_types_from_idl(topic.definition)
                    if "idl" in topic.encoding
                    else get_types_from_msg(topic.definition, topic.kind)
                )
    topics: dict[str, tuple[str, int]] = {}
    for topic, _, _ in rows:
        _, count = topics.get(topic.name, ("", 0))
        topics[topic.name] = topic.kind, count + 1
    chosen = {topic for topic in present if is_selected(topic.name, topic.kind)}
    known = {topic for topic in chosen if topic.kind in store.fielddefs}
    raw = ((topic.name, topic.kind, at, data) for topic, at, data in rows if topic in known)
    unreadable = sorted({topic.name for topic in chosen - known})
    return Bag(dict(sorted(topics.items())), _deserialize(bag, raw, store), tuple(unreadable))


def _deserialize(
    bag: Path, raw: Iterable[tuple[str, str, int, bytes]], store: Any
) -> list[tuple[str, int, Any]]:
    """Deserialize raw messages; return topic, receipt time [ns] and message of each.

    A raw message consists of topic, type, receipt time and bytes. Invalid messages are left out.
    """
    messages: list[tuple[str, int, Any]] = []
    left_out: Counter[str] = Counter()
    for topic, kind, stamp, data in raw:
        try:
            messages.append((topic, stamp, store.deserialize_cdr(data, kind)))
        except Exception:  # rosbags may raise any error for invalid bytes
            left_out[f"{topic} ({kind})"] += 1
    if left_out:
        counts = ", ".join(f"{count} of {topic}" for topic, count in sorted(left_out.items()))
        warn(f"{bag}: ignored messages that cannot be read: {counts}", IncompleteBagWarning)
    return messages


def write_bag(
    folder: Path, make: Callable[[dict[str, Any]], Iterable[tuple[str, int, Any]]]
) -> None:
    """Write messages to a rosbag2 folder with an MCAP file.

    Args:
        folder: output folder; must not exist.
        make: function that receives the message classes by name and yields topic, time stamp [ns]
            and message, in the order of the stamps.

    Raises:
        MissingExtra: rosbags is not installed.
        OutputError: the bag cannot be written.
    """
    with require_extra("record", "writing a bag needs the package rosbags", "rosbags"):
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
    """Return a path that rosbags can read.

    The path is that of the bag or, if its folder has no metadata, of the only file in the folder.
    """
    if not bag.is_dir() or (bag / "metadata.yaml").exists():
        return bag
    files = files_of(bag)
    return files[0] if len(files) == 1 else bag
