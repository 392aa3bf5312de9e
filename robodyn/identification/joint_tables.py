# SPDX-License-Identifier: Apache-2.0

"""Joint readings as they were received: one table for each topic of a bag, or for a CSV file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from robodyn.arrays import FloatArray, IntArray
from robodyn.errors import InvalidInput
from robodyn.formats.bags import read_bag

FIELDS = ("position", "velocity", "effort")


class Reading(NamedTuple):
    """What one message says of joints; of each field no values, or one for each name."""

    names: tuple[str, ...]
    position: Any
    velocity: Any
    effort: Any


@dataclass(frozen=True, eq=False)
class JointTable:
    """Readings of joints in the order of their receipt; NaN where a message lacks a value.

    Attributes:
        name: of the topic or the file.
        joints: (k,) in the order of the columns.
        stamps: (N,) [ns] by the messages' headers, all zero where they have none.
        received: (N,) [ns]; of a file the same as `stamps`.
        values: by `FIELDS`, (N, k) each.
        not_finite: how many values were given that are no numbers.
    """

    name: str
    joints: tuple[str, ...]
    stamps: IntArray
    received: IntArray
    values: dict[str, FloatArray]
    not_finite: int = 0


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
    # called `actual` up to Humble
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
    """The joint readings of a bag, a table for each topic with some.

    Args:
        bag: folder or file.
        topic, effort_topic: those that it must have, or empty. The latter may be of `NAMELESS`
            messages, which hold the efforts of `joints`.
        joints: the joints of such messages, in their order.
        notes: to which topics are added whose type is defined nowhere.

    Raises:
        InvalidInput: a bag that cannot be read, no messages, no joint readings, no such topic, or
            another number of efforts than of joints.
    """
    read = read_bag(
        bag, lambda name, kind: kind in READERS or (name == effort_topic and kind == NAMELESS)
    )
    notes += [f"{name}: its message type is not defined in the bag" for name in read.unreadable]
    if not any(count for _, count in read.topics.values()):
        raise InvalidInput(f"{bag}: the bag is empty, it has no messages", value=str(bag))
    rows: dict[str, list[tuple[int, int, Reading]]] = {}
    for name, received, message in read.messages:
        kind = read.topics[name][0]
        if kind == NAMELESS:
            if len(message.data) != len(joints):
                raise InvalidInput(
                    f"{bag}: {name} has {len(message.data)} efforts in a message, expected "
                    f"{len(joints)}: one for each of {', '.join(joints)}",
                    value=name,
                )
            row = (0, received, Reading(tuple(joints), (), (), message.data))
        else:
            stamp = message.header.stamp
            at = int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)
            row = (at, received, READERS[kind](message))
        rows.setdefault(name, []).append(row)
    listed = ", ".join(f"{name} ({kind})" for name, (kind, _) in read.topics.items())
    for option, wanted in (("topic", topic), ("effort_topic", effort_topic)):
        if wanted and wanted not in rows:
            raise InvalidInput(
                f"{bag}: {option} {wanted!r} has no joint readings; topics: {listed}", value=wanted
            )
    if not rows:
        raise InvalidInput(
            f"{bag}: no joint readings, which are messages of {', '.join(READERS)}; topics: "
            f"{listed}",
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
