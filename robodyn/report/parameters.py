# SPDX-License-Identifier: Apache-2.0
"""The parameters of a mechanism as tables of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.mechanisms.common.report_answers import ParameterTable
from robodyn.mechanisms.registry import kind_of
from robodyn.report.labels import joint_titles
from robodyn.report.numbers_as_text import number, vector

if TYPE_CHECKING:
    from robodyn.mechanisms.common.report_answers import Cell
    from robodyn.mechanisms.mechanism import Mechanism

# Title, headings and rows.
TextTable = tuple[str, list[str], list[list[str]]]


def parameter_tables(mechanism: Mechanism) -> list[TextTable]:
    """Each table of a mechanism's parameters; gravity is in the title of the first."""
    adapter = kind_of(mechanism).adapter("parameter_tables") or tables_of_any
    tables: list[ParameterTable] = adapter(mechanism)
    texts: list[TextTable] = [
        (table.title, list(table.head), [[_text(cell) for cell in row] for row in table.rows])
        for table in tables
    ]
    title, head, rows = texts[0]
    texts[0] = (f"{title} (gravity {vector(mechanism.gravity_vector)} m/s²)", head, rows)
    return [
        (f"{title}: {table.note}" if table.note else title, head, rows)
        for (title, head, rows), table in zip(texts, tables, strict=True)
    ]


def tables_of_any(mechanism: Mechanism) -> list[ParameterTable]:
    """Tables for a kind that provides none of its own: its bodies and its driven joints."""
    bodies = [(body.name, body.mass, body.com, body.inertia) for body in mechanism.bodies]
    joints = [
        (name, unit, *limits, speed, effort)
        for name, unit, limits, speed, effort in zip(
            joint_titles(mechanism), mechanism.joint_units, mechanism.position_limits,
            mechanism.velocity_limits, mechanism.effort_limits, strict=True,
        )
    ]  # fmt: skip
    return [
        ParameterTable(
            "Bodies",
            ("body", "mass [kg]", "centre of mass [m]", "inertia about it, by rows [kg m²]"),
            bodies,
        ),
        ParameterTable(
            "Driven joints",
            (mechanism.nouns.joint, "unit", "from", "to", "speed [1/s]", "effort [N m, N]"),
            joints,
        ),
    ]


def _text(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell
    values = np.asarray(cell)
    if values.ndim == 0:
        return number(float(values))
    return vector(values) if values.ndim == 1 else "; ".join(vector(row) for row in values)
