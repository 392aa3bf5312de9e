# SPDX-License-Identifier: Apache-2.0

"""Interactive charts of Bokeh for HTML pages: tooltips, zoom, curves that can be hidden.

Bokeh draws in the reader's browser. Each panel becomes one Bokeh figure; the figures of a chart
share the ranges of equal axes, so that zooming in on one zooms in on all of them. Importing this
module raises MissingExtra if Bokeh is not installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.extras import require_extra
from robodyn.report.axis_ranges import LINEAR, x_range, x_scale, y_range, y_scale
from robodyn.report.chart import ALIGN, GRAY, Chart, ChartLine, Mark, Panel, downsample

with require_extra("report", "HTML reports need bokeh", "bokeh"):
    from bokeh import models
    from bokeh.core.json_encoder import serialize_json
    from bokeh.document import Document
    from bokeh.embed.util import standalone_docs_json
    from bokeh.models.annotations import Label, Span
    from bokeh.plotting import figure
    from bokeh.resources import Resources

# Heights of a panel [px], by the number of columns.
HEIGHTS = {1: 340, 2: 360, 3: 270}
# Colors of text, grid and background on a light page. On a dark page, its script replaces these,
# chart.INK and the blue of chart.COLORS by lighter ones.
TEXT, GRID, BACKGROUND = "#57606a", "#e6eaee", "#ffffff"
FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif'
# A curve reacts to a pointer within half of this distance [px].
REACH = 16
# A mark's label is on the left of its line in this last fraction of the x axis, where it would
# otherwise extend beyond the panel.
LAST = 0.6
# Above this fraction of the y axis, the label of a horizontal mark is below its line.
HIGHEST = 0.9


@dataclass(frozen=True)
class Drawing:
    """Bokeh figures of a chart, serialized for an HTML page.

    Attributes:
        document: Bokeh's JSON of all figures.
        figures: identifier of each panel's figure.
        lines: identifiers of the curves' renderers, by legend label.
    """

    document: str
    figures: list[str]
    lines: dict[str, list[str]]


def drawing(chart: Chart) -> Drawing:
    """Convert a chart to Bokeh figures, serialized for an HTML page."""
    document = Document(title=chart.title)
    lines: dict[str, list[str]] = {curve.label: [] for curve in chart.legend}
    ranges: dict[Any, Any] = {}
    figures = [_figure(panel, chart.columns, ranges, lines) for panel in chart.panels]
    for root in figures:
        document.add_root(root)
    (content,) = standalone_docs_json(figures).values()
    return Drawing(serialize_json(content), [str(root.id) for root in figures], lines)


def bokeh_script() -> str:
    """Return the JavaScript source of Bokeh (1.3 MB), to embed in a page."""
    return str(Resources(mode="inline", components=["bokeh"]).js_raw[0])


def _figure(panel: Panel, columns: int, ranges: dict[Any, Any], lines: dict[str, list[str]]) -> Any:

    x: Any
    y: Any
    if panel.picture:
        x, y = models.DataRange1d(range_padding=0.14), models.DataRange1d(range_padding=0.14)
    else:
        x = _shared_range(ranges, "x", panel.x_label, x_range(panel))
        y = _shared_range(ranges, "y", panel.y_label, y_range(panel))
    plot = figure(
        height=HEIGHTS[columns],
        sizing_mode="stretch_width",
        x_range=x,
        y_range=y,
        match_aspect=panel.picture,
        tools="box_zoom,pan,wheel_zoom,reset,save",
        active_drag="box_zoom",
        toolbar_location="above",
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        min_border_right=12,
    )
    plot.toolbar.logo = None
    plot.toolbar.autohide = True
    plot.js_on_event("doubletap", models.CustomJS(code="cb_obj.origin.reset.emit()"))
    _style_axes(plot, panel)
    for row, mark in enumerate(panel.marks):
        _draw_mark(plot, panel, mark, row)
    _draw_curves(plot, panel, lines)
    if panel.notes:
        # the axes fit curves, not texts: an invisible one through the texts makes room for them
        plot.line([note.x for note in panel.notes], [note.y for note in panel.notes], alpha=0.0)
    for note in panel.notes:
        plot.add_layout(_text(note.x, note.y, note.text, text_align=ALIGN[note.anchor],
                              text_baseline="middle"))  # fmt: skip
    return plot


def _shared_range(ranges: dict[Any, Any], *axis: Any) -> Any:
    """Return the axis range that panels with equal axis labels and limits share."""
    start, end = axis[-1]
    return ranges.setdefault(axis, models.Range1d(start=start, end=end))


def _style_axes(plot: Any, panel: Panel) -> None:

    if panel.picture:
        plot.axis.visible = False
        plot.grid.visible = False
        return
    plot.grid.grid_line_color = GRID
    # as plain text: Bokeh reads a string between $$ as TeX, which a network would have to typeset
    plot.xaxis.axis_label = models.PlainText(text=panel.x_label)
    plot.yaxis.axis_label = models.PlainText(text=panel.y_label)
    plot.axis.formatter = models.BasicTickFormatter(power_limit_low=-5, power_limit_high=6)
    plot.axis.axis_line_color = plot.axis.major_tick_line_color = GRAY
    plot.axis.minor_tick_line_color = None
    plot.axis.axis_label_text_color = plot.axis.major_label_text_color = TEXT
    plot.axis.axis_label_text_font = plot.axis.major_label_text_font = FONT
    plot.axis.axis_label_text_font_style = "normal"
    plot.axis.axis_label_text_font_size = plot.axis.major_label_text_font_size = "12px"
    on_x, on_y = x_scale(panel).ticks(*x_range(panel)), y_scale(panel).ticks(*y_range(panel))
    for axis, ticks in ((plot.xaxis, on_x), (plot.yaxis, on_y)):
        if ticks:
            axis.ticker = models.FixedTicker(ticks=[at for at, _ in ticks])
            axis.major_label_overrides = dict(ticks)


def _draw_mark(plot: Any, panel: Panel, mark: Mark, row: int) -> None:

    scale = x_scale(panel) if mark.vertical else y_scale(panel)
    at = float(scale.positions(mark.at))
    left, right = plot.x_range.start, plot.x_range.end
    bottom, top = plot.y_range.start, plot.y_range.end
    if not mark.vertical and not bottom <= at <= top:
        return
    plot.add_layout(
        Span(location=at, dimension="height" if mark.vertical else "width",
             line_color=mark.color, line_dash=[3, 3], line_width=1.2)
    )  # fmt: skip
    if not mark.label:
        return
    if mark.vertical:
        late = (at - left) > LAST * (right - left)
        label = _text(at, top, mark.label, text_align="right" if late else "left",
                      text_baseline="top", x_offset=-4 if late else 4,
                      y_offset=-2 - 15 * (row % 4))  # fmt: skip
    else:
        # above the line, or below it if it would not fit into the panel
        below = (at - bottom) > HIGHEST * (top - bottom)
        label = _text(left, at, mark.label, text_baseline="top" if below else "bottom", x_offset=6,
                      y_offset=-2 if below else 2)  # fmt: skip
    label.background_fill_color, label.background_fill_alpha = BACKGROUND, 0.8
    plot.add_layout(label)


def _text(x: float, y: float, text: str, **style: Any) -> Any:
    return Label(x=x, y=y, text=models.PlainText(text=text), text_color=TEXT, text_font=FONT,
                 text_font_size="11px", **style)  # fmt: skip


def _draw_curves(plot: Any, panel: Panel, lines: dict[str, list[str]]) -> None:
    """Draw the curves of a panel and their tooltips.

    If all curves of the panel have the same samples, they share one tooltip, which shows all values
    at the instant nearest to the pointer. Otherwise, each curve has its own tooltip.
    """
    groups = _group_by_samples(panel.curves)
    has_common_times = len(groups) == 1 and bool((np.diff(groups[0][0].x) > 0.0).all())
    for curves in groups:
        source = _source(panel, curves)
        for i, curve in enumerate(curves):
            line = plot.line(
                "x" if panel.x_scale == LINEAR else "x_at",
                f"y{i}" if panel.scale == LINEAR else f"at{i}", source=source,
                line_color=curve.color, line_width=curve.width,
                line_dash=[max(1, round(curve.width * dash)) for dash in curve.dash],
            )  # fmt: skip
            line.nonselection_glyph = line.muted_glyph = None
            if curve.label:
                lines[curve.label].append(str(line.id))
            if not panel.picture and (not has_common_times or i == 0):
                shown = list(enumerate(curves)) if has_common_times else [(i, curve)]
                _add_hover(plot, panel, line.glyph, source, shown, has_common_times)


def _add_hover(
    plot: Any,
    panel: Panel,
    glyph: Any,
    source: Any,
    shown: Sequence[tuple[int, ChartLine]],
    has_common_times: bool,
) -> None:
    """Add a tooltip on an invisible wide line, which works for hidden curves too."""
    target = plot.line(glyph.x, glyph.y, source=source, line_alpha=0.0, line_width=REACH)
    target.nonselection_glyph = target.muted_glyph = None
    rows = [(_escape(panel.x_label), "@x{%.6g}")]
    rows += [(_escape(curve.label or panel.y_label), f"@y{i}{{%.6g}}") for i, curve in shown]
    plot.add_tools(
        models.HoverTool(
            renderers=[target],
            tooltips=rows,
            formatters={"@x": "printf", **{f"@y{i}": "printf" for i, _ in shown}},
            mode="vline" if has_common_times else "mouse",
            line_policy="nearest",
            visible=False,
        )
    )


def _escape(text: str) -> str:
    """Replace @ and remove $ in a tooltip's label, because Bokeh would interpret them."""
    return text.replace("@", "(at)").replace("$", "")


def _group_by_samples(curves: Sequence[ChartLine]) -> list[list[ChartLine]]:
    groups: list[list[ChartLine]] = []
    for curve in curves:
        for group in groups:
            if np.array_equal(group[0].x, curve.x, equal_nan=True):
                group.append(curve)
                break
        else:
            groups.append([curve])
    return groups


def _source(panel: Panel, curves: Sequence[ChartLine]) -> Any:
    """Create the Bokeh data source of curves: columns x, y0, y1 ...

    For nonlinear axes, the columns x_at, at0, at1 ... contain the values' positions on the axis.
    """
    values = np.array([curve.y for curve in curves], dtype=float)
    rows = downsample(values)
    columns: dict[str, FloatArray] = {"x": np.asarray(curves[0].x, dtype=float)[rows]}
    if panel.x_scale != LINEAR:
        columns["x_at"] = x_scale(panel).positions(columns["x"])
    for i, each in enumerate(values[:, rows]):
        columns[f"y{i}"] = each
        if panel.scale != LINEAR:
            columns[f"at{i}"] = y_scale(panel).positions(each)
    return models.ColumnDataSource(columns)
