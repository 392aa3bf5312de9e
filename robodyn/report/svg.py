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

"""A panel as an SVG drawing to stand in a page; text stays text, in the page's own font."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from robodyn.report.chart import thinned
from robodyn.report.scales import Axis, axes_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from robodyn.arrays import FloatArray
    from robodyn.report.chart import Curve, Panel

    Place = Callable[[FloatArray], FloatArray]

# Size of a panel in drawing units, which are about a pixel on a wide screen, by how many stand
# side by side.
SIZES = {1: (780.0, 320.0), 2: (560.0, 340.0), 3: (370.0, 260.0)}
# Between the frame and the edges.
LEFT, RIGHT, TOP, BOTTOM = 68.0, 12.0, 26.0, 40.0
# About the width of a character of a mark's label.
CHARACTER = 6.0


def panel_svg(panel: Panel, columns: int = 3) -> str:
    """The drawing, of the size for that many columns."""
    width, height = SIZES[columns]
    name = escape(f"{panel.title}: {panel.y_label} over {panel.x_label}".strip(": "), quote=True)
    body = _picture(panel, width, height) if panel.picture else _axes(panel, width, height)
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{name}">'
        f'<text class="t" x="{LEFT:g}" y="16">{escape(panel.title)}</text>{body}</svg>'
    )


def dash_attribute(curve: Curve) -> str:
    """The pattern of a curve's line."""
    if not curve.dash:
        return ""
    return f' stroke-dasharray="{" ".join(f"{curve.width * d:.3g}" for d in curve.dash)}"'


def _axes(panel: Panel, width: float, height: float) -> str:
    x, y = axes_of(panel)
    right, bottom = width - RIGHT, height - BOTTOM

    def across(values: FloatArray) -> FloatArray:
        return LEFT + x.share(values) * (right - LEFT)

    def up(values: FloatArray) -> FloatArray:
        return bottom - y.share(values) * (bottom - TOP)

    out = [_ticks(x, y, across, up, right, bottom)]
    out += [_mark(panel, i, across, up, right, bottom) for i in range(len(panel.marks))]
    for curve in panel.curves:
        # values beyond the limits break the line, as a gap does
        inside = np.abs(y.share(curve.y) - 0.5) <= 0.5 + 1e-6
        values = np.where(inside, curve.y, np.nan)
        points = thinned(curve.x, values)
        out.append(_line(across(points[0]), up(points[1]), curve))
    for note in panel.notes:
        at = float(across(np.array(note.x))), float(up(np.array(note.y)))
        out.append(_words(*at, note.text, note.anchor))
    out.append(
        f'<text class="l" x="{(LEFT + right) / 2:g}" y="{height - 6:g}" text-anchor="middle">'
        f"{escape(panel.x_label)}</text>"
        f'<text class="l" transform="translate(12 {(TOP + bottom) / 2:g}) rotate(-90)"'
        f' text-anchor="middle">{escape(panel.y_label)}</text>'
    )
    return "".join(out)


def _ticks(x: Axis, y: Axis, across: Place, up: Place, right: float, bottom: float) -> str:
    out = []
    for value, text in y.ticks:
        at = float(up(np.array(value)))
        out.append(
            f'<path class="g" d="M{LEFT:g} {at:.1f}H{right:g}"/>'
            f'<text x="{LEFT - 6:g}" y="{at + 4:.1f}" text-anchor="end">{text}</text>'
        )
    for value, text in x.ticks:
        at = float(across(np.array(value)))
        out.append(
            f'<path class="g" d="M{at:.1f} {TOP:g}V{bottom:g}"/>'
            f'<text x="{at:.1f}" y="{bottom + 15:g}" text-anchor="middle">{text}</text>'
        )
    frame = f'<path class="f" d="M{LEFT:g} {TOP:g}V{bottom:g}H{right:g}"/>'
    return "".join(out) + frame


def _mark(panel: Panel, index: int, across: Place, up: Place, right: float, bottom: float) -> str:
    mark = panel.marks[index]
    if mark.vertical:
        at = float(across(np.array(mark.at)))
        others = [float(across(np.array(m.at))) for m in panel.marks if m.vertical and m != mark]
        leftwards = _leftwards(at, CHARACTER * len(mark.label) + 8.0, others, right)
        line = f"M{at:.1f} {TOP:g}V{bottom:g}"
        side = f'x="{at + (-4 if leftwards else 4):.1f}" y="{TOP + 12 + 13 * (index % 4):g}"'
        anchor = ' text-anchor="end"' if leftwards else ""
    else:
        at = float(up(np.array(mark.at)))
        if not TOP <= at <= bottom:
            return ""
        line = f"M{LEFT:g} {at:.1f}H{right:g}"
        # above the line, or below it where that would run into the title
        side, anchor = f'x="{LEFT + 6:g}" y="{at + (13 if at < TOP + 14 else -4):.1f}"', ""
    return (
        f'<path d="{line}" fill="none" stroke="{mark.color}" stroke-width="1.2"'
        f' stroke-dasharray="3 3"/><text class="m" {side}{anchor}>{escape(mark.label)}</text>'
    )


def _leftwards(at: float, width: float, others: list[float], right: float) -> bool:
    """Whether a label stands better on the left of its line: clear of other lines and the edges."""

    def crossed(low: float, high: float) -> int:
        beyond = 3 * (low < LEFT or high > right)
        return beyond + sum(low <= other <= high for other in others)

    return crossed(at - width, at) < crossed(at, at + width)


def _picture(panel: Panel, width: float, height: float) -> str:
    """Equal scales in both directions, as large as fits."""
    xs = np.concatenate([curve.x for curve in panel.curves])
    ys = np.concatenate([curve.y for curve in panel.curves])
    low, high = (np.array([f(xs), f(ys)]) for f in (np.nanmin, np.nanmax))
    room = 40.0
    size = np.maximum(high - low, 1e-9)
    factor = min((width - 2 * room) / size[0], (height - TOP - 2 * room) / size[1])
    middle = 0.5 * (low + high)

    def across(values: FloatArray) -> FloatArray:
        return np.asarray(width / 2 + factor * (values - middle[0]))

    def up(values: FloatArray) -> FloatArray:
        return np.asarray((height + TOP) / 2 - factor * (values - middle[1]))

    out = [_line(across(c.x), up(c.y), c) for c in panel.curves]
    for note in panel.notes:
        at = float(across(np.array(note.x))), float(up(np.array(note.y)))
        out.append(_words(*at, note.text, note.anchor))
    return "".join(out)


def _words(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(x: FloatArray, y: FloatArray, curve: Curve) -> str:
    known = np.isfinite(x) & np.isfinite(y)
    pieces, pen_down = [], False
    for a, b, there in zip(x.tolist(), y.tolist(), known.tolist(), strict=True):
        if there:
            pieces.append(f"{'L' if pen_down else 'M'}{a:.1f} {b:.1f}")
        pen_down = there
    return (
        f'<path d="{"".join(pieces)}" fill="none" stroke="{curve.color}"'
        f' stroke-width="{curve.width:g}" stroke-linejoin="round"{dash_attribute(curve)}/>'
    )
