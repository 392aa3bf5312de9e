# SPDX-License-Identifier: Apache-2.0
"""Tables for report pages and the terminal, and the parameter tables of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from robodyn.algorithms.description import gravity_vector
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation import presentation
from robodyn.presentation.numbers_as_text import cell_text, vector


class Table(NamedTuple):
    """Table of labels and numbers, for a page or a terminal.

    Attributes:
        head: heading of each column, with its unit.
        rows: cells in the order of the columns; the first cell of a row is its name.
        title: title of the table.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str | float]]
    title: str = ""

    def lines(self) -> list[str]:
        """Format the table for a terminal: one string per row, with aligned columns."""
        cells = [
            [cell if isinstance(cell, str) else f"{cell:.4g}".replace("nan", "–") for cell in row]
            for row in (self.head, *self.rows)
        ]
        first, *others = (max(map(len, column)) for column in zip(*cells, strict=True))
        return [
            "  ".join([row[0].ljust(first), *map(str.rjust, row[1:], others)]).rstrip()
            for row in cells
        ]


def parameter_tables(mechanism: Mechanism) -> list[Table]:
    """Create the tables of a mechanism's parameters, with cells formatted as strings.

    The title of the first table states the gravity.
    """
    notes = [f" (gravity {vector(gravity_vector(mechanism))} m/s²)"]
    tables = []
    for table in presentation.parameter_tables(mechanism):
        note = (notes.pop() if notes else "") + (f": {table.note}" if table.note else "")
        rows = [[cell_text(cell) for cell in row] for row in table.rows]
        tables.append(Table(table.head, rows, table.title + note))
    return tables
