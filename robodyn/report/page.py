# SPDX-License-Identifier: Apache-2.0

"""Self-contained HTML page: charts, tables and scripts in one file that loads no other files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from robodyn.analysis import as_json, margin_lines
from robodyn.errors import OutputError
from robodyn.formats.output_file import atomic_write
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation.numbers_as_text import number
from robodyn.report.chart import COLORS, INK, Chart, ChartLine
from robodyn.report.tables import parameter_tables
from robodyn.version import __version__

# File extensions of a page; it may also have none.
ENDINGS = (".html", ".htm", "")


@dataclass
class Page:
    """Self-contained HTML page to which sections are added.

    Attributes:
        title, subtitle: heading at the top of the page.
        data: results shown on the page, embedded for programs as JSON in the element with the ID
            `data`.
        charts: charts added so far, for PNG and PDF files.
        sources: further rows of the section that states how the page was made, by name.
    """

    title: str
    subtitle: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    charts: list[Chart] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    _sections: list[tuple[str, str, Callable[[], str]]] = field(default_factory=list)

    def add(self, key: str, title: str, body: str) -> None:
        """Add a section.

        Args:
            key: ID of the section, for links.
            title: heading.
            body: content as HTML.
        """
        self._sections.append((key, title, lambda: body))

    def add_chart(self, chart: Chart, beside: str = "") -> None:
        """Add a section with a chart, its explanation and its legend.

        Args:
            chart: chart to show.
            beside: HTML between the explanation and the chart.
        """
        self.charts.append(chart)
        self._sections.append((chart.key, chart.title, partial(chart_html, chart, beside)))

    def add_margins(self, found: dict[str, Any]) -> None:
        """Add a section that compares a motion with the limits of every joint.

        Args:
            found: margins of the motion, from `Margins.to_dict`.
        """
        verdict = " ".join(margin_lines(found)[0].split()).capitalize()
        head = ["joint", "quantity", "lowest", "highest", "limits", "used", "at [s]"]
        rows = [
            [row["joint"] or "all", row["quantity"], row["lowest"], row["highest"],
             _limits(row["lower"], row["upper"]),
             ("–" if row["used"] is None else f"{100.0 * row['used']:.0f} %")
             + (", broken" if row["broken"] else ""), f"{row['time']:.3f}"]
            for row in found["rows"]
        ]  # fmt: skip
        caption = (
            "SI units, radians. The used fraction of a position limit is the distance from the "
            "middle of the travel, divided by half of the travel"
        )
        self.add(
            "limits", "Limits", f'<p class="say">{escape(verdict)}</p>{table(head, rows, caption)}'
        )

    def add_parameters(self, mechanism: Mechanism) -> None:
        """Add a section with the tables of a mechanism's parameters."""
        tables = "".join(table(*each) for each in parameter_tables(mechanism))
        self.add("parameters", "Model parameters", tables)

    def html(self, command: str = "") -> str:
        """Return the whole page as an HTML document.

        Args:
            command: command line that made the page; empty if it was made from Python.

        Raises:
            MissingExtra: Bokeh is not installed.
        """
        from robodyn.report.html_charts import bokeh_script

        made = "made", "How this page was made", self._provenance(command)
        sections = [*((key, name, body()) for key, name, body in self._sections), made]
        links = "".join(f'<a href="#{key}">{escape(name)}</a>' for key, name, _ in sections)
        parts = "".join(
            f'<section id="{key}"><h2>{escape(name)}</h2>{body}</section>'
            for key, name, body in sections
        )
        return (
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta name="color-scheme" content="light dark">'
            f"<title>{escape(self.title)}</title><style>{_asset('page.css')}</style></head><body>"
            f'<header><h1>{escape(self.title)}</h1><p class="sub">{escape(self.subtitle)}</p>'
            f"<nav>{links}</nav></header><main>{parts}</main>"
            f"{_json_element(as_json(self.data, indent=None), 'data')}"
            f"<script>{bokeh_script()}</script><script>{_asset('page.js')}</script></body></html>\n"
        )

    def _provenance(self, command: str) -> str:
        """Return a table with the command line, the version, the date and the sources."""
        when = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        rows = [["command", command or "called from Python"], ["robodyn", __version__],
                ["date", when], *map(list, self.sources.items())]  # fmt: skip
        return table(["", ""], rows).replace("<thead><tr>", '<thead hidden=""><tr>')


