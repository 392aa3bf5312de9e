# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""One self-contained HTML page: no network, charts inline, data for machines at the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robodyn.analysis.as_json import as_json
from robodyn.errors import OutputError
from robodyn.report.style import STYLE
from robodyn.report.svg import dash_attribute, panel_svg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robodyn.report.chart import Chart


@dataclass
class Page:
    """A page that grows section by section.

    Attributes:
        title, subtitle: at its head.
        data: numbers that stand on it, as JSON in the element `data`.
        charts: those added so far, for files.
    """

    title: str
    subtitle: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    charts: list[Chart] = field(default_factory=list)
    _sections: list[tuple[str, str, str]] = field(default_factory=list)

    def add(self, key: str, title: str, body: str) -> None:
        """Add a section of HTML."""
        self._sections.append((key, title, body))

    def add_chart(self, chart: Chart, beside: str = "") -> None:
        """Add a chart with its legend and its text; `beside` is HTML that follows the text."""
        self.charts.append(chart)
        self.add(chart.key, chart.title, chart_html(chart, beside))

    def html(self) -> str:
        """The whole document."""
        links = "".join(f'<a href="#{key}">{escape(name)}</a>' for key, name, _ in self._sections)
        parts = "".join(
            f'<section id="{key}"><h2>{escape(name)}</h2>{body}</section>'
            for key, name, body in self._sections
        )
        # a tag inside the text could end the element
        data = as_json(self.data, indent=None).replace("<", "\\u003c")
        return (
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{STYLE}</style></head><body>"
            f'<header><h1>{escape(self.title)}</h1><p class="sub">{escape(self.subtitle)}</p>'
            f"<nav>{links}</nav></header><main>{parts}</main>"
            f'<script type="application/json" id="data">{data}</script></body></html>\n'
        )


def chart_html(chart: Chart, beside: str = "") -> str:
    """Text, one legend, and the panels in a grid that follows the width of the page."""
    text = f'<p class="say">{escape(chart.text)}</p>' if chart.text else ""
    keys = "".join(
        f'<li><svg viewBox="0 0 34 10" aria-hidden="true"><path d="M1 5H33" fill="none" '
        f'stroke="{curve.color}" stroke-width="{max(curve.width, 1.6):g}"{dash_attribute(curve)}/>'
        f"</svg>{escape(curve.label)}</li>"
        for curve in chart.legend
    )
    legend = f'<ul class="legend">{keys}</ul>' if keys else ""
    panels = "".join(panel_svg(panel, chart.columns) for panel in chart.panels)
    grid = f'<div class="grid c{chart.columns}">{panels}</div>'
    return f"{text}{beside}<figure>{legend}{grid}</figure>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """A table; its first column names the row."""
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    heads = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll"><table>{title}<thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def cards(values: Sequence[tuple[str, str]]) -> str:
    """Key numbers, each with what it is."""
    return '<dl class="cards">' + "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in values
    ) + "</dl>"  # fmt: skip


def made(command: str, **more: str) -> str:
    """How a page was made, as a table."""
    from robodyn.version import __version__

    when = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    rows = [["command", command or "called from Python"], ["robodyn", __version__],
            ["date", when], *([name, value] for name, value in more.items())]  # fmt: skip
    return table(["", ""], rows).replace("<thead><tr>", '<thead hidden=""><tr>')


def write_page(page: Page, path: str | Path) -> None:
    """Write a page.

    Raises:
        OutputError: the file cannot be written.
    """
    try:
        Path(path).write_text(page.html(), encoding="utf-8")
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written: {error.strerror or error}", value=str(path)
        ) from error
