# SPDX-License-Identifier: Apache-2.0

"""Statements of a paper compared with computed results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from robodyn.report.chart import Chart
from robodyn.report.page import table


@dataclass(frozen=True)
class Statement:
    """Statement of a paper about a quantity, compared with the computed result.

    Attributes:
        about: name of the quantity.
        stated: value or property that the paper states.
        computed: computed result, formatted for the page.
        agrees: whether the two agree.
        value: computed result as a number or a list, for programs.
    """

    about: str
    stated: str
    computed: str
    agrees: bool
    value: Any = None


# Name of a figure, its description in the paper, the recomputed chart, and statements.
Figure = tuple[str, str, Chart, list[Statement]]


def statements_html(figure: str, description: str, statements: Sequence[Statement]) -> str:
    """Return a figure's description and a table of its checked statements as HTML.

    Each row of the table compares a statement with the computed result.

    Args:
        figure: name of the figure.
        description: description of the figure in the paper.
        statements: statements of the paper about the figure.
    """
    rows = [
        [
            c.about,
            _join_text(c.stated),
            _join_text(c.computed),
            "agrees" if c.agrees else "differs",
        ]
        for c in statements
    ]
    beside = table(["", "stated", "computed", ""], rows) if rows else ""
    beside = beside.replace("<td>agrees</td>", '<td class="ok">agrees</td>')
    beside = beside.replace("<td>differs</td>", '<td class="off">differs</td>')
    account = f"<p><b>{escape(figure)}.</b> {escape(description)}</p>"
    return f'<div class="beside">{account}<div>{beside}</div></div>'


def _join_text(text: str) -> str:
    """Put a non-breaking space between each number and its unit in a text."""
    return re.sub(r"(?<=\d) (?=(%|N|s|rad)\b|%)", "\u00a0", text)


def statements_data(statements: Sequence[Statement]) -> list[dict[str, Any]]:
    """Return a paper's statements and the values computed for them, as data for JSON."""
    return [
        {"about": c.about, "said": c.stated, "computed": c.value, "agrees": c.agrees}
        for c in statements
    ]
