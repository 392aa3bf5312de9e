# SPDX-License-Identifier: Apache-2.0

"""Damages of text and bytes, as transmission, editors and people cause them."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

import robodyn as rd

NUMBERS = ("nan", "inf", "-inf", "1e308", "-1e308", "1e999", "-1", "0", "1e-320", "1e7", "", "x",
           "0x10", "1_0", "\u0661", "[]", "{}", "true", "1e16", "100000000")  # fmt: skip
NUMBER = re.compile(r"[-+]?\b\d+\.?\d*(?:[eE][-+]?\d+)?\b")
ELEMENT = re.compile(r"<([\w:]+)[^<>]*/>|<([\w:]+)[^<>/]*>[^<]*</\2>")
WORD = re.compile(r"\"[\w /.:-]+\"|\b[a-z_]{3,}\b")


def pick(rng, found):
    return found[int(rng.integers(len(found)))] if found else None


def with_number(text, rng):
    where = pick(rng, list(NUMBER.finditer(text)))
    new = NUMBERS[int(rng.integers(len(NUMBERS)))]
    return text if where is None else text[: where.start()] + new + text[where.end() :]


def with_bytes(text, rng):
    data = bytearray(text.encode("utf-8", "replace") or b" ")
    for _ in range(int(rng.integers(1, 6))):
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    return bytes(data)


def without_element(text, rng):
    where = pick(rng, list(ELEMENT.finditer(text)) or list(re.finditer(r"[^\n]*(\n|\Z)", text)))
    return text[: where.start()] + text[where.end() :]


def with_element_twice(text, rng):
    where = pick(rng, list(ELEMENT.finditer(text)) or list(re.finditer(r"[^\n]*(\n|\Z)", text)))
    return text[: where.end()] + where.group() + text[where.end() :]


def with_words_exchanged(text, rng):
    first, second = (pick(rng, list(WORD.finditer(text))) for _ in range(2))
    if first is None or second is None or first.end() > second.start():
        return cut(text, rng)
    middle = text[first.end() : second.start()]
    return text[: first.start()] + second.group() + middle + first.group() + text[second.end() :]


def deep(text, rng):
    where = pick(rng, list(NUMBER.finditer(text)) or list(re.finditer(r"\Z", text)))
    depth = int(rng.choice([70, 3000]))
    inside = "<body>" * depth if text.lstrip().startswith("<") else "[" * depth + "]" * depth
    return text[: where.start()] + inside + text[where.end() :]


def cut(text, rng):
    return text[: int(rng.integers(len(text) + 1))]


DAMAGES = (with_number, with_number, with_number, with_bytes, without_element, with_element_twice,
           with_words_exchanged, deep, cut)  # fmt: skip


def fault_of(error):
    """Return the identity of a fault: its kind, and the line that raised it."""
    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    own = [f"{Path(file).name}:{line}" for file, line in places if "/robodyn/" in file]
    return f"{type(error).__name__} at {own[-1] if own else ''}: {str(error)[:200]}"


def outcome_of(call, *args, **options):
    """Call a reader: accepted, or refused in a message that is there and not too long."""
    try:
        call(*args, **options)
    except rd.RobodynError as error:
        text = str(error)
        assert text
        assert len(text) < 4000
        return "refused"
    return "accepted"


def damaged(text, rng):
    """Return a file's bytes with one or two damages."""
    for _ in range(int(rng.integers(1, 3))):
        damage = DAMAGES[int(rng.integers(len(DAMAGES)))]
        text = damage(text if isinstance(text, str) else text.decode("latin-1"), rng)
    return text if isinstance(text, bytes) else text.encode("utf-8", "replace")


def damaged_binary(data, rng):
    """Return bytes with a few changed, or a piece overwritten, missing or doubled."""
    first, last = sorted(int(rng.integers(len(data) + 1)) for _ in range(2))
    last = min(last, first + int(10 ** rng.uniform(0, 4)))
    kind = int(rng.integers(6))
    if kind == 0:
        return data[:first]
    if kind < 3:
        middle = b"" if kind == 1 else 2 * data[first:last]
        return data[:first] + middle + data[last:]
    changed = bytearray(data)
    if kind == 3:
        changed[first:last] = bytes([int(rng.choice([0, 127, 255]))]) * (last - first)
    else:  # near an end there are lengths and offsets of all the rest
        near = len(data) if kind == 4 else min(200, len(data))
        for _ in range(int(rng.integers(1, 6))):
            where = int(rng.integers(near))
            changed[where if rng.uniform() < 0.5 else len(data) - 1 - where] = rng.integers(256)
    return bytes(changed)
