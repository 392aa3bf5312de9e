# SPDX-License-Identifier: Apache-2.0

"""Which topic, and which column of it, each quantity of a driven joint is read from."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from robodyn.errors import InvalidInput
from robodyn.identification.joint_tables import FIELDS, JointTable
from robodyn.mechanisms.mechanism import Mechanism

Column = tuple[JointTable, int]
# By quantity and driven joint (its index).
Columns = dict[tuple[str, int], Column]

# Topics of efforts of their own, the likeliest first, where joint states have none.
EFFORTS = ("joint_commands", "forces")


class _Candidate(NamedTuple):
    """A table, and those of its columns that have any value of a driven joint."""

    table: JointTable
    columns: Columns

    def of(self, field: str) -> list[Column]:
        return [column for (name, _), column in self.columns.items() if name == field]

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """Lower is better: all joints, named joint_states, with efforts, most messages."""
        named, pushes = self.table.name.endswith("joint_states"), _pushes(self.of("effort"))
        return -len(self.of("position")), -int(named), -int(pushes), -len(self.table.stamps)

    @property
    def effort_rank(self) -> int:
        """Lower is likelier to be of efforts."""
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
    """Choose the columns; what the user should know of the choice goes to `notes`.

    Velocities are there for all joints or for none.

    Raises:
        InvalidInput: other joints, or no efforts.
    """
    names = m.joint_names
    unknown = [name for name in renamed if name not in names]
    if unknown:
        raise InvalidInput(
            f"joints: {', '.join(unknown)} is not driven in {m.name}, which drives "
            f"{', '.join(names)}",
            value=dict(renamed),
        )
    places = [_places(table, names, renamed, notes) for table in tables]
    every = [_candidate(*pair) for pair in zip(tables, places, strict=True)]
    moving = [t for t in every if topic in ("", t.table.name)]
    moving = [t for t in moving if not effort_topic or t.table.name != effort_topic]
    moving.sort(key=lambda t: t.rank)
    known = _first(moving)
    missing = [name for j, name in enumerate(names) if ("position", j) not in known]
    if missing:
        raise InvalidInput(_no_joints(source, m, missing, moving), value=missing)
    columns = {("position", j): known["position", j] for j in range(len(names))}
    used = list(dict.fromkeys(table for table, _ in columns.values()))
    others = [
        t.table.name for t in moving if t.table not in used and len(t.of("position")) == len(names)
    ]
    if others:
        notes.append(
            f"positions are read from {used[0].name}, also in {', '.join(others)}: `topic` chooses"
        )
    if all(np.isfinite(table.values["velocity"][:, k]).any() for table, k in columns.values()):
        columns |= {("velocity", j): columns["position", j] for j in range(len(names))}
    columns |= _efforts(source, names, every, used, effort_topic, notes)
    extra = [
        name
        for table, place in zip(tables, places, strict=True)
        for column, name in enumerate(table.joints)
        if table in used and column not in place.values() and name not in m.all_joint_names
    ]
    if extra:
        notes.append(f"joints that {m.name} does not have are left out: {', '.join(extra)}")
    return columns


def _places(
    table: JointTable, names: Sequence[str], renamed: Mapping[str, str], notes: list[str]
) -> dict[int, int]:
    """The column of each driven joint that the table has, also under its name behind a prefix.

    Columns that have numbers alone are those of the driven joints in the mechanism's order.
    """
    recorded, numbers = table.joints, all(joint.isdecimal() for joint in table.joints)
    if numbers and not renamed and len(recorded) == len(names):
        order = sorted(range(len(recorded)), key=lambda k: int(recorded[k]))
        found = dict(enumerate(order))
    else:
        found = {}
        for j, name in enumerate(names):
            wanted = renamed.get(name, name)
            endings = tuple(f"{mark}{wanted}" for mark in "_/.")
            ends = [joint for joint in recorded if joint.endswith(endings)]
            if wanted in recorded:
                found[j] = recorded.index(wanted)
            elif len(ends) == 1:
                found[j] = recorded.index(ends[0])
    pairs = [
        f"{names[j]} is {recorded[place]}"
        for j, place in found.items()
        if names[j] not in renamed and recorded[place] != names[j]
    ]
    if pairs:
        how = "their numbers" if numbers else "the end of their names"
        notes.append(f"{table.name}: joints matched by {how}: {', '.join(pairs)}")
    return found


def _candidate(table: JointTable, places: Mapping[int, int]) -> _Candidate:
    columns = {
        (field, j): (table, place)
        for field in FIELDS
        for j, place in places.items()
        if np.isfinite(table.values[field][:, place]).any()
    }
    return _Candidate(table, columns)


def _first(candidates: Sequence[_Candidate]) -> Mapping[tuple[str, int], Column]:
    """Each column in the first of the tables that has it."""
    return ChainMap(*(each.columns for each in candidates))


def _pushes(columns: Iterable[Column]) -> bool:
    """Whether any effort in these columns is other than zero."""
    efforts = (table.values["effort"][:, column] for table, column in columns)
    return any(bool((np.isfinite(values) & (values != 0.0)).any()) for values in efforts)


def _no_joints(
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


def _efforts(
    source: str,
    names: Sequence[str],
    every: Sequence[_Candidate],
    used: Sequence[JointTable],
    effort_topic: str,
    notes: list[str],
) -> Columns:
    """Efforts from the same tables as positions, else from the likeliest of the others."""
    own = sorted((t for t in every if t.table in used), key=lambda t: used.index(t.table))
    rest = sorted((t for t in every if t.table not in used), key=lambda t: t.effort_rank)
    tries = [own, *([t] for t in rest)]
    if effort_topic:
        tries = [[t for t in every if t.table.name == effort_topic]]
    places = [("effort", j) for j in range(len(names))]
    for candidates in tries:
        known = _first(candidates)
        found = {place: known[place] for place in places if place in known}
        if len(found) == len(names) and _pushes(found.values()):
            if candidates is not own and not effort_topic:
                notes.append(
                    f"{used[0].name} has no efforts: those of {candidates[0].table.name} are used"
                )
            return found
    known = _first(every)
    missing = [name for place, name in zip(places, names, strict=True) if place not in known]
    what = f"no efforts of {', '.join(missing)}" if missing else "all efforts are zero"
    raise InvalidInput(
        f"{source}: {what}; record the efforts, or the motors' currents as efforts with their "
        "`effort_gain` (--effort-gain), or name their topic as `effort_topic` (--effort-topic)",
        value=source,
    )
