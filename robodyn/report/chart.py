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

"""What a chart says, apart from how it is drawn: curves in panels, one legend for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray


# Okabe and Ito's colours, which people with any colour vision tell apart; yellow is left out, for
# it is too light on white.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
INK, GREY = "#1b1f24", "#8a9099"
# Dashes in units of the line's width; none is a solid line.
SOLID, DASHED, DOTTED, DASH_DOT = (), (5.0, 2.5), (1.2, 2.0), (6.0, 2.0, 1.2, 2.0)
DASHES = (SOLID, DASHED, DOTTED, DASH_DOT, (9.0, 2.5), (2.5, 2.5))
# A curve is drawn by the first, last, lowest and highest point of each of so many pieces.
PIECES = 200


@dataclass(frozen=True)
class Curve:
    """A line through (x, y), both (N,); NaN breaks it. `label` names it in the chart's legend."""

    x: FloatArray
    y: FloatArray
    label: str = ""
    color: str = INK
    dash: tuple[float, ...] = SOLID
    width: float = 1.6


@dataclass(frozen=True)
class Mark:
    """A straight line across a panel: at a time (`vertical`) or at a value; `label` beside it."""

    at: float
    label: str = ""
    vertical: bool = False
    color: str = GREY


@dataclass(frozen=True)
class Note:
    """Words at a point of a panel."""

    x: float
    y: float
    text: str
    anchor: str = "middle"


@dataclass(frozen=True)
class Panel:
    """Axes with curves.

    Attributes:
        title: above it.
        curves, marks, notes: what is drawn.
        x_label, y_label: with their units.
        scale: of y: `linear`, `log`, or `symlog` for values of both signs over many decades.
        limits: of y, by default those of the curves.
        picture: a view of space: equal axes without a frame.
    """

    title: str
    curves: tuple[Curve, ...]
    x_label: str = "time [s]"
    y_label: str = ""
    marks: tuple[Mark, ...] = ()
    notes: tuple[Note, ...] = ()
    scale: str = "linear"
    limits: tuple[float, float] | None = None
    picture: bool = False


@dataclass(frozen=True)
class Chart:
    """Panels that belong together.

    Attributes:
        key: short name, for files and links.
        title: what is shown.
        panels: in reading order.
        text: what to see in it, in plain words.
        columns: of panels, where there is room.
    """

    key: str
    title: str
    panels: tuple[Panel, ...]
    text: str = ""
    columns: int = 3

    @property
    def legend(self) -> list[Curve]:
        """One curve for every label."""
        found: dict[str, Curve] = {}
        for panel in self.panels:
            for curve in panel.curves:
                if curve.label:
                    found.setdefault(curve.label, curve)
        return list(found.values())


def thinned(x: FloatArray, y: FloatArray, pieces: int = PIECES) -> tuple[FloatArray, FloatArray]:
    """Fewer points of a curve that look the same; no extreme and no gap is lost."""
    if len(x) <= 4 * pieces:
        return x, y
    edges = np.linspace(0, len(x), pieces + 1).astype(int)
    keep = {len(x) - 1}
    for first, end in zip(edges[:-1], edges[1:], strict=True):
        piece = y[first:end]
        known = np.isfinite(piece)
        keep.update((int(first), int(end) - 1))
        if known.any():
            keep.add(int(first + np.where(known, piece, np.inf).argmin()))
            keep.add(int(first + np.where(known, piece, -np.inf).argmax()))
        if not known.all():
            # both sides of every gap
            turns = np.flatnonzero(np.diff(known)) + first
            keep.update(int(turn) for turn in (*turns, *(turns + 1)))
    rows = np.array(sorted(keep))
    return x[rows], y[rows]
