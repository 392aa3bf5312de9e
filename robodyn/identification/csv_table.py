# SPDX-License-Identifier: Apache-2.0

"""A recording as a CSV file: a column with the time, and one for each quantity of each joint."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import InvalidInput
from robodyn.identification.joint_tables import FIELDS, JointTable

TIMES = ("time", "__time", "t", "timestamp")
# `joint1.position`; `/joint_states/joint1/position`, as PlotJuggler exports it
_COLUMN = re.compile(r"^(?P<joint>.+)[./](?P<field>position|velocity|effort|current)$")
_UNIT = re.compile(r"\s*[\[(](?!\d+[\])]).*[\])]\s*$")
# What other programs call the same; of several for one joint the first in this order is read.
WORDS = {
    "position": ("position", "pos", "q"),
    "velocity": ("velocity", "vel", "qd", "dq"),
    "effort": ("effort", "torque", "tau", "current", "i"),
}
_FIELD_OF = {word: field for field, words in WORDS.items() for word in words}
_ANY = "|".join(sorted(_FIELD_OF, key=len, reverse=True))
# `shoulder_pan_joint_pos`, and numbers alone, as in `q1`, `tau_3`, `actual_q_0`, `position[2]`
_WORDED = re.compile(rf"^(?P<joint>.+)[_./ ](?P<word>{_ANY})$", re.IGNORECASE)
_NUMBERED = re.compile(
    rf"^(?:\w+?[_./ ])?(?P<word>{_ANY})[_./ ]?[\[(]?(?P<joint>\d+)[\])]?$", re.IGNORECASE
)
# What was wanted is no measurement.
_WANTED = {"target", "desired", "reference", "command", "setpoint"}
EXPECTED = "time, <joint>.position, <joint>.effort (or <joint>.current), <joint>.velocity if known"


def read_columns(path: Path) -> tuple[list[str], FloatArray, int]:
    """The header of a CSV file without units, its numbers (N, columns), and the header's line.

    Separated by commas, semicolons or tabs; lines that begin with # are comments. Empty cells and
    `nan` are NaN.

    Raises:
        InvalidInput: a file that cannot be read, is empty, or has cells that are no numbers.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as failure:
        raise InvalidInput(f"{path}: there is no such file", value=str(path)) from failure
    except (OSError, UnicodeDecodeError) as failure:
        raise InvalidInput(f"{path}: cannot be read: {failure}", value=str(path)) from failure
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise InvalidInput(f"{path}: the file is empty", value=str(path))
    counts = {mark: lines[0][1].count(mark) for mark in ",;\t"}
    mark = max(counts, key=lambda each: counts[each])
    rows = csv.reader((line for _, line in lines), delimiter=mark, skipinitialspace=True)
    header = [_UNIT.sub("", cell).strip() for cell in next(rows)]
    numbers: list[list[float]] = []
    for (line, _), row in zip(lines[1:], rows, strict=True):
        if len(row) != len(header):
            raise InvalidInput(
                f"{path}: line {line} has {len(row)} cells, the header has {len(header)}",
                value=row,
            )
        try:
            numbers.append([float(cell) if cell.strip() else np.nan for cell in row])
        except ValueError as failure:
            wrong = next(pair for pair in zip(header, row, strict=True) if not _is_number(pair[1]))
            hint = "; decimals are written with a point" if "," in wrong[1] else ""
            raise InvalidInput(
                f"{path}: line {line}, column {wrong[0]!r}: {wrong[1]!r} is not a number{hint}",
                value=wrong[1],
            ) from failure
    return header, np.array(numbers).reshape(len(numbers), len(header)), lines[0][0]


def table_of_csv(path: Path) -> JointTable:
    """The joint readings of a CSV file.

    Raises:
        InvalidInput: a file that cannot be read, or without a column of time or of positions.
    """
    header, numbers, line = read_columns(path)
    timed = [column for column, name in enumerate(header) if name.lower() in TIMES]
    named = _columns(header)
    if not timed or not named:
        missing = "joint's position" if timed else "time"
        raise InvalidInput(
            f"{path}: line {line}: no column is a {missing}; expected {EXPECTED}; found "
            f"{', '.join(header[:12])}{' ...' if len(header) > 12 else ''}",
            value=header,
        )
    joints = tuple(dict.fromkeys(joint for joint, _ in named.values()))
    values = {field: np.full((len(numbers), len(joints)), np.nan) for field in FIELDS}
    for column, (joint, field) in named.items():
        values[field][:, joints.index(joint)] = numbers[:, column]
    times = numbers[:, timed[0]]
    whole = np.isfinite(times)
    given = numbers[whole][:, list(named)]
    stamps = np.round(times[whole] * 1e9).astype(np.int64)
    for field, array in values.items():
        values[field] = np.where(np.isfinite(array[whole]), array[whole], np.nan)
    return JointTable(
        str(path), joints, stamps, stamps, values, int(np.count_nonzero(~np.isfinite(given)))
    )


def _columns(header: Sequence[str]) -> dict[int, tuple[str, str]]:
    """Joint and field of columns; joints are numbers alone where the columns have no names.

    Names by the rule go before those of other programs.
    """
    found = {column: _COLUMN.match(name) for column, name in enumerate(header)}
    named = {
        column: (match["joint"], "effort" if match["field"] == "current" else match["field"])
        for column, match in found.items()
        if match
    }
    if named:
        return named
    ranks: dict[tuple[str, str], tuple[int, int]] = {}
    for pattern in (_NUMBERED, _WORDED):
        for column, name in enumerate(header):
            match = pattern.match(name)
            if not match or not _WANTED.isdisjoint(re.split(r"[_./ ]", name.lower())):
                continue
            word = match["word"].lower()
            field = _FIELD_OF[word]
            place = match["joint"], field
            rank = WORDS[field].index(word), column
            ranks[place] = min(ranks.get(place, rank), rank)
        if any(field == "position" for _, field in ranks):
            break
        ranks.clear()
    return {column: place for place, (_, column) in ranks.items()}


def _is_number(cell: str) -> bool:
    try:
        float(cell or "nan")
    except ValueError:
        return False
    return True
