# SPDX-License-Identifier: Apache-2.0

"""The ranges of a chart's axes, and the symmetric logarithmic scale."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.report.chart import Panel
from robodyn.report.numbers_as_text import decimal

# Above this ratio of the largest value to the median a symmetric logarithmic axis is used.
WIDE = 100.0
# Empty space at either end of the y axis, as a share of its range.
MARGIN = 0.05
LINEAR, LOG, SYMLOG = "linear", "log", "symlog"


def scale_of(values: Iterable[FloatArray]) -> str:
    """`symlog` where a few large values would flatten all others, as near a singularity."""
    size = np.abs(np.concatenate([np.ravel(each) for each in values]))
    size = size[np.isfinite(size) & (size > 0.0)]
    return SYMLOG if size.size and size.max() > WIDE * np.median(size) else LINEAR


@dataclass(frozen=True)
class SymmetricLog:
    """sign(y) log10(1 + |y| / threshold): linear about zero, logarithmic on both sides of it.

    Attributes:
        threshold: magnitude at which the scale changes from linear to logarithmic.
    """

    threshold: float

    def transformed(self, values: FloatArray) -> FloatArray:
        """Positions (...) on the axis of values (...)."""
        size = np.log10(1.0 + np.abs(values) / self.threshold)
        return np.asarray(np.sign(values) * size)

    def inverted(self, positions: FloatArray) -> FloatArray:
        """Values (...) at positions (...) on the axis."""
        size = self.threshold * (10.0 ** np.abs(positions) - 1.0)
        return np.asarray(np.sign(positions) * size)

    def ticks(self, low: float, high: float) -> list[tuple[float, str]]:
        """Zero and powers of ten between two values, and the label of each."""
        largest = max(abs(low), abs(high), self.threshold)
        first, last = round(np.log10(self.threshold)) + 1, int(np.floor(np.log10(largest)))
        step = max(1, round((last - first) / 3))
        sizes = [10.0**n for n in range(first, last + 1, step)] or [self.threshold]
        values = [*(-size for size in reversed(sizes)), 0.0, *sizes]
        return [(value, decimal(value)) for value in values if low <= value <= high]


def symmetric_log(panel: Panel) -> SymmetricLog:
    """The scale of a panel of that kind: linear below the order of its median magnitude."""
    values = np.concatenate([curve.y for curve in panel.curves])
    size = np.abs(values[np.isfinite(values) & (values != 0.0)])
    return SymmetricLog(float(10.0 ** np.floor(np.log10(np.median(size)))) if size.size else 1.0)


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten in a range, and between them twice and five times these in a narrow one."""
    first, last = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
    step = max(1, round((last - first) / 6))
    mantissas = (1.0, 2.0, 5.0) if last - first <= 3 else (1.0,)
    values = [m * 10.0**n for n in range(first, last + 1, step) for m in mantissas]
    return [value for value in values if low <= value <= high]


def x_range(panel: Panel) -> tuple[float, float]:
    """From the first to the last value, without a margin."""
    return _span(np.concatenate([curve.x for curve in panel.curves]))


def y_range(panel: Panel) -> tuple[float, float]:
    """The limits of a panel; by default those of its curves and marks, with a margin."""
    if panel.limits is not None:
        return panel.limits
    levels = [mark.at for mark in panel.marks if not mark.vertical]
    values = np.concatenate([*(curve.y for curve in panel.curves), np.array(levels)])
    if panel.scale == LOG:
        low, high = _span(np.log10(values[values > 0.0]), least=0.5)
        margin = MARGIN * (high - low)
        return float(10.0 ** (low - margin)), float(10.0 ** (high + margin))
    if panel.scale == SYMLOG:
        scale = symmetric_log(panel)
        low, high = _span(scale.transformed(values), least=0.5)
        margin = MARGIN * (high - low)
        ends = scale.inverted(np.array([low - margin, high + margin]))
        return float(ends[0]), float(ends[1])
    low, high = _span(values)
    margin = MARGIN * (high - low)
    return low - margin, high + margin


def _span(values: FloatArray, least: float | None = None) -> tuple[float, float]:
    """Least and greatest finite value; about a constant, some space (`least`) on both sides."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    # a constant, apart from rounding
    if high - low < 1e-12 * max(abs(low), abs(high), 1e-9):
        space = max(0.5 * abs(high), 1e-9) if least is None else least
        return low - space, high + space
    return low, high
