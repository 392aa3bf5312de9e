# SPDX-License-Identifier: Apache-2.0

"""Joint readings as received, and their assignment to the driven joints.

There is one table for each topic of a bag, or for a CSV file.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from robodyn.arrays import FloatArray, IntArray
from robodyn.errors import InvalidInput
from robodyn.formats.bags import read_bag
from robodyn.mechanism.mechanism import Mechanism

FIELDS = ("position", "velocity", "effort")

# Topics with efforts alone, the likeliest first, used if joint states have none.
EFFORTS = ("joint_commands", "forces")


class Reading(NamedTuple):
    """Joint readings of one message; each field is empty or has a value for each name."""

    names: tuple[str, ...]
    position: Any
    velocity: Any
    effort: Any


@dataclass(frozen=True, eq=False)
class JointTable:
    """Readings of k joints at N times, in the order of receipt; NaN for missing values.

    Attributes:
        name: topic or file.
        joints: (k,) names of the joints, in the order of the columns of `values`.
        stamps: (N,) [ns] time stamps of the messages' headers, all zero without headers.
        received: (N,) [ns] times of receipt; for a file the same as `stamps`.
        values: for each of `FIELDS`, its values (N, k).
        not_finite: number of given values that are not finite.
        has_currents: whether efforts are currents of the motors.
    """

    name: str
    joints: tuple[str, ...]
    stamps: IntArray
    received: IntArray
    values: dict[str, FloatArray]
    not_finite: int = 0
    has_currents: bool = False


Column = tuple[JointTable, int]
# By quantity and index of the driven joint.
Columns = dict[tuple[str, int], Column]


def _joint_state(message: Any) -> Reading:
    return Reading(tuple(message.name), message.position, message.velocity, message.effort)


def _dynamic_joint_state(message: Any) -> Reading:
    rows = [
        dict(zip(each.interface_names, each.values, strict=False))
        for each in message.interface_values
    ]
    columns = ([row.get(field, np.nan) for row in rows] for field in FIELDS)
    return Reading(tuple(message.joint_names), *columns)


def _controller_state(message: Any) -> Reading:
    # `actual` up to Humble
    point = message.feedback if hasattr(message, "feedback") else message.actual
    return Reading(tuple(message.joint_names), point.positions, point.velocities, point.effort)


READERS: dict[str, Callable[[Any], Reading]] = {
    "sensor_msgs/msg/JointState": _joint_state,
    "control_msgs/msg/DynamicJointState": _dynamic_joint_state,
    "control_msgs/msg/JointTrajectoryControllerState": _controller_state,
}
NAMELESS = "std_msgs/msg/Float64MultiArray"


def tables_of_bag(
    bag: Path, topic: str, effort_topic: str, joints: Sequence[str], notes: list[str]
) -> list[JointTable]:
    """Read the joint readings of a bag, a table for each topic that has any.

    Args:
        bag: folder or file.
        topic, effort_topic: required topics, or empty. The latter may have messages without joint
            names (`NAMELESS`), which contain the efforts of `joints`.
        joints: joints of such messages, in their order.
        notes: list to which topics with undefined message types are added.

    Returns:
        A table of readings for each topic, or an empty sequence.

    Raises:
        InvalidInput: the bag cannot be read; it lacks messages, joint readings or the topic; or a
            message does not have one effort for each joint.
    """
    read = read_bag(
        bag, lambda name, kind: kind in READERS or (name == effort_topic and kind == NAMELESS)
    )
    notes += [f"{name}: its message type is not defined in the bag" for name in read.unreadable]
    if not any(count for _, count in read.topics.values()):
        raise InvalidInput(f"{bag}: the bag contains no messages", value=str(bag))
    rows: dict[str, list[tuple[int, int, Reading]]] = {}
    for name, received, message in read.messages:
        kind = read.topics[name][0]
        if kind == NAMELESS:
            if len(message.data) != len(joints):
                raise InvalidInput(
                    f"{bag}: {name} has {len(message.data)} efforts in a message, expected "
                    f"{len(joints)}, one for each of {', '.join(joints)}",
                    value=name,
                )
            row = (0, received, Reading(tuple(joints), (), (), message.data))
        else:
            stamp = message.header.stamp
            at = int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)
            row = (at, received, READERS[kind](message))
        rows.setdefault(name, []).append(row)
    listed = ", ".join(f"{name} ({kind})" for name, (kind, _) in read.topics.items())
    for option, requested in (("topic", topic), ("effort_topic", effort_topic)):
        if requested and requested not in rows:
            raise InvalidInput(
                f"{bag}: {option} {requested!r} contains no joint readings; the bag contains "
                f"{listed}",
                value=requested,
            )
    if not rows:
        raise InvalidInput(
            f"{bag}: no joint readings found, expected messages of type "
            f"{' or '.join(READERS)}; the bag contains {listed}",
            value=str(bag),
        )
    return [_table(*item) for item in rows.items()]


def _table(name: str, rows: Sequence[tuple[int, int, Reading]]) -> JointTable:
    joints = tuple(dict.fromkeys(each for *_, reading in rows for each in reading.names))
    place = {joint: column for column, joint in enumerate(joints)}
    columns: dict[tuple[str, ...], list[int]] = {}
    values = {field: np.full((len(rows), len(joints)), np.nan) for field in FIELDS}
    not_finite = 0
    for row, (*_, reading) in enumerate(rows):
        if reading.names not in columns:
            columns[reading.names] = [place[joint] for joint in reading.names]
        for field in FIELDS:
            given = np.asarray(getattr(reading, field), dtype=np.float64)
            if given.size and given.size == len(reading.names):
                finite = np.isfinite(given)
                not_finite += int(given.size - np.count_nonzero(finite))
                values[field][row, columns[reading.names]] = np.where(finite, given, np.nan)
    stamps = np.array([[stamp, received] for stamp, received, _ in rows], dtype=np.int64)
    return JointTable(name, joints, stamps[:, 0], stamps[:, 1], values, not_finite)


class _Candidate(NamedTuple):
    """Table that may contain the recording, with its columns of driven joints."""

    table: JointTable
    columns: Columns

    def of(self, field: str) -> list[Column]:
        return [column for (name, _), column in self.columns.items() if name == field]

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """Sort key by joints, topic, efforts and number of messages; lower is better."""
        named, pushes = self.table.name.endswith("joint_states"), _has_efforts(self.of("effort"))
        return -len(self.of("position")), -int(named), -int(pushes), -len(self.table.stamps)

    @property
    def effort_rank(self) -> int:
        """Sort key that is lower for topics that more likely contain efforts."""
        ranks = [rank for rank, name in enumerate(EFFORTS) if self.table.name.endswith(name)]
        return min(ranks, default=len(EFFORTS))


def sources_of(
    source: str,
    m: Mechanism,
    tables: Sequence[JointTable],
    renamed: Mapping[str, str],
    notes: list[str],
    topic: str = "",
    effort_topic: str = "",
) -> Columns:
    """Select the table columns that contain the readings of each driven joint.

    Remarks for the user are added to `notes`. Velocities are selected for all joints or for none.

    Returns:
        Table and column index, by pairs of a quantity (`position`, `velocity`, `effort`) and the
        index of a driven joint.

    Raises:
        InvalidInput: a driven joint is not in the tables, or there are no efforts.
    """
    names = m.joint_names
    unknown = [name for name in renamed if name not in names]
    if unknown:
        raise InvalidInput(
            f"joints maps {', '.join(unknown)}, expected driven joints of {m.name}: "
            f"{', '.join(names)}",
            value=dict(renamed),
        )
    places = [_match_joints(table, names, renamed, notes) for table in tables]
    every = [_candidate(*pair) for pair in zip(tables, places, strict=True)]
    moving = [t for t in every if topic in ("", t.table.name)]
    moving = [t for t in moving if not effort_topic or t.table.name != effort_topic]
    moving.sort(key=lambda t: t.rank)
    known = _merge_columns(moving)
    missing = [name for j, name in enumerate(names) if ("position", j) not in known]
    if missing:
        raise InvalidInput(_missing_joints_message(source, m, missing, moving), value=missing)
    columns = {("position", j): known["position", j] for j in range(len(names))}
    used = list(dict.fromkeys(table for table, _ in columns.values()))
    others = [
        t.table.name for t in moving if t.table not in used and len(t.of("position")) == len(names)
    ]
    if others:
        notes.append(
            f"positions are read from {used[0].name}, but are also in {', '.join(others)}: "
            "`topic` selects another source"
        )
    if all(np.isfinite(table.values["velocity"][:, k]).any() for table, k in columns.values()):
        columns |= {("velocity", j): columns["position", j] for j in range(len(names))}
    columns |= _select_efforts(source, names, every, used, effort_topic, notes)
    extra = [
        name
        for table, place in zip(tables, places, strict=True)
        for column, name in enumerate(table.joints)
        if table in used and column not in place.values() and name not in m.all_joint_names
    ]
    if extra:
        notes.append(f"recorded joints that are not in {m.name} are ignored: {', '.join(extra)}")
    return columns


def _match_joints(
    table: JointTable, names: Sequence[str], renamed: Mapping[str, str], notes: list[str]
) -> dict[int, int]:
    """Map each driven joint to its column in a table.

    A prefix may precede the name of the joint. The result maps joint indices to column indices.

    Numbered columns are those of the driven joints in the mechanism's order.
    """
    recorded, found = table.joints, {}
    for j, name in enumerate(names):
        original = renamed.get(name, name)
        endings = tuple(f"{mark}{original}" for mark in "_/.")
        tries = (
            [joint for joint in recorded if joint == original],
            [joint for joint in recorded if joint.endswith(endings)],
            [joint for joint in recorded if _normalize_name(joint) == _normalize_name(original)],
        )
        alone = [joints[0] for joints in tries if len(joints) == 1]
        if alone:
            found[j] = recorded.index(alone[0])
    matches = [_NUMBERED.match(joint) for joint in recorded]
    numbers = [int(match["number"]) for match in matches if match]
    by_number = not (found or renamed) and len(numbers) == len(recorded) == len(names)
    if by_number:
        found = dict(enumerate(sorted(range(len(numbers)), key=numbers.__getitem__)))
    pairs = [
        f"{names[j]} is {recorded[place]}"
        for j, place in found.items()
        if names[j] not in renamed and recorded[place] != names[j]
    ]
    if pairs:
        how = "their numbers" if by_number else "the end of their names"
        notes.append(f"{table.name}: joints matched by {how}: {', '.join(pairs)}")
    return found


# Joints that are named by numbers only, such as `2`, `J2` or `Joint 2`.
_NUMBERED = re.compile(r"^(?:(?:joint|j)[\W_]*)?(?P<number>\d+)$", re.IGNORECASE)


def _normalize_name(name: str) -> str:
    return re.sub(r"[\W_]+", "_", name.lower()).strip("_")


def _candidate(table: JointTable, places: Mapping[int, int]) -> _Candidate:
    columns = {
        (field, j): (table, place)
        for field in FIELDS
        for j, place in places.items()
        if np.isfinite(table.values[field][:, place]).any()
    }
    return _Candidate(table, columns)


def _merge_columns(candidates: Sequence[_Candidate]) -> Mapping[tuple[str, int], Column]:
    """Map each joint and quantity to its column in the first table that contains it."""
    return ChainMap(*(each.columns for each in candidates))


def _has_efforts(columns: Iterable[Column]) -> bool:
    """Return whether any effort in these columns is nonzero."""
    efforts = (table.values["effort"][:, column] for table, column in columns)
    return any(bool((np.isfinite(values) & (values != 0.0)).any()) for values in efforts)


def _missing_joints_message(
    source: str, m: Mechanism, missing: Sequence[str], tables: Sequence[_Candidate]
) -> str:
    recorded = list(dict.fromkeys(joint for t in tables for joint in t.table.joints))
    if all(name in recorded for name in missing):
        return f"{source}: no positions of {', '.join(missing)} were recorded"
    return (
        f"{source}: no positions of {', '.join(missing)}; {m.name} drives "
        f"{', '.join(m.joint_names)}; recorded: {', '.join(recorded) or 'none'}; `joints` "
        "(--joint model=recorded) maps names of the model to those recorded"
    )


def _select_efforts(
    source: str,
    names: Sequence[str],
    every: Sequence[_Candidate],
    used: Sequence[JointTable],
    effort_topic: str,
    notes: list[str],
) -> Columns:
    """Select the columns of efforts, preferably from the tables of positions.

    If these contain no efforts of all joints, the other tables are tried, the likeliest first. If
    `effort_topic` is given, only this topic is used.
    """
    own = sorted((t for t in every if t.table in used), key=lambda t: used.index(t.table))
    rest = sorted((t for t in every if t.table not in used), key=lambda t: t.effort_rank)
    tries = [own, *([t] for t in rest)]
    if effort_topic:
        tries = [[t for t in every if t.table.name == effort_topic]]
    places = [("effort", j) for j in range(len(names))]
    for candidates in tries:
        known = _merge_columns(candidates)
        found = {place: known[place] for place in places if place in known}
        if len(found) == len(names) and _has_efforts(found.values()):
            if candidates is not own and not effort_topic:
                notes.append(
                    f"{used[0].name} contains no efforts: those in {candidates[0].table.name} "
                    "are used"
                )
            return found
    known = _merge_columns(every)
    missing = [name for place, name in zip(places, names, strict=True) if place not in known]
    what = f"no efforts of {', '.join(missing)}" if missing else "all efforts are zero"
    raise InvalidInput(
        f"{source}: {what}; record the efforts, or the motors' currents as efforts with their "
        "`effort_gain` (--effort-gain), or name their topic as `effort_topic` (--effort-topic)",
        value=source,
    )
