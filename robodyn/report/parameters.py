# SPDX-License-Identifier: Apache-2.0
"""The parameters of a mechanism as tables of text."""

from __future__ import annotations

import numpy as np

from robodyn.mechanisms.common.report_answers import Cell
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.report.numbers_as_text import number, vector

# Title, headings and rows.
TextTable = tuple[str, list[str], list[list[str]]]


def parameter_tables(mechanism: Mechanism) -> list[TextTable]:
    """Each table of a mechanism's parameters; gravity is in the title of the first."""
    tables = mechanism.parameter_tables()
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


def _text(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell
    values = np.asarray(cell)
    if values.ndim == 0:
        return number(float(values))
    return vector(values) if values.ndim == 1 else "; ".join(vector(row) for row in values)
