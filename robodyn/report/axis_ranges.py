# SPDX-License-Identifier: Apache-2.0

"""Ranges and scales of the axes of a chart's panel.

Renderers draw linear axes only. For logarithmic axes, values and ticks are converted to positions
on a linear axis.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.presentation.numbers_as_text import decimal
from robodyn.report.chart import Panel

# Above this ratio of the largest value to the median a symmetric logarithmic axis is used.
WIDE = 100.0
# Empty space at either end of the y axis, relative to its range.
MARGIN = 0.05
LINEAR, LOG, SYMLOG = "linear", "log", "symlog"


def scale_of(values: Iterable[FloatArray]) -> str:
    """Choose the scale of a y axis for given curves: `linear` or `symlog`.

    It is `symlog` (symmetric logarithmic) if a few large values would flatten all others.
    """
    size = np.abs(np.concatenate([np.ravel(each) for each in values]))
    size = size[np.isfinite(size) & (size > 0.0)]
    return SYMLOG if size.size and size.max() > WIDE * np.median(size) else LINEAR


@dataclass(frozen=True)
class Scale:
    """Scale of an axis: maps values to positions on a linear axis.

    Attributes:
        kind: `linear`; `log`: log10(y); or `symlog`: sign(y) log10(1 + |y| / threshold), which is
            linear about zero and logarithmic on both sides of it.
        threshold: magnitude at which `symlog` changes from linear to logarithmic.
    """

    kind: str
    threshold: float = 1.0

    def positions(self, values: ArrayLike) -> FloatArray:
        """Convert values (...) to positions (...) on a linear axis."""
        y = np.asarray(values, dtype=np.float64)
        if self.kind == LOG:
            return np.log10(np.where(y > 0.0, y, np.nan))
        if self.kind == SYMLOG:
            return np.asarray(np.sign(y) * np.log10(1.0 + np.abs(y) / self.threshold))
        return y

    def ticks(self, low: float, high: float) -> list[tuple[float, str]]:
        """Return position and label of each tick between two positions.

        A linear scale has no ticks of its own. Otherwise ticks are at powers of ten and, in a
        narrow logarithmic range, also at two and five times these; a `symlog` axis has them for
        both signs.
        """
        if self.kind == LINEAR:
            return []
        if self.kind == LOG:
            first, last = int(np.floor(low)), int(np.ceil(high))
            step = max(1, round((last - first) / 6))
            mantissas = (1.0, 2.0, 5.0) if last - first <= 3 else (1.0,)
            values = [m * 10.0**n for n in range(first, last + 1, step) for m in mantissas]
        else:
            largest = self.threshold * max(10.0 ** max(abs(low), abs(high)) - 1.0, 1.0)
            first, last = round(np.log10(self.threshold)) + 1, int(np.floor(np.log10(largest)))
            step = max(1, round((last - first) / 3))
            sizes = [10.0**n for n in range(first, last + 1, step)] or [self.threshold]
            values = [*(-size for size in reversed(sizes)), 0.0, *sizes]
        places = self.positions(values).tolist()
        return [(at, decimal(value)) for at, value in zip(places, values, strict=True)
                if low <= at <= high]  # fmt: skip


def y_scale(panel: Panel) -> Scale:
    """Return the `Scale` of a panel's y axis.

    A `symlog` scale is linear below the median magnitude.
    """
    values = np.concatenate([curve.y for curve in panel.curves])
    size = np.abs(values[np.isfinite(values) & (values != 0.0)])
    order = np.floor(np.log10(np.median(size))) if size.size else 0.0
    return Scale(panel.scale, float(10.0**order))


def x_scale(panel: Panel) -> Scale:
    """Return the `Scale` of a panel's x axis."""
    return Scale(panel.x_scale)


def x_range(panel: Panel) -> tuple[float, float]:
    """Return the lower and upper limit of a panel's x axis.

    They are the least and the greatest value of its curves, as positions on a linear axis.
    """
    return _span(x_scale(panel).positions(np.concatenate([curve.x for curve in panel.curves])))


def y_range(panel: Panel) -> tuple[float, float]:
    """Return the lower and upper limit of a panel's y axis.

    By default they enclose the curves and marks with a margin. They are positions on a linear axis.
    """
    scale = y_scale(panel)
    if panel.limits is not None:
        low, high = scale.positions(panel.limits).tolist()
        return low, high
    levels = np.array([mark.at for mark in panel.marks if not mark.vertical])
    values = np.concatenate([*(curve.y for curve in panel.curves), levels])
    low, high = _span(scale.positions(values), None if panel.scale == LINEAR else 0.5)
    margin = MARGIN * (high - low)
    return low - margin, high + margin


def _span(values: FloatArray, least: float | None = None) -> tuple[float, float]:
    """Return the range of the finite values, enlarged if all values are equal."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    # a constant, apart from rounding
    if high - low < 1e-12 * max(abs(low), abs(high), 1e-9):
        space = max(0.5 * abs(high), 1e-9) if least is None else least
        return low - space, high + space
    return low, high