def _asset(name: str) -> str:
    """Return a bundled style sheet or script of the pages."""
    return (resources.files("robodyn.report") / name).read_text(encoding="utf-8").strip()


def chart_html(chart: Chart, beside: str = "") -> str:
    """Return a chart as HTML: explanation, legend, and a grid of panels.

    Args:
        chart: chart to draw.
        beside: HTML between the explanation and the legend.
    """
    # imported here: it needs Bokeh
    from robodyn.report.html_charts import HEIGHTS, drawing

    text = f'<p class="say">{escape(chart.text)}</p>' if chart.text else ""
    drawn = drawing(chart)
    keys = "".join(
        f'<button type="button" aria-pressed="true" title="show or hide"'
        f' data-lines="{" ".join(drawn.lines[curve.label])}">'
        f'<i style="{_swatch(curve)}"></i>{escape(curve.label)}</button>'
        for curve in chart.legend
    )
    legend = f'<div class="legend" role="group" aria-label="curves">{keys}</div>' if keys else ""
    height = HEIGHTS[chart.columns]
    panels = "".join(
        f'<div class="panel"><h3>{escape(panel.title)}</h3>'
        f'<div class="plot" data-figure="{figure}" style="min-height:{height}px"></div></div>'
        for panel, figure in zip(chart.panels, drawn.figures, strict=True)
    )
    return (
        f'{text}{beside}<figure>{legend}<div class="grid c{chart.columns}">{panels}</div>'
        f"{_json_element(drawn.document, kind='chart')}</figure>"
    )


def _json_element(text: str, name: str = "", kind: str = "") -> str:
    """Return a `<script>` element that contains JSON, escaped for HTML."""
    attributes = (f' id="{name}"' if name else "") + (f' class="{kind}"' if kind else "")
    content = text.replace("<", "\\u003c")
    return f'<script type="application/json"{attributes}>{content}</script>'


def _swatch(curve: ChartLine) -> str:
    """Return the CSS color and dash pattern of a curve's line in the legend."""
    color = {INK: "var(--ink)", COLORS[0]: "var(--blue)"}.get(curve.color, curve.color)
    style = f"height:{max(curve.width, 1.6):g}px;"
    if not curve.dash:
        return f"{style}background:{color}"
    stops, at = [], 0.0
    for i, length in enumerate(curve.dash):
        end = at + length * curve.width
        stops.append(f"{color if i % 2 == 0 else 'transparent'} {at:g}px {end:g}px")
        at = end
    return f"{style}background:repeating-linear-gradient(90deg,{','.join(stops)})"


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str | float]],
    caption: str = "",
    wrap: bool = False,
) -> str:
    """Return a table as HTML; numbers are rounded to four digits.

    Args:
        head: headings of the columns.
        rows: cells of each row; the first one is its heading.
        caption: title of the table.
        wrap: whether lines break in cells.
    """
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    heads = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    texts = ([escape(cell if isinstance(cell, str) else number(cell)) for cell in row]
             for row in rows)  # fmt: skip
    body = "".join(
        f'<tr><th scope="row">{first}</th>'
        + "".join(f"<td>{cell}</td>" for cell in cells)
        + "</tr>"
        for first, *cells in texts
    )
    kind = "scroll wrap" if wrap else "scroll"
    return (
        f'<div class="{kind}"><table>{title}<thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _limits(lower: float | None, upper: float | None) -> str:
    ends = ["–" if end is None else number(end) for end in (lower, upper)]
    return ends[1] if lower is None else " to ".join(ends)


def cards(values: Sequence[tuple[str, str]]) -> str:
    """Return key results as HTML, given the name and the value of each."""
    return '<dl class="cards">' + "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in values
    ) + "</dl>"  # fmt: skip


def write_page(page: Page, path: str | Path, command: str = "") -> str:
    """Write a page to a file, and return its HTML.

    `command` is the command line that made the page.

    Raises:
        MissingExtra: Bokeh is not installed.
        OutputError: the file cannot be written, or its name has another ending than .html.
    """
    if Path(path).suffix.lower() not in ENDINGS:
        raise OutputError(
            f"{path}: a page is HTML, expected a name that ends in .html",
            value=str(path),
        )
    with atomic_write(path) as draft:
        text = page.html(command)
        draft.write_text(text, encoding="utf-8")
    return text
