# SPDX-License-Identifier: Apache-2.0

"""The section of a report that holds a motion against the limits."""

from __future__ import annotations

from html import escape
from typing import Any

from robodyn.analysis.margins_text import margin_lines
from robodyn.report.numbers_as_text import number
from robodyn.report.page import table


def margins_html(found: dict[str, Any]) -> str:
    """A verdict, and a table of every limit of every joint.

    Args:
        found: as `Margins.to_dict` has it.
    """
    verdict = " ".join(margin_lines(found)[0].split()).capitalize()
    head = ["joint", "quantity", "lowest", "highest", "limits", "used", "at [s]"]
    rows = [
        [
            row["joint"] or "all",
            row["quantity"],
            _text(row["lowest"]),
            _text(row["highest"]),
            _limits(row),
            _used(row),
            f"{row['time']:.3f}",
        ]
        for row in found["rows"]
    ]
    caption = "SI units, radians; of a position the share of the travel from its middle"
    return f'<p class="say">{escape(verdict)}</p>{table(head, rows, caption)}'


def _limits(row: dict[str, Any]) -> str:
    lower, upper = row["lower"], row["upper"]
    if lower is None and upper is None:
        return "–"
    return f"{_text(lower)} to {_text(upper)}" if lower is not None else _text(upper)


def _used(row: dict[str, Any]) -> str:
    share = "–" if row["used"] is None else f"{100.0 * row['used']:.0f} %"
    return f"{share}, broken" if row["broken"] else share


def _text(value: float | None) -> str:
    return "–" if value is None else number(value)
