# SPDX-License-Identifier: Apache-2.0

"""Incomplete bags: complete parts are read, and a warning states their size."""

from __future__ import annotations

import shutil
import sqlite3
import struct
import warnings

import numpy as np
import pytest

pytest.importorskip("rosbags")

from rosbags.rosbag2 import (
    CompressionFormat,
    CompressionMode,
    StoragePlugin,
    Writer,
)
from rosbags.typesys import Stores, get_typestore

from robodyn.errors import IncompleteBagWarning, InvalidInput
from robodyn.formats import read_bag

STORE = get_typestore(Stores.ROS2_JAZZY)
TEXT = "std_msgs/msg/String"
COUNT = 60


def text(k: int) -> str:
    """Some 100 kB that compress to a part: several chunks of a megabyte."""
    return f"{k} " + np.random.default_rng(k).bytes(25_000).hex() + "x" * 50_000


def write(folder, storage="mcap", compress=False):
    """COUNT messages, one a second, on two topics in turn; one message more is none."""
    plugin = StoragePlugin.MCAP if storage == "mcap" else StoragePlugin.SQLITE3
    writer = Writer(folder, version=8, storage_plugin=plugin)
    if compress:
        writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    with writer:
        topics = [writer.add_connection(name, TEXT, typestore=STORE) for name in ("/a", "/b")]
        for k in range(COUNT):
            data = STORE.serialize_cdr(STORE.types[TEXT](text(k)), TEXT)
            writer.write(topics[k % 2], (k + 1) * 10**9, bytes(data))
    return folder


def numbers(bag) -> list[int]:
    """The numbers of the messages that are read, after those that are there were compared."""
    found = []
    for topic, stamp, message in read_bag(bag, lambda *_: True).messages:
        k = int(message.data.split(" ", 1)[0])
        assert (topic, stamp, message.data) == ("/ab"[0] + "ab"[k % 2], (k + 1) * 10**9, text(k))
        found.append(k)
    return found


def cut(folder, to, fraction) -> int:
    """Copy the file of a bag without its end, and without metadata; returns its length."""
    to.mkdir()
    (file,) = [each for each in folder.iterdir() if each.suffix in (".mcap", ".db3")]
    data = file.read_bytes()
    (to / file.name).write_bytes(data[: min(round(fraction * len(data)), len(data) - 1)])
    return len(data)


@pytest.fixture(scope="module", params=["plain", "zstd", "lz4"])
def bag(request, tmp_path_factory):
    folder = write(tmp_path_factory.mktemp("bags") / "run", compress=request.param == "zstd")
    if request.param == "lz4":
        (file,) = folder.glob("*.mcap")
        file.write_bytes(with_lz4(file.read_bytes()))
        (folder / "metadata.yaml").unlink()
    return folder


def with_lz4(data: bytes) -> bytes:
    """Return the MCAP file with compressed chunks, without its summary, which would not fit."""
    frame = pytest.importorskip("lz4.frame")
    out, at = data[:8], 8
    while data[at] != 0x0F:
        code, length = struct.unpack_from("<BQ", data, at)
        body = data[at + 9 : at + 9 + length]
        if code == 0x06:
            packed = frame.compress(body[40:])
            body = body[:28] + struct.pack("<I3sQ", 3, b"lz4", len(packed)) + packed
        out += struct.pack("<BQ", code, len(body)) + body
        at += 9 + length
    return out


