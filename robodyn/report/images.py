# SPDX-License-Identifier: Apache-2.0

"""Charts as PNG files and as one PDF file, drawn by matplotlib.

Importing this module raises MissingExtra if matplotlib is not installed.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.errors import OutputError, writing
from robodyn.extras import require_extra
from robodyn.formats.output_file import atomic_write
from robodyn.report.axis_ranges import x_range, x_scale, y_range, y_scale
from robodyn.report.chart import ALIGN, SOLID, Chart, ChartLine, Panel

with require_extra("report", "PNG and PDF charts need matplotlib", "matplotlib"):
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_pdf import PdfPages
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


def write_png(charts: Iterable[Chart], folder: str | Path, dpi: float = 150.0) -> list[Path]:
    """Write each chart to a file `<key>.png` in a folder.

    Args:
        charts: charts to write.
        folder: folder of the files; it is created if necessary.
        dpi: resolution [dots per inch].

    Returns:
        The paths of the files.

    Raises:
        OutputError: the folder or a file cannot be written.
    """
    written = []
    with writing(folder):
        Path(folder).mkdir(parents=True, exist_ok=True)
        for chart in charts:
            written.append(Path(folder) / f"{chart.key}.png")
            with atomic_write(written[-1]) as draft:
                draw(chart).savefig(draft, dpi=dpi)
    return written


def write_image(chart: Chart, path: str | Path, dpi: float = 150.0) -> None:
    """Write one chart to an image file, in the format given by the file extension.

    Args:
        chart: chart to write.
        path: file to write.
        dpi: resolution [dots per inch].

    Raises:
        OutputError: the file cannot be written, or matplotlib has no such format.
    """
    figure = draw(chart)
    try:
        with atomic_write(path) as draft:
            figure.savefig(str(draft), dpi=dpi)
    except ValueError as error:
        raise OutputError(f"{path}: cannot be written: {error}", value=str(path)) from error


def write_pdf(charts: Iterable[Chart], path: str | Path, title: str = "") -> None:
    """Write the charts to one PDF file, one chart to a page.

    Args:
        charts: charts to write.
        path: file to write.
        title: title in the metadata of the file.

    Raises:
        OutputError: the file cannot be written.
    """
    with atomic_write(path) as draft, PdfPages(str(draft), metadata={"Title": title}) as pages:
        for chart in charts:
            pages.savefig(draw(chart))


def draw(chart: Chart) -> Figure:
    """Draw a chart as a matplotlib figure, in the style of the HTML page."""
    columns = min(chart.columns, len(chart.panels))
    rows = -(-len(chart.panels) // columns)
    figure = Figure(figsize=(11.0, 1.3 + 2.9 * rows if columns > 1 else 5.5), layout="constrained")
    grid = np.atleast_1d(figure.subplots(rows, columns)).reshape(-1)
    for axes, panel in zip(grid, chart.panels, strict=False):
        _panel(axes, panel, "" if panel.title == chart.title else panel.title)
    for unused in grid[len(chart.panels) :]:
        unused.set_visible(False)
    figure.suptitle(chart.title)
    if chart.legend:
        handles = [Line2D([], [], label=curve.label, **_style(curve)) for curve in chart.legend]
        figure.legend(handles=handles, loc="outside lower center", ncols=6, frameon=False)
    return figure


def _panel(axes: Axes, panel: Panel, title: str) -> None:
    axes.set_title(title, fontsize="medium", loc="left")
    scale, along = y_scale(panel), x_scale(panel)
    for curve in panel.curves:
        axes.plot(along.positions(curve.x), scale.positions(curve.y), **_style(curve))
    for note in panel.notes:
        side: Any = ALIGN[note.anchor]
        axes.text(note.x, note.y, note.text, ha=side, fontsize="x-small")
    if panel.picture:
        axes.set_aspect("equal")
        axes.set_axis_off()
        return
    low, high = y_range(panel)
    axes.set_xlim(*x_range(panel))
    axes.set_ylim(low, high)
    ticks = scale.ticks(low, high)
    x_ticks = along.ticks(*x_range(panel))
    if x_ticks:
        axes.set_xticks([at for at, _ in x_ticks], [label for _, label in x_ticks])
    if ticks:
        axes.set_yticks([at for at, _ in ticks], [label for _, label in ticks])
    for i, mark in enumerate(panel.marks):
        at = float((along if mark.vertical else scale).positions(mark.at))
        line = axes.axvline if mark.vertical else axes.axhline
        if mark.vertical or low <= at <= high:
            line(at, color=mark.color, linestyle=":", linewidth=1.0)
            place = (at, 0.97 - 0.05 * (i % 4)) if mark.vertical else (0.01, at)
            transform = axes.get_xaxis_transform() if mark.vertical else axes.get_yaxis_transform()
            axes.text(place[0], place[1], mark.label, transform=transform, fontsize="x-small",
                      va="top" if mark.vertical else "bottom")  # fmt: skip
    axes.set_xlabel(panel.x_label, fontsize="small")
    axes.set_ylabel(panel.y_label, fontsize="small")
    axes.tick_params(labelsize="small")
    axes.grid(color="0.92")
    axes.spines[["top", "right"]].set_visible(False)


def _style(curve: ChartLine) -> dict[str, Any]:
    line = "-" if curve.dash == SOLID else (0, curve.dash)
    return {"color": curve.color, "linewidth": curve.width * 0.8, "linestyle": line}
