# SPDX-License-Identifier: Apache-2.0

"""Which topic, and which column of it, each quantity of a driven joint is read from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.errors import InvalidInput
from robodyn.identification.joint_tables import READERS, JointTable
from robodyn.mechanisms.mechanism import Mechanism

Column = tuple[JointTable, int]
# By quantity and driven joint (its index); velocities are there for all joints or for none.
Sources = dict[tuple[str, int], Column]

# Topics of efforts of their own, the likeliest first, where joint states have none.
EFFORTS = ("joint_commands", "forces")


@dataclass(frozen=True, eq=False)
class _Matched:
    """A table whose columns were matched with the driven joints.

    Attributes:
        table: the readings.
        places: (n,) the column of each driven joint, None of one that it does not have.
    """

    table: JointTable
    places: list[int | None]

    @property
    def name(self) -> str:
        return self.table.name

    def column(self, field: str, joint: int) -> Column | None:
        """Where a quantity of a joint is, if it has any value."""
        place = self.places[joint]
        known = place is not None and np.isfinite(self.table.values[field][:, place]).any()
        return (self.table, place) if place is not None and known else None

    def columns(self, field: str) -> list[Column]:
        """Those of all joints that have a value."""
        found = (self.column(field, joint) for joint in range(len(self.places)))
        return [column for column in found if column is not None]

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """Lower is better: all joints, named joint_states, with efforts, most messages."""
        positions, efforts = self.columns("position"), self.columns("effort")
        named = self.name.endswith("joint_states")
        return -len(positions), -int(named), -int(_pushes(efforts)), -len(self.table.stamps)

    @property
    def effort_rank(self) -> int:
        """Lower is likelier to be of efforts."""
        ranks = [rank for rank, name in enumerate(EFFORTS) if self.name.endswith(name)]
        return min(ranks, default=len(EFFORTS))


def sources_of(
    source: str,
    m: Mechanism,
    tables: Sequence[JointTable],
    renamed: Mapping[str, str],
    notes: list[str],
    topic: str = "",
    effort_topic: str = "",
) -> Sources:
    """Choose the tables and columns; what the user should know of the choice goes to `notes`.

    Raises:
        InvalidInput: other joints, or no efforts.
    """
    unknown = [name for name in renamed if name not in m.joint_names]
    if unknown:
        raise InvalidInput(
            f"joints: {', '.join(unknown)} is not driven in {m.name}, which drives "
            f"{', '.join(m.joint_names)}",
            value=dict(renamed),
        )
    matched = [_Matched(table, _places(table, m, renamed)) for table in tables]
    for each in matched:
        _tell_matches(each, m, renamed, notes)
    moving = [t for t in matched if topic in ("", t.name) and t.name != (effort_topic or None)]
    moving = sorted(moving, key=lambda t: t.rank)
    joints = range(len(m.joint_names))
    found = _first(moving, "position", len(joints))
    missing = [name for j, name in enumerate(m.joint_names) if j not in found]
    if missing:
        raise InvalidInput(_no_joints(source, m, missing, moving), value=missing)
    used = [t for t in moving if any(table is t.table for table, _ in found.values())]
    used.sort(key=lambda t: min(j for j, (table, _) in found.items() if table is t.table))
    others = [t.name for t in moving if t not in used and len(t.columns("position")) == len(joints)]
    if others:
        notes.append(
            f"positions are read from {used[0].name}, also in {', '.join(others)}: `topic` chooses"
        )
    columns: Sources = {("position", joint): found[joint] for joint in joints}
    if all(np.isfinite(table.values["velocity"][:, k]).any() for table, k in found.values()):
        columns |= {("velocity", joint): found[joint] for joint in joints}
    efforts = _efforts(source, m, matched, used, effort_topic, notes)
    columns |= {("effort", joint): place for joint, place in efforts.items()}
    extra = [
        name
        for t in used
        for column, name in enumerate(t.table.joints)
        if column not in t.places and name not in m.all_joint_names
    ]
    if extra:
        notes.append(f"joints that {m.name} does not have are left out: {', '.join(extra)}")
    return columns


def refuse_unknown_topics(
    source: str,
    tables: Sequence[JointTable],
    topics: Mapping[str, tuple[str, int]],
    topic: str,
    effort_topic: str,
) -> None:
    """What a bag must have.

    Raises:
        InvalidInput: no messages, no joint readings, or no such topic.
    """
    if not topics or not any(count for _, count in topics.values()):
        raise InvalidInput(f"{source}: the bag is empty, it has no messages", value=source)
    with_joints = [table.name for table in tables]
    listed = ", ".join(f"{name} ({kind})" for name, (kind, _) in topics.items())
    for name, wanted in (("topic", topic), ("effort_topic", effort_topic)):
        if wanted and wanted not in with_joints:
            raise InvalidInput(
                f"{source}: {name} {wanted!r} has no joint readings; topics: {listed}",
                value=wanted,
            )
    if not tables:
        kinds = ", ".join(READERS)
        raise InvalidInput(
            f"{source}: no joint readings, which are messages of {kinds}; topics: {listed}",
            value=source,
        )


def _places(table: JointTable, m: Mechanism, renamed: Mapping[str, str]) -> list[int | None]:
    """(n,) the column of each driven joint, also under its name behind a prefix.

    Columns that have numbers alone are those of the driven joints in the mechanism's order.
    """
    found: list[int | None] = []
    if not renamed and all(joint.isdecimal() for joint in table.joints):
        order = sorted(range(len(table.joints)), key=lambda k: int(table.joints[k]))
        if len(order) == len(m.joint_names):
            return list(order)
    for name in m.joint_names:
        wanted = renamed.get(name, name)
        if wanted in table.joints:
            found.append(table.joints.index(wanted))
            continue
        ends = [joint for joint in table.joints if _ends_with(joint, wanted)]
        found.append(table.joints.index(ends[0]) if len(ends) == 1 else None)
    return found


def _ends_with(joint: str, name: str) -> bool:
    before = joint[: -len(name)] if joint.endswith(name) else ""
    return bool(before) and before[-1] in "_/."


def _tell_matches(
    matched: _Matched, m: Mechanism, renamed: Mapping[str, str], notes: list[str]
) -> None:
    recorded = matched.table.joints
    pairs = [
        (name, recorded[place])
        for name, place in zip(m.joint_names, matched.places, strict=True)
        if place is not None and name not in renamed and recorded[place] != name
    ]
    if pairs:
        said = ", ".join(f"{name} is {joint}" for name, joint in pairs)
        how = "their numbers" if pairs[0][1].isdecimal() else "the end of their names"
        notes.append(f"{matched.name}: joints matched by {how}: {said}")


def _first(tables: Sequence[_Matched], field: str, n: int) -> dict[int, Column]:
    """The column of each joint in the first of the tables that has it."""
    found = {}
    for joint in range(n):
        columns = (table.column(field, joint) for table in tables)
        column = next((column for column in columns if column is not None), None)
        if column is not None:
            found[joint] = column
    return found


def _pushes(columns: Sequence[Column]) -> bool:
    """Whether any effort in these columns is other than zero."""
    efforts = (table.values["effort"][:, column] for table, column in columns)
    return any(bool((np.isfinite(values) & (values != 0.0)).any()) for values in efforts)


def _no_joints(
    source: str, m: Mechanism, missing: Sequence[str], tables: Sequence[_Matched]
) -> str:
    recorded = list(dict.fromkeys(joint for t in tables for joint in t.table.joints))
    if all(name in recorded for name in missing):
        return f"{source}: no positions of {', '.join(missing)} were recorded"
    return (
        f"{source}: no positions of {', '.join(missing)}; {m.name} drives "
        f"{', '.join(m.joint_names)}; recorded: {', '.join(recorded) or 'none'}; `joints` "
        "(--joint model=recorded) maps names of the model to those recorded"
    )


def _efforts(
    source: str,
    m: Mechanism,
    tables: Sequence[_Matched],
    used: Sequence[_Matched],
    effort_topic: str,
    notes: list[str],
) -> dict[int, Column]:
    """Efforts from the same tables as positions, else from the likeliest of the others."""
    n = len(m.joint_names)
    rest = sorted((t for t in tables if t not in used), key=lambda t: t.effort_rank)
    tries = [list(used), *([t] for t in rest)]
    if effort_topic:
        tries = [[t for t in tables if t.name == effort_topic]]
    for candidates in tries:
        found = _first(candidates, "effort", n)
        if len(found) == n and _pushes([*found.values()]):
            if candidates != list(used) and not effort_topic:
                notes.append(
                    f"{used[0].name} has no efforts: those of {candidates[0].name} are used"
                )
            return found
    known = _first(tables, "effort", n)
    missing = [name for j, name in enumerate(m.joint_names) if j not in known]
    what = f"no efforts of {', '.join(missing)}" if missing else "all efforts are zero"
    raise InvalidInput(
        f"{source}: {what}; record the efforts, or the motors' currents as efforts with their "
        "`effort_gain` (--effort-gain), or name their topic as `effort_topic` (--effort-topic)",
        value=source,
    )
