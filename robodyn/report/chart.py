# SPDX-License-Identifier: Apache-2.0

"""Description of charts as data, which Bokeh or matplotlib draws.

A chart consists of panels with curves and has one legend.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray, Indices

# The palette of Okabe and Ito, safe for color-blind readers; without yellow, which is too light on
# white.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
INK, GRAY = "#1b1f24", "#8a9099"
# Lengths of dashes and gaps in units of the line's width; none for a solid line.
SOLID, DASHED, DOTTED, DASH_DOT = (), (5.0, 2.5), (1.2, 2.0), (6.0, 2.0, 1.2, 2.0)
DASHES = (SOLID, DASHED, DOTTED, DASH_DOT, (9.0, 2.5), (2.5, 2.5))
# Alignment of a note's text by its anchor.
ALIGN = {"start": "left", "middle": "center", "end": "right"}
# Thresholds of the condition number.
CONDITION = (("warning", 100.0, "#b07d00"), ("error", 1000.0, "#b3261e"))
# Number of pieces into which a curve of many samples is divided; see `downsample`.
PIECES = 150


@dataclass(frozen=True)
class ChartLine:
    """Line through the points (x, y), both (N,); NaN breaks it.

    Curves with the same `label` share one entry of the legend. `dash` contains the lengths of
    dashes and gaps in units of the line's `width`.
    """

    x: FloatArray
    y: FloatArray
    label: str = ""
    color: str = INK
    dash: tuple[float, ...] = SOLID
    width: float = 1.6


@dataclass(frozen=True)
class Mark:
    """Labeled straight line across a panel: vertical at a time, or horizontal at a value."""

    at: float
    label: str = ""
    vertical: bool = False
    color: str = GRAY


@dataclass(frozen=True)
class Note:
    """Label at a point of a panel.

    `anchor` is `start`, `middle` or `end`: the part of the label at the point.
    """

    x: float
    y: float
    text: str
    anchor: str = "middle"


@dataclass(frozen=True)
class Panel:
    """Panel of a chart: axes with curves, marks and notes.

    Attributes:
        title: text above the panel.
        curves, marks, notes: contents.
        x_label, y_label: axis labels with units.
        scale: scale of the y axis: `linear`, `log`, or `symlog` (symmetric logarithmic) for values
            of both signs over many decades.
        x_scale: scale of the x axis, `linear` or `log`.
        limits: limits of the y axis; by default they enclose the curves and marks.
        picture: whether this is a projection of a scene, with equal scales on both axes, which are
        not drawn.
    """

    title: str
    curves: tuple[ChartLine, ...]
    x_label: str = "time [s]"
    y_label: str = ""
    marks: tuple[Mark, ...] = ()
    notes: tuple[Note, ...] = ()
    scale: str = "linear"
    x_scale: str = "linear"
    limits: tuple[float, float] | None = None
    picture: bool = False


@dataclass(frozen=True)
class Chart:
    """Chart of one or more panels with a common title and legend.

    Attributes:
        key: short name, used in file names and links.
        title: title of the chart.
        panels: panels in reading order.
        text: explanation for the reader.
        columns: number of panels side by side on a wide screen.
    """

    key: str
    title: str
    panels: tuple[Panel, ...]
    text: str = ""
    columns: int = 3

    @property
    def legend(self) -> list[ChartLine]:
        """Curves that represent the entries of the legend: the first one of each label."""
        found: dict[str, ChartLine] = {}
        for panel in self.panels:
            for curve in panel.curves:
                if curve.label:
                    found.setdefault(curve.label, curve)
        return list(found.values())


def curves_of(
    x: FloatArray, labels: Iterable[str], values: FloatArray, colors: Sequence[str] = COLORS
) -> tuple[ChartLine, ...]:
    """Create a curve for each column of an array.

    Args:
        x: (N,) common x values.
        labels: k labels.
        values: (N, k) y values.
        colors: colors of the curves, repeated if there are more curves.

    Returns:
        The k curves.
    """
    styles = zip(cycle(colors), cycle(DASHES), strict=False)
    curves = zip(labels, values.T, strict=True)
    return tuple(
        ChartLine(x, y, label, *style) for (label, y), style in zip(curves, styles, strict=False)
    )


def panels_of(
    titles: Iterable[str],
    time: FloatArray,
    curves: Mapping[str, FloatArray],
    y_labels: Sequence[str],
    colors: Sequence[str] = COLORS,
    **more: Any,
) -> tuple[Panel, ...]:
    """Create a panel over time for each joint.

    Args:
        titles: titles of the n panels.
        time: (N,) [s] common times of the curves.
        curves: (N, n) values by label; each panel has one curve for each label.
        y_labels: labels of the n y axes.
        colors: colors of the labels.
        more: further fields of every panel, see `Panel`.

    Returns:
        The n panels.
    """
    return tuple(
        Panel(
            title,
            curves_of(time, curves, np.column_stack([v[:, i] for v in curves.values()]), colors),
            y_label=y_labels[i],
            **more,
        )
        for i, title in enumerate(titles)
    )


def condition_panel(
    title: str, curves: Sequence[ChartLine], marks: Sequence[Mark] = ()
) -> tuple[Panel, ...]:
    """Create a panel of Jacobian condition numbers with warning and error thresholds.

    Args:
        title: title of the panel.
        curves: condition numbers over time.
        marks: further marks of the panel.

    Returns:
        A tuple that contains the panel, for `Chart.panels`.
    """
    levels = [Mark(level, f"{name} {level:g}", color=color) for name, level, color in CONDITION]
    return (
        Panel(title, tuple(curves), y_label="condition number [-]", marks=(*levels, *marks),
              scale="log"),
    )  # fmt: skip


def downsample(values: FloatArray) -> Indices:
    """Select the samples that suffice to draw several curves.

    The samples are divided into pieces of equal length. Of each piece, the first and the last
    sample, the least and the greatest of every curve, and both sides of every gap are kept.

    Args:
        values: (k, N) samples of k curves.

    Returns:
        Indices (M,) of the selected samples, increasing.
    """
    count = values.shape[1]
    if count <= 4 * PIECES:
        return np.arange(count)
    edges = np.linspace(0, count, PIECES + 1).astype(int)
    keep = [edges[:-1], edges[1:] - 1]
    finite = np.isfinite(values)
    for first, end in zip(edges[:-1], edges[1:], strict=True):
        piece, known = values[:, first:end], finite[:, first:end]
        keep.append(first + np.where(known, piece, np.inf).argmin(axis=1))
        keep.append(first + np.where(known, piece, -np.inf).argmax(axis=1))
    gaps = np.flatnonzero((finite[:, 1:] != finite[:, :-1]).any(axis=0))
    return np.unique(np.concatenate([*keep, gaps, gaps + 1]))
