# SPDX-License-Identifier: Apache-2.0

"""A recording as a CSV file: a column with the time, and one for each quantity of each joint."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import number_in
from robodyn.errors import InvalidInput
from robodyn.identification.joint_tables import FIELDS, JointTable

TIMES = ("time", "__time", "t", "timestamp")
# `joint1.position`; `/joint_states/joint1/position`, as PlotJuggler exports it
_COLUMN = re.compile(r"^(?P<joint>.+)[./](?P<word>position|velocity|effort|current)$")
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
    numbers = np.empty((len(lines) - 1, len(header)))
    for values, (line, _), row in zip(numbers, lines[1:], rows, strict=True):
        if len(row) != len(header):
            raise InvalidInput(
                f"{path}: line {line} has {len(row)} cells, the header has {len(header)}",
                value=row,
            )
        values[:] = [number_in(cell or "nan") for cell in row]
        for column in np.flatnonzero(np.isnan(values)).tolist():
            cell = row[column]
            if cell.strip().lower().lstrip("+-") not in ("", "nan"):
                hint = "; decimals are written with a point" if "," in cell else ""
                raise InvalidInput(
                    f"{path}: line {line}, column {header[column]!r}: {cell!r} is not a "
                    f"number{hint}",
                    value=cell,
                )
    return header, numbers, lines[0][0]


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
    numbers = numbers[np.isfinite(numbers[:, timed[0]])]
    values = {field: np.full((len(numbers), len(joints)), np.nan) for field in FIELDS}
    for column, (joint, field) in named.items():
        own = numbers[:, column]
        values[field][:, joints.index(joint)] = np.where(np.isfinite(own), own, np.nan)
    not_finite = int(np.count_nonzero(~np.isfinite(numbers[:, list(named)])))
    stamps = np.round(numbers[:, timed[0]] * 1e9).astype(np.int64)
    return JointTable(str(path), joints, stamps, stamps, values, not_finite)


def _columns(header: Sequence[str]) -> dict[int, tuple[str, str]]:
    """Joint and field of columns; joints are numbers alone where the columns have no names.

    Names by the rule go before those of other programs.
    """
    ranks: dict[tuple[str, str], tuple[int, int]] = {}
    for pattern in (_COLUMN, _NUMBERED, _WORDED):
        ranks.clear()
        for column, name in enumerate(header):
            match = pattern.match(name)
            wanted = pattern is not _COLUMN and _WANTED & set(re.split(r"[_./ ]", name.lower()))
            if match and not wanted:
                word = match["word"].lower()
                field = _FIELD_OF[word]
                rank = WORDS[field].index(word), column
                ranks[match["joint"], field] = min(ranks.get((match["joint"], field), rank), rank)
        if any(field == "position" for _, field in ranks):
            break
    else:
        ranks.clear()
    return {column: place for place, (_, column) in ranks.items()}
