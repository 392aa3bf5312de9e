# SPDX-License-Identifier: Apache-2.0

"""HTML of a mechanism for notebooks: a picture at home and the tables of its parameters."""

from __future__ import annotations

from html import escape
from typing import Any

from robodyn.presentation.numbers_as_text import cell_text
from robodyn.presentation.picture import Camera
from robodyn.presentation.presentation import outline, parameter_tables
from robodyn.presentation.report_answers import ParameterTable


def notebook_html(mechanism: Any) -> str:
    """Return a mechanism as HTML: heading, SVG picture and tables of parameters."""
    tables = "".join(_table(table) for table in parameter_tables(mechanism))
    return (
        f"<div><b>{escape(repr(mechanism))}</b><br>{_picture(mechanism)}"
        f"<details><summary>Parameters</summary>{tables}</details></div>"
    )


def _picture(mechanism: Any) -> str:
    if not outline(mechanism, mechanism.home):
        return ""
    camera = Camera(mechanism)
    lines = "".join(
        f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="none" '
        f'stroke="{color}" stroke-width="{width:g}"/>'
        for points, color, width in camera.lines(mechanism, mechanism.home)
    )
    size = f'width="{camera.width}" height="{camera.height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{lines}</svg>'


def _table(table: ParameterTable) -> str:
    head = "".join(f"<th>{escape(title)}</th>" for title in table.head)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell_text(value))}</td>" for value in row) + "</tr>"
        for row in table.rows
    )
    return f"<table><caption>{escape(table.title)}</caption><tr>{head}</tr>{rows}</table>"
