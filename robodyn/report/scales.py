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

"""From values to places on an axis, and the values at which an axis has ticks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from robodyn.arrays import FloatArray
    from robodyn.report.chart import Panel


# Forces over this many times their median want a symmetric logarithmic axis.
WIDE = 100.0


def scale_of(values: Iterable[FloatArray]) -> str:
    """`symlog` where a few values would flatten all others, as near a singularity."""
    size = np.abs(np.concatenate([np.ravel(each) for each in values]))
    size = size[np.isfinite(size) & (size > 0.0)]
    return "symlog" if size.size and size.max() > WIDE * np.median(size) else "linear"


class Axis:
    """One axis: `share` gives places from 0 to 1, `ticks` values and their texts.

    It holds `values`; a symmetric logarithmic one bends where the values `drawn` are usual.
    """

    def __init__(
        self,
        values: FloatArray,
        scale: str = "linear",
        tight: bool = False,
        drawn: FloatArray | None = None,
    ) -> None:
        known = values[np.isfinite(values)]
        if scale == "log":
            known = known[known > 0.0]
        self.scale = scale
        self.threshold = (
            _threshold(values if drawn is None else drawn) if scale == "symlog" else 1.0
        )
        if not known.size:
            known = np.array([1.0, 10.0])
        low, high = (float(self._bent(np.array(v))) for v in (known.min(), known.max()))
        if high - low < 1e-12 * max(abs(low), abs(high), 1e-9):  # flat, save for rounding
            room = max(0.5 * abs(high), 1e-9) if scale == "linear" else 0.5
            low, high = low - room, high + room
        room = 0.0 if tight else 0.05 * (high - low)
        self.low, self.high = low - room, high + room

    def share(self, values: FloatArray) -> FloatArray:
        """Places (...) of values, 0 at the axis' lower end and 1 at its upper."""
        return (self._bent(values) - self.low) / (self.high - self.low)

    def unbent(self, places: FloatArray) -> FloatArray:
        """Values at places in the axis' own units."""
        if self.scale == "log":
            return np.asarray(10.0**places)
        if self.scale == "symlog":
            return np.asarray(np.sign(places) * self.threshold * (10.0 ** np.abs(places) - 1.0))
        return places

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Round values inside the axis, and what to write beside them."""
        if self.scale == "linear":
            return _linear_ticks(self.low, self.high)
        if self.scale == "log":
            first, last = int(np.ceil(self.low)), int(np.floor(self.high))
            if last - first < 1:
                ends = self.unbent(np.array([self.low, self.high]))
                return _linear_ticks(float(ends[0]), float(ends[1]))
            step = max(1, round((last - first) / 5))
            return [(10.0**n, decimal(10.0**n)) for n in range(first, last + 1, step)]
        top = max(abs(self.low), abs(self.high)) + np.log10(self.threshold)
        first = round(np.log10(self.threshold)) + 1
        step = max(1, round((top - first) / 3))
        sizes = [10.0**n for n in range(first, int(np.floor(top)) + 1, step)]
        values = np.array([*(-s for s in reversed(sizes)), 0.0, *sizes])
        places = self.share(values)
        return [
            (float(v), decimal(float(v)))
            for v, place in zip(values, places, strict=True)
            if 0.0 <= place <= 1.0
        ]

    def _bent(self, values: FloatArray) -> FloatArray:
        if self.scale == "log":
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.asarray(np.log10(values))
        if self.scale == "symlog":
            size = np.log10(1.0 + np.abs(values) / self.threshold)
            return np.asarray(np.sign(values) * size)
        return values


def axes_of(panel: Panel) -> tuple[Axis, Axis]:
    """The axes of a panel: time runs from edge to edge, values have some room, marks are seen."""
    x = Axis(np.concatenate([curve.x for curve in panel.curves]), tight=True)
    if panel.limits is not None:
        drawn = np.concatenate([curve.y for curve in panel.curves])
        return x, Axis(np.array(panel.limits), panel.scale, tight=True, drawn=drawn)
    levels = [mark.at for mark in panel.marks if not mark.vertical]
    y = np.concatenate([*(curve.y for curve in panel.curves), np.array(levels)])
    return x, Axis(y, panel.scale)


def decimal(value: float) -> str:
    """A number as a person writes it."""
    if value == 0.0 or 1e-3 <= abs(value) < 1e4:
        return f"{value:.10g}".replace("-", "−")
    mantissa, exponent = f"{value:e}".split("e")
    digits = f"{float(mantissa):g}"
    return f"{digits}e{int(exponent)}".replace("-", "−")


def _threshold(values: FloatArray) -> float:
    size = np.abs(values[np.isfinite(values) & (values != 0.0)])
    return float(10.0 ** np.floor(np.log10(np.median(size)))) if size.size else 1.0


def _linear_ticks(low: float, high: float) -> list[tuple[float, str]]:
    rough = (high - low) / 5.0
    unit = 10.0 ** np.floor(np.log10(rough))
    step = unit * next(m for m in (1.0, 2.0, 5.0, 10.0) if m * unit >= 0.6 * rough)
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [(n * step, decimal(float(f"{n * step:.6g}"))) for n in range(first, last + 1)]
