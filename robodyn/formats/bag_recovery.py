# SPDX-License-Identifier: Apache-2.0

"""Recovery of bags that are incomplete after a full disk, a crash or `kill -9`.

The readers of rosbags require data that a recorder writes at the end: metadata.yaml, and the
summary and footer of an MCAP file (https://mcap.dev/spec). This module reads the records of an MCAP
file in sequence up to its end, even inside a truncated or damaged chunk. An SQLite database is
copied with its journal, which SQLite replays or rolls back; its rows are read up to the first
damaged page.
"""

from __future__ import annotations

import mmap
import shutil
import sqlite3
import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

SUFFIXES = (".mcap", ".db3")
# Suffixes of SQLite's journals beside a database.
JOURNALS = ("-wal", "-journal")
# Size of blocks in the search for lost data, which are zeros at the end of a file.
BLOCK = 512
_MAGIC = b"\x89MCAP0\r\n"
_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _DATA_END = 0x03, 0x04, 0x05, 0x06, 0x0F
_HEAD, _CHUNK_HEAD, _MESSAGE_HEAD = map(struct.Struct, ("<BQ", "<QQQI", "<HIQQ"))
_DEFINITIONS = "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions"


class Topic(NamedTuple):
    """Topic of a bag, with the definition of its message type.

    `definition` is in the format `encoding`, and empty if the bag has none.
    """

    name: str
    kind: str
    encoding: str
    definition: str


Row = tuple[Topic, int, bytes]  # a message: its topic, the time of receipt [ns], serialized


def files_of(bag: Path) -> list[Path]:
    """Return the paths of a bag's storage files (.mcap or .db3).

    Args:
        bag: the only storage file, or a folder.
    """
    if not bag.is_dir():
        return [bag]
    return [each for each in sorted(bag.iterdir()) if each.suffix in SUFFIXES]


def has_journal(bag: Path) -> bool:
    """Return whether an SQLite database of a bag has a nonempty journal.

    It has one if the recorder ended while writing.
    """
    beside = (Path(f"{file}{end}") for file in files_of(bag) for end in JOURNALS)
    return any(file.is_file() and file.stat().st_size for file in beside)


def recover_messages(bag: Path, is_selected: Callable[[str, str], bool]) -> list[Row]:
    """Read all intact messages from an incomplete bag.

    Args:
        bag: file or folder.
        is_selected: function of a topic's name and message type that returns whether the content of
            its messages is needed.

    Returns:
        Topic, time of receipt [ns] and bytes of each message, in order of receipt. The messages on
        topics that are not selected are empty.
    """
    rows: list[Row] = []
    kept: dict[Topic, bool] = {}
    for file in files_of(bag):
        reader = _rows_of_database if file.suffix == ".db3" else _rows_of_mcap
        # a damaged file may raise any error from SQLite or the conversions
        with suppress(Exception):
            for topic, stamp, data in reader(file):
                if topic not in kept:
                    kept[topic] = is_selected(topic.name, topic.kind)
                rows.append((topic, stamp, data if kept[topic] else b""))
    return sorted(rows, key=lambda row: row[1])


def _rows_of_mcap(file: Path) -> Iterator[Row]:
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[: len(_MAGIC)] != _MAGIC:
            return
        topics: dict[int, Topic] = {}
        schemas: dict[int, tuple[str, str, str]] = {}
        for code, body in _records(data, len(_MAGIC), _end(data)):
            if code == _CHUNK:
                inner = _content(body)
                for part, record in _records(inner, 0, len(inner)):
                    yield from _row(part, record, schemas, topics)
            elif code == _DATA_END:
                return
            else:
                yield from _row(code, body, schemas, topics)


def _end(data: Any) -> int:
    """Return the length [bytes] of a file without trailing zeros left by a crash."""
    end = len(data)
    while end and not any(data[max(end - BLOCK, 0) : end]):
        end = max(end - BLOCK, 0)
    if end == len(data):
        return end
    begin = max(end - BLOCK, 0)  # the zeros begin in this block
    return begin + len(bytes(data[begin:end]).rstrip(b"\0"))