def test_a_bag_that_is_whole_is_read_without_a_warning(tmp_path):
    for storage in ("mcap", "sqlite3"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert numbers(write(tmp_path / storage, storage)) == list(range(COUNT))


def test_messages_before_the_cut_of_a_bag_are_read(bag, tmp_path, rng):
    """The messages up to one of them, more the later the cut; of all bytes but the end all."""
    read = []
    for fraction in (*np.sort(rng.uniform(0.1, 0.95, size=6)), 1.0):
        length = cut(bag, tmp_path / f"{fraction}", fraction)
        with pytest.warns(IncompleteBagWarning, match=r"(?s)incomplete.* messages"):
            found = numbers(tmp_path / f"{fraction}")
        assert found == list(range(len(found)))
        # a message is a hundred kilobytes; a compressor keeps some more back
        assert (
            len(found) > COUNT * fraction - 3 - 1e6 / length * ("plain" not in str(bag)) * COUNT / 8
        )
        read.append(len(found))
    assert read == sorted(read)
    assert read[-1] == COUNT


def test_without_metadata_and_in_several_files_all_is_read(tmp_path):
    write(tmp_path / "first")
    write(tmp_path / "second")
    folder = tmp_path / "run"
    folder.mkdir()
    for name in ("first", "second"):
        shutil.copy(tmp_path / name / f"{name}.mcap", folder)
    with pytest.warns(IncompleteBagWarning):
        assert numbers(folder) == sorted([*range(COUNT), *range(COUNT)])


def test_metadata_that_was_cut_does_not_matter(tmp_path):
    folder = write(tmp_path / "run")
    (folder / "metadata.yaml").write_text("")
    with pytest.warns(IncompleteBagWarning):
        assert numbers(folder) == list(range(COUNT))


def test_zeros_at_the_end_of_a_bag_are_ignored(tmp_path):
    cut(write(tmp_path / "run"), tmp_path / "cut", 0.5)
    (file,) = (tmp_path / "cut").iterdir()
    with file.open("ab") as opened:
        opened.write(bytes(1_000_000))
    with pytest.warns(IncompleteBagWarning):
        found = numbers(tmp_path / "cut")
    assert found == list(range(len(found)))
    assert len(found) > COUNT // 3


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_database_is_read_with_its_journal(tmp_path, mode):
    """Committed messages are read, others are not, for any kind of journal."""
    folder = write(tmp_path / "run", "sqlite3")
    (folder / "metadata.yaml").unlink()
    (file,) = folder.glob("*.db3")
    database = sqlite3.connect(file, isolation_level=None)
    database.execute(f"PRAGMA journal_mode={mode}")
    database.execute("PRAGMA wal_autocheckpoint=0")
    database.execute("PRAGMA cache_size=1")  # what is not committed goes to the file early
    database.execute("DELETE FROM messages WHERE id > 50")
    database.execute("BEGIN")
    database.execute("DELETE FROM messages WHERE id > 40")
    database.execute("UPDATE messages SET data = zeroblob(200000)")
    left = tmp_path / "left"
    shutil.copytree(folder, left)
    database.close()
    assert any(each.name.endswith(("-wal", "-journal")) for each in left.iterdir())
    with pytest.warns(IncompleteBagWarning, match=r"\b50\b"):
        assert numbers(left) == list(range(50))
    assert any(each.name.endswith(("-wal", "-journal")) for each in left.iterdir())


def test_a_database_that_was_cut_is_read_up_to_there(tmp_path):
    cut(write(tmp_path / "run", "sqlite3"), tmp_path / "cut", 0.6)
    with pytest.warns(IncompleteBagWarning):
        found = numbers(tmp_path / "cut")
    assert found == list(range(len(found)))
    assert len(found) > COUNT // 3


def test_a_message_that_is_none_costs_no_other(tmp_path):
    folder = tmp_path / "run"
    with Writer(folder, version=8, storage_plugin=StoragePlugin.MCAP) as writer:
        topic = writer.add_connection("/a", TEXT, typestore=STORE)
        sound = bytes(STORE.serialize_cdr(STORE.types[TEXT]("sound"), TEXT))
        for k, data in enumerate((sound, b"\0\1\0\0\1\0\0\0", b"", b"\xff" * 30, sound)):
            writer.write(topic, k, data)
    with pytest.warns(IncompleteBagWarning, match=r"3 of /a"):
        read = read_bag(folder, lambda *_: True)
    assert [(stamp, message.data) for _, stamp, message in read.messages] == [
        (0, "sound"),
        (4, "sound"),
    ]


@pytest.mark.parametrize("data", [b"", b"\x89MCAP0\r\n", b"x" * 100, b"SQLite format 3\0" * 9])
@pytest.mark.parametrize("suffix", [".mcap", ".db3"])
def test_a_file_without_a_message_is_refused(tmp_path, data, suffix):
    file = tmp_path / f"run{suffix}"
    file.write_bytes(data)
    with pytest.raises(InvalidInput, match="this bag cannot be read"):
        read_bag(file, lambda *_: True)
