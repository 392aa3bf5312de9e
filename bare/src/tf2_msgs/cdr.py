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

"""Transforms as DDS carries them: CDR, the encoding of every ROS message.

Numbers lie at multiples of their own size from the end of the four bytes that say which encoding
it is; a string is its length with the closing zero, its bytes and that zero.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from geometry_msgs.msg import TransformStamped

LITTLE_ENDIAN = b"\x00\x01\x00\x00"
# Two stamps' numbers, two strings and seven doubles: no transform takes less.
SMALLEST = 8 + 2 * 5 + 7 * 8


def write(transforms: Sequence[TransformStamped]) -> bytes:
    """Return a sequence of transforms as bytes."""
    out = bytearray(struct.pack("<I", len(transforms)))
    for transform in transforms:
        stamp, t, q = transform.header.stamp, *_parts(transform)
        _align(out, 4)
        out += struct.pack("<iI", stamp.sec, stamp.nanosec)
        for name in (transform.header.frame_id, transform.child_frame_id):
            text = name.encode() + b"\0"
            _align(out, 4)
            out += struct.pack("<I", len(text)) + text
        _align(out, 8)
        out += struct.pack("<7d", t.x, t.y, t.z, q.x, q.y, q.z, q.w)
    return LITTLE_ENDIAN + bytes(out)


def read(data: bytes) -> list[TransformStamped]:
    """Return the transforms in some bytes.

    Raises:
        ValueError: they are cut short, or no sequence of transforms.
    """
    if len(data) < len(LITTLE_ENDIAN) or data[:2] not in (b"\x00\x00", b"\x00\x01"):
        raise ValueError(f"{len(data)} bytes that are no CDR")
    try:
        return _read(data[4:], "<" if data[1] else ">")
    except struct.error as error:
        raise ValueError(f"a message cut short: {error}") from error


def _read(data: bytes, order: str) -> list[TransformStamped]:
    (count,) = struct.unpack_from(f"{order}I", data)
    if count * SMALLEST > len(data):
        raise ValueError(f"{len(data)} bytes cannot hold {count} transforms")
    at, found = 4, []
    for _ in range(count):
        transform = TransformStamped()
        at = _up(at, 4)
        sec, nanosec = struct.unpack_from(f"{order}iI", data, at)
        transform.header.stamp.sec, transform.header.stamp.nanosec = sec, nanosec
        transform.header.frame_id, at = _string(data, at + 8, order)
        transform.child_frame_id, at = _string(data, at, order)
        at = _up(at, 8)
        t, q = _parts(transform)
        t.x, t.y, t.z, q.x, q.y, q.z, q.w = struct.unpack_from(f"{order}7d", data, at)
        at += 56
        found.append(transform)
    return found


def _parts(transform: TransformStamped) -> tuple:
    return transform.transform.translation, transform.transform.rotation


def _string(data: bytes, at: int, order: str) -> tuple[str, int]:
    at = _up(at, 4)
    (length,) = struct.unpack_from(f"{order}I", data, at)
    end = at + 4 + length
    if end > len(data):
        raise ValueError(f"a string of {length} bytes where {len(data) - at - 4} are left")
    return data[at + 4 : end].rstrip(b"\0").decode(), end


def _up(at: int, size: int) -> int:
    return -(-at // size) * size


def _align(out: bytearray, size: int) -> None:
    out += bytes(_up(len(out), size) - len(out))