def _records(data: Any, at: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield the opcode and content of each MCAP record between two byte offsets."""
    while at + _HEAD.size <= end:
        code, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        whole = at + length <= end
        if whole or code == _CHUNK:
            yield code, bytes(data[at : min(at + length, end)])
        if not whole:
            return
        at += length


def _row(
    code: int, body: bytes, schemas: dict[int, tuple[str, str, str]], topics: dict[int, Topic]
) -> Iterator[Row]:
    """Yield the message from an MCAP record, if it contains one.

    If it contains a schema or a channel, that is stored in `schemas` or `topics`.
    """
    if code == _MESSAGE and len(body) >= _MESSAGE_HEAD.size:
        channel, _, stamp, _ = _MESSAGE_HEAD.unpack_from(body)
        if channel in topics:
            yield topics[channel], stamp, body[_MESSAGE_HEAD.size :]
    elif code == _SCHEMA:
        (number,) = struct.unpack_from("<H", body)
        name, encoding, text = _strings(body, 2, 3)
        schemas[number] = name, encoding, text
    elif code == _CHANNEL:
        number, schema = struct.unpack_from("<HH", body)
        topic, serialization = _strings(body, 4, 2)
        if schema in schemas and serialization == "cdr":
            topics[number] = Topic(topic, *schemas[schema])


def _strings(body: bytes, at: int, count: int) -> list[str]:
    found = []
    for _ in range(count):
        (length,) = struct.unpack_from("<I", body, at)
        found.append(body[at + 4 : at + 4 + length].decode())
        at += 4 + length
    return found


def _content(chunk: bytes) -> bytes:
    """Return the readable part of an MCAP chunk; b"" if its checksum is wrong."""
    if len(chunk) < _CHUNK_HEAD.size + 4:
        return b""
    (compression,) = _strings(chunk, _CHUNK_HEAD.size, 1)
    data = chunk[_CHUNK_HEAD.size + 4 + len(compression) + 8 :]
    _, _, size, checksum = _CHUNK_HEAD.unpack_from(chunk)
    step = _decompressor(compression)
    content, at = bytearray(), 0
    # piece by piece, to keep the data before an error
    with suppress(Exception):
        while at < len(data) and len(content) < size:
            content += step(data[at : at + 4096])
            at += 4096
    is_damaged = checksum and len(content) >= size and crc32(content[:size]) != checksum
    return b"" if is_damaged else bytes(content[:size])


def _decompressor(compression: str) -> Callable[[bytes], bytes]:
    """Return a function that decompresses successive parts of a stream."""
    if compression == "lz4":
        from lz4.frame import LZ4FrameDecompressor

        return LZ4FrameDecompressor().decompress  # type: ignore[no-any-return]
    if compression == "zstd":
        from rosbags.rosbag2.storage_mcap import zstd

        make: Any = getattr(zstd, "ZstdDecompressor", None)
        if hasattr(make(), "decompressobj"):  # older rosbags releases use zstandard
            return make().decompressobj().decompress  # type: ignore[no-any-return]
        return make().decompress  # type: ignore[no-any-return]
    return lambda piece: piece


def _rows_of_database(file: Path) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / file.name
        shutil.copyfile(file, copy)
        for end in JOURNALS:
            if (beside := Path(f"{file}{end}")).is_file():
                shutil.copyfile(beside, f"{copy}{end}")
        with closing(sqlite3.connect(copy)) as database:
            database.execute("PRAGMA writable_schema=ON")  # else a truncated file is not opened
            definitions = {}
            with suppress(sqlite3.Error):  # none before version 4 of the schema
                found = database.execute(_DEFINITIONS)
                definitions = {kind: (form, text) for kind, form, text in found}
            topics = {
                number: Topic(name, kind, *definitions.get(kind, ("", "")))
                for number, name, kind in database.execute("SELECT id, name, type FROM topics")
            }
            for number, stamp, data in database.execute(
                "SELECT topic_id, timestamp, data FROM messages ORDER BY id"
            ):
                if number in topics:
                    yield topics[number], stamp, bytes(data)
