# SPDX-License-Identifier: Apache-2.0

"""Which topic, and which column of it, each quantity of a driven joint is read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import InvalidInput
from robodyn.identification.joint_tables import READERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from robodyn.identification.joint_tables import JointTable
    from robodyn.mechanisms.mechanism import Mechanism

# Topics of efforts of their own, the likeliest first, where joint states have none.
EFFORTS = ("joint_commands", "forces")


@dataclass(frozen=True)
class Sources:
    """Where readings come from.

    Attributes:
        columns: the table and its column, by quantity and driven joint (its index); velocities are
            there for all joints or for none.
    """

    columns: dict[tuple[str, int], tuple[JointTable, int]]


def sources_of(
    source: str,
    m: Mechanism,
    tables: Sequence[JointTable],
    renamed: Mapping[str, str],
    topic: str = "",
    effort_topic: str = "",
    topics: Mapping[str, tuple[str, int]] | None = None,
    notes: list[str] | None = None,
) -> Sources:
    """Choose the tables and columns; what the user should know of the choice goes to `notes`.

    Raises:
        InvalidInput: no joint readings, no such topic, other joints, or no efforts.
    """
    notes = [] if notes is None else notes
    if topics is not None:
        _refuse_unknown_topics(source, tables, topics, topic, effort_topic)
    unknown = [name for name in renamed if name not in m.joint_names]
    if unknown:
        raise InvalidInput(
            f"joints: {', '.join(unknown)} is not driven in {m.name}, which drives "
            f"{', '.join(m.joint_names)}",
            value=dict(renamed),
        )
    places = {id(table): _places(table, m, renamed) for table in tables}
    for table in tables:
        _tell_matches(table, m, renamed, places[id(table)], notes)
    moving = [t for t in tables if topic in ("", t.name) and t.name != (effort_topic or None)]
    moving = sorted(moving, key=lambda t: _rank(t, places[id(t)]))
    columns: dict[tuple[str, int], tuple[JointTable, int]] = {}
    missing = []
    for joint, name in enumerate(m.joint_names):
        place = _first(moving, places, "position", joint)
        if place is None:
            missing.append(name)
        else:
            columns["position", joint] = place
    if missing:
        raise InvalidInput(_no_joints(source, m, missing, moving), value=missing)
    used = list({id(t): t for t, _ in columns.values()}.values())
    others = [
        t for t in moving if t not in used and all(_has(t, places, "position", j)
                                                   for j in range(len(m.joint_names)))
    ]  # fmt: skip
    if others:
        notes.append(
            f"positions are read from {used[0].name}, also in {', '.join(t.name for t in others)}: "
            "`topic` chooses"
        )
    _add_velocities(columns, places, len(m.joint_names))
    _add_efforts(source, m, columns, tables, places, used, effort_topic, notes)
    extra = [
        name
        for table in used
        for column, name in enumerate(table.joints)
        if column not in places[id(table)] and name not in m.all_joint_names
    ]
    if extra:
        notes.append(f"joints that {m.name} does not have are left out: {', '.join(extra)}")
    return Sources(columns)


def _refuse_unknown_topics(
    source: str,
    tables: Sequence[JointTable],
    topics: Mapping[str, tuple[str, int]],
    topic: str,
    effort_topic: str,
) -> None:
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
    table: JointTable,
    m: Mechanism,
    renamed: Mapping[str, str],
    places: Sequence[int | None],
    notes: list[str],
) -> None:
    pairs = [
        (name, table.joints[place])
        for name, place in zip(m.joint_names, places, strict=True)
        if place is not None and name not in renamed and table.joints[place] != name
    ]
    if pairs:
        said = ", ".join(f"{name} is {joint}" for name, joint in pairs)
        how = "their numbers" if pairs[0][1].isdecimal() else "the end of their names"
        notes.append(f"{table.name}: joints matched by {how}: {said}")


def _rank(table: JointTable, places: Sequence[int | None]) -> tuple[int, int, int, int]:
    """Lower is better: all joints, named joint_states, with efforts, most messages."""
    columns = [place for place in places if place is not None]
    known = [c for c in columns if np.isfinite(table.values["position"][:, c]).any()]
    named = table.name.endswith("joint_states")
    efforts = bool(columns) and _nonzero(table, columns)
    return -len(known), -int(named), -int(efforts), -len(table.stamps)


def _nonzero(table: JointTable, columns: Sequence[int]) -> bool:
    efforts = table.values["effort"][:, columns]
    return bool((np.isfinite(efforts) & (efforts != 0.0)).any())


def _has(
    table: JointTable, places: Mapping[int, Sequence[int | None]], field: str, joint: int
) -> bool:
    place = places[id(table)][joint]
    return place is not None and bool(np.isfinite(table.values[field][:, place]).any())


def _first(
    tables: Sequence[JointTable],
    places: Mapping[int, Sequence[int | None]],
    field: str,
    joint: int,
) -> tuple[JointTable, int] | None:
    for table in tables:
        place = places[id(table)][joint]
        if place is not None and _has(table, places, field, joint):
            return table, place
    return None


def _no_joints(
    source: str, m: Mechanism, missing: Sequence[str], tables: Sequence[JointTable]
) -> str:
    recorded = list(dict.fromkeys(joint for table in tables for joint in table.joints))
    if all(name in recorded for name in missing):
        return f"{source}: no positions of {', '.join(missing)} were recorded"
    return (
        f"{source}: no positions of {', '.join(missing)}; {m.name} drives "
        f"{', '.join(m.joint_names)}; recorded: {', '.join(recorded) or 'none'}; `joints` "
        "(--joint model=recorded) maps names of the model to those recorded"
    )


def _add_velocities(
    columns: dict[tuple[str, int], tuple[JointTable, int]],
    places: Mapping[int, Sequence[int | None]],
    n: int,
) -> None:
    """Velocities where the positions come from, if all joints have them."""
    tables = [columns["position", joint] for joint in range(n)]
    if all(_has(table, places, "velocity", joint) for joint, (table, _) in enumerate(tables)):
        for joint, place in enumerate(tables):
            columns["velocity", joint] = place


def _add_efforts(
    source: str,
    m: Mechanism,
    columns: dict[tuple[str, int], tuple[JointTable, int]],
    tables: Sequence[JointTable],
    places: Mapping[int, Sequence[int | None]],
    used: Sequence[JointTable],
    effort_topic: str,
    notes: list[str],
) -> None:
    """Efforts from the same tables as positions, else from the likeliest of the others."""
    n = len(m.joint_names)

    def complete(candidates: Sequence[JointTable]) -> dict[int, tuple[JointTable, int]] | None:
        found = {j: _first(candidates, places, "effort", j) for j in range(n)}
        pairs = {j: place for j, place in found.items() if place is not None}
        whole = len(pairs) == n and any(_nonzero(table, [c]) for table, c in pairs.values())
        return pairs if whole else None

    rest = sorted((t for t in tables if t not in used), key=_effort_rank)
    if effort_topic:
        tries = [[t for t in tables if t.name == effort_topic]]
    else:
        tries = [list(used), *([t] for t in rest)]
    for candidates in tries:
        pairs = complete(candidates)
        if pairs is not None:
            for joint, place in pairs.items():
                columns["effort", joint] = place
            if candidates != list(used) and not effort_topic:
                notes.append(
                    f"{used[0].name} has no efforts: those of {candidates[0].name} are used"
                )
            return
    missing = [name for j, name in enumerate(m.joint_names) if not _has_effort(tables, places, j)]
    what = f"no efforts of {', '.join(missing)}" if missing else "all efforts are zero"
    raise InvalidInput(
        f"{source}: {what}; record the efforts, or the motors' currents as efforts with their "
        "`effort_gain` (--effort-gain), or name their topic as `effort_topic` (--effort-topic)",
        value=source,
    )


def _has_effort(
    tables: Sequence[JointTable], places: Mapping[int, Sequence[int | None]], joint: int
) -> bool:
    return any(_has(table, places, "effort", joint) for table in tables)


def _effort_rank(table: JointTable) -> int:
    for rank, name in enumerate(EFFORTS):
        if table.name.endswith(name):
            return rank
    return len(EFFORTS)
