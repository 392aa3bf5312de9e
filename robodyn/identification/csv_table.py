# SPDX-License-Identifier: Apache-2.0

"""Recordings as CSV files: a column with the time, and one for each quantity of each joint.

Tables of words, marks and units determine the meaning of each column, for files from ROS tools,
PlotJuggler, libfranka, RTDE and custom ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robodyn.arrays import BoolArray, FloatArray, IntArray
from robodyn.errors import InvalidInput
from robodyn.formats.csv_text import Columns, read_columns
from robodyn.identification.joint_tables import FIELDS, JointTable
from robodyn.identification.plausibility import PositionUnit

# Names of a column of time without its unit, the likeliest first.
TIMES = (
    "time", "__time", "t", "timestamp", "time_stamp", "stamp", "elapsed", "elapsed_time",
    "header.stamp", "field.header.stamp", "seconds", "sec", "secs",
)  # fmt: skip
NANOSECONDS = ("nanosec", "nanosecs", "nsec", "nsecs", "nanosecond", "nanoseconds")
CURRENT_UNITS = ("a", "amp", "ampere", "amperes")
# Units by quantity, each with its value in SI units; a position may be an angle or a length.
UNITS: Mapping[str, Mapping[str, float]] = {
    "time": dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0)
    | dict.fromkeys(("ms", "msec", "msecs", "millisec", "milliseconds", "millis"), 1e-3)
    | dict.fromkeys(("us", "µs", "usec", "usecs", "microsec", "microseconds", "micros"), 1e-6)
    | dict.fromkeys((*NANOSECONDS, "ns", "nanos"), 1e-9),
    "position": dict.fromkeys(("rad", "rads", "radian", "radians", "m", "meter", "meters"), 1.0)
    | dict.fromkeys(("deg", "degs", "degree", "degrees", "°"), np.pi / 180.0)
    | dict.fromkeys(("mm", "millimeter", "millimeters"), 1e-3),
    "velocity": dict.fromkeys(("rad/s", "rad/sec", "rads", "radps", "m/s", "m/sec", "mps"), 1.0)
    | dict.fromkeys(("deg/s", "deg/sec", "degs", "degps", "°/s"), np.pi / 180.0)
    | {"mm/s": 1e-3, "mm/sec": 1e-3, "rpm": np.pi / 30.0, "1/min": np.pi / 30.0},
    # a gain converts currents to efforts
    "effort": dict.fromkeys(("nm", "n", *CURRENT_UNITS), 1.0)
    | {"mnm": 1e-3, "ma": 1e-3, "knm": 1e3, "kn": 1e3, "mn": 1e-3},
}  # fmt: skip
# Words for a quantity; if a joint has several, the first in this order is read.
WORDS = {
    "position": ("position", "pos", "q", "angle"),
    "velocity": ("velocity", "vel", "qd", "dq", "qdot", "speed"),
    "effort": ("effort", "torque", "tau", "tau j", "current", "i"),
}
_FIELD_OF = {word: field for field, words in WORDS.items() for word in words}
# Quantities of two words.
_PHRASES: Mapping[tuple[str, ...], str] = {("tau", "j"): "tau j", ("q", "dot"): "qdot"}
# Commanded or derived quantities, which are not measured.
NOT_MEASURED = {
    "target", "targets", "desired", "des", "d", "ref", "reference", "references", "command",
    "commands", "commanded", "cmd", "setpoint", "setpoints", "goal", "error", "errors", "err",
    "ext", "external", "hat", "est", "estimated", "predicted", "min", "max", "limit", "limits",
    "lower", "upper", "std", "variance", "acc", "accel", "acceleration", "ddq", "qdd",
}  # fmt: skip
# Words that may follow a quantity, besides a number.
FOLLOWING_WORDS = {
    "joint", "joints", "j", "axis", "meas", "measured", "actual", "act", "raw", "motor", "m", "fb",
    "feedback",
}  # fmt: skip
EXPECTED = "time, <joint>.position, <joint>.effort (or <joint>.current), <joint>.velocity if known"
# Largest stamp [s]; a larger one counts neither from 1970 nor from the start of a robot.
LATEST = 9e9
# `joint1.position`; `/joint_states/joint1/position`, as PlotJuggler exports it
_RULE = re.compile(r"^(?P<joint>.+)[./](?P<word>position|velocity|effort|current)$")


class _Meaning(NamedTuple):
    """Joint and quantity in a column of a CSV file, parsed from its name.

    `rank` is lower for words that more likely denote the quantity; `unit` is the unit in the name,
    or empty.
    """

    joint: str
    field: str
    rank: int
    unit: str = ""


def table_of_csv(path: Path, position_unit: PositionUnit = "") -> JointTable:
    """Read the joint readings of a CSV file, and convert them to SI units.

    Args:
        path: CSV file.
        position_unit: if set, positions and velocities are not converted, because the caller
            knows their unit; empty if the header states the units.

    Returns:
        Positions, efforts and velocities by joint, with time stamps.

    Raises:
        InvalidInput: the file cannot be read, has no column of time or of positions, or contains an
            unknown unit.
    """
    table = read_columns(path)
    stamps, known = _stamps(path, table)
    named = _map_columns(table.names)
    if not named:
        raise _missing_column(path, table, "joint's position")
    joints = tuple(dict.fromkeys(joint for joint, _ in named))
    numbers = table.numbers[known]
    values = {field: np.full((len(numbers), len(joints)), np.nan) for field in FIELDS}
    not_finite = int(np.count_nonzero(~known))
    currents = False
    for (joint, field), (column, in_name) in named.items():
        given = bool(position_unit) and field != "effort"
        own = numbers[:, column]
        finite = np.isfinite(own)
        not_finite += int(np.count_nonzero(~finite))
        if field == "effort":
            unit = (in_name or table.units[column]).lower()
            currents |= "current" in table.names[column].lower() or unit in CURRENT_UNITS
        scale = 1.0 if given else _scale(path, table, column, field, in_name)
        values[field][:, joints.index(joint)] = np.where(finite, scale * own, np.nan)
    return JointTable(str(path), joints, stamps, stamps, values, not_finite, currents)


def _stamps(path: Path, table: Columns) -> tuple[IntArray, BoolArray]:
    """Read the time stamps of a CSV file.

    Returns:
        Stamps (N,) [ns] of the rows that have a stamp; and for each row of the file, whether it has
        a stamp.
    """
    names = [_normalize_name(name) for name in table.names]
    found: list[tuple[int, int, str]] = []
    for column, name in enumerate(names):
        stem, _, unit = name.rpartition("_")
        if name in TIMES:
            found.append((TIMES.index(name), column, ""))
        elif stem in TIMES and unit in UNITS["time"]:
            found.append((TIMES.index(stem), column, unit))
    # seconds and nanoseconds of a stamp are neighbors with the same prefix
    pairs = [
        (names.index(f"{prefix}{second}"), column)
        for column, name in enumerate(names)
        for nanosecond in NANOSECONDS
        if name.endswith(nanosecond)
        for prefix in [name.removesuffix(nanosecond)]
        for second in ("sec", "secs", "second", "seconds")
        if f"{prefix}{second}" in names
    ]
    if pairs:
        whole, part = (table.numbers[:, column] for column in pairs[0])
        known = np.isfinite(whole) & np.isfinite(part)
        whole, part = whole[known], part[known]
        _refuse_far(path, table, pairs[0][0], whole + 1e-9 * part, "s")
        return np.round(whole).astype(np.int64) * 10**9 + np.round(part).astype(np.int64), known
    if not found:
        raise _missing_column(path, table, "time")
    _, column, unit = min(found)
    if not unit and any(name.startswith("field.") for name in names):  # of `rostopic echo -p`
        unit = "ns"
    scale = _scale(path, table, column, "time", unit)
    known = np.isfinite(table.numbers[:, column])
    times = table.numbers[known, column]
    _refuse_far(path, table, column, scale * times, unit or table.units[column])
    return np.round(times * (scale * 1e9)).astype(np.int64), known


def _refuse_far(path: Path, table: Columns, column: int, times: FloatArray, unit: str) -> None:
    if len(times) and np.abs(times).max() > LATEST:
        worst = float(times[np.argmax(np.abs(times))])
        reading = f"read in {unit}" if unit else "read in seconds, because its name has no unit"
        raise InvalidInput(
            f"{path}: column {table.names[column]!r} reaches {worst:.4g} s, {reading}: name it "
            "time_ms, time_us or time_ns if it is in one of these units",
            value=worst,
        )


def _scale(path: Path, table: Columns, column: int, kind: str, in_name: str) -> float:
    """Return the factor that converts a column of a CSV file to SI units.

    The unit is part of the column's name (`in_name`), or follows it in brackets or in the row
    below.
    """
    unit = in_name or table.units[column]
    known = UNITS[kind]
    plain = re.sub(r"[\s·*^()]", "", unit.lower()).replace("radians", "rad").replace(".", "")
    if not plain:
        return 1.0
    if plain not in known:
        a = "an" if kind == "effort" else "a"
        advice = "; otherwise remove the unit and give effort_gain" if kind == "effort" else ""
        raise InvalidInput(
            f"{path}: line {table.line}, column {table.names[column]!r}: unknown unit {unit!r} "
            f"of {a} {kind}, expected one of {', '.join(known)}{advice}",
            value=unit,
        )
    return known[plain]


def _missing_column(path: Path, table: Columns, what: str) -> InvalidInput:
    header = table.names
    shown = ", ".join(name[:40] for name in header[:12])
    return InvalidInput(
        f"{path}: line {table.line}: no column contains a {what}; expected {EXPECTED}; found "
        f"{shown}{' ...' if len(header) > 12 else ''}",
        value=header,
    )


def _normalize_name(name: str) -> str:
    return re.sub(r"\s+", "_", name.strip().lower())


def _map_columns(header: Sequence[str]) -> dict[tuple[str, str], tuple[int, str]]:
    """Map each joint and quantity to a column's index and the unit in its name.

    A joint without a name is identified by its number. Names such as `<joint>.position` take
    precedence over numbered columns, and these over other names.
    """
    for meaning_of in (_parse_standard_name, _parse_numbered_name, _parse_worded_name):
        ranks: dict[tuple[str, str], tuple[int, int, str]] = {}
        for column, name in enumerate(header):
            if meaning := meaning_of(name):
                key, rank = meaning[:2], (meaning.rank, column, meaning.unit)
                ranks[key] = min(ranks.get(key, rank), rank)
        if any(field == "position" for _, field in ranks):
            return {key: rank[1:] for key, rank in ranks.items()}
    return {}


def _parse_standard_name(name: str) -> _Meaning | None:
    match = _RULE.match(name)
    if not match:
        return None
    field = _FIELD_OF[match["word"]]
    return _Meaning(match["joint"], field, WORDS[field].index(match["word"]))


def _parse_numbered_name(name: str) -> _Meaning | None:
    """Parse a numbered column name: `q1`, `actual_q_0`, `/joint_states/position[2]`."""
    parts = re.findall(r"[^\W\d_]+|\d+", name.lower())
    numbers = [k for k, part in enumerate(parts) if part.isdecimal()]
    found = _find_quantity(parts)
    if NOT_MEASURED & set(parts) or len(numbers) != 1 or not found or numbers[0] < found[1]:
        return None
    _, stop, word = found
    suffixes = [part for part in parts[stop:] if not part.isdecimal()]
    field = _FIELD_OF[word]
    unit = next(
        (part for part in suffixes if part in UNITS[field] and part not in FOLLOWING_WORDS), ""
    )
    if not set(suffixes) <= FOLLOWING_WORDS | {unit}:
        return None
    return _Meaning(parts[numbers[0]], field, WORDS[field].index(word), unit)


def _parse_worded_name(name: str) -> _Meaning | None:
    """Parse a column name with words: `shoulder_pan_joint_pos`, `elbow_torque_Nm`."""
    parts = list(re.finditer(r"[^\W\d_]+|\d+", name))
    words = [match[0].lower() for match in parts]
    if NOT_MEASURED & set(words):
        return None
    while words and words[-1] in FOLLOWING_WORDS - {"m"}:
        words.pop()
    unit = ""
    if len(words) > 2 and any(words[-1] in units for units in UNITS.values()):
        unit = words.pop()
    for size in (2, 1):
        tail = tuple(words[-size:])
        word = _PHRASES.get(tail, "") if size == 2 else (tail[0] if tail else "")
        if word in _FIELD_OF and len(words) > size:
            field = _FIELD_OF[word]
            if unit and unit not in UNITS[field]:
                return None
            joint = name[: parts[len(words) - size].start()].rstrip("_./ ([")
            return _Meaning(joint, field, WORDS[field].index(word), unit) if joint else None
    return None


def _find_quantity(parts: Sequence[str]) -> tuple[int, int, str] | None:
    """Find the last word for a quantity in a name's parts; return start, stop, word."""
    for at in reversed(range(len(parts))):
        pair = _PHRASES.get(tuple(parts[at : at + 2]), "")
        if pair:
            return at, at + 2, pair
        if parts[at] in _FIELD_OF:
            return at, at + 1, parts[at]
    return None
