# SPDX-License-Identifier: Apache-2.0

"""Views of a path in space, with the mechanism at its start and its end, in parallel projection."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation import presentation
from robodyn.presentation.nouns import nouns_of
from robodyn.presentation.picture import project
from robodyn.presentation.report_answers import OutlinePart
from robodyn.report.chart import (
    COLORS,
    DASHED,
    DOTTED,
    GRAY,
    INK,
    SOLID,
    Chart,
    ChartLine,
    Note,
    Panel,
)


def path_chart(mechanism: Mechanism, configurations: FloatArray) -> Chart:
    """Create a chart of the body's path, in 3D and projected onto coordinate planes.

    The 3D view also shows the mechanism at the start and at the end.

    Args:
        mechanism: mechanism that follows the path.
        configurations: (N, nq) configurations along the path.
    """
    label = f"path of the {nouns_of(mechanism).body}"
    xyz = mechanism.body_pose(configurations)[:, :3]
    planes = tuple(
        Panel(f"{b} over {a}", (ChartLine(xyz[:, i], xyz[:, j], label, COLORS[1], SOLID, 2.4),),
              f"{a} [m]", f"{b} [m]", limits=_room(xyz[:, j]))
        for (i, a), (j, b) in (((0, "x"), (1, "y")), ((0, "x"), (2, "z")), ((1, "y"), (2, "z")))
        if np.ptp(xyz[:, i]) > 1e-9
    )  # fmt: skip
    panels = (_view(mechanism, configurations, xyz, label), *planes)
    return Chart("path", "Path in 3D", panels, columns=2)


def home_chart(mechanism: Mechanism) -> Chart:
    """Create a drawing of a mechanism at home, in parallel projection.

    Raises:
        InvalidInput: the mechanism has no home, or its kind provides no outline.
    """
    home = mechanism.home
    parts = presentation.outline(mechanism, home)
    if not parts:
        raise InvalidInput(
            f"{mechanism.name} cannot be drawn: its kind {mechanism.kind!r} provides no outline; "
            "show it with `robodyn view`",
            value=mechanism.kind,
        )
    axes, notes = _frame(np.concatenate([part.points for part in parts]))
    curves = (*(_part(part, "at home", SOLID) for part in parts), *axes)
    panel = Panel("3D view at home", curves, notes=notes, picture=True, x_label="", y_label="")
    return Chart("home", mechanism.name, (panel,), columns=1)


def _view(mechanism: Mechanism, configurations: FloatArray, xyz: FloatArray, label: str) -> Panel:
    curves, points = [], [xyz]
    for at, when, dash in ((0, "at the start", DASHED), (-1, "at the end", SOLID)):
        parts = presentation.outline(mechanism, configurations[at])
        curves += [
            _part(part, when, dash) for part in parts if part.moves or when == "at the start"
        ]
        points += [part.points for part in parts]
    curves.append(_curve(xyz, label, COLORS[1], SOLID, 2.4))
    axes, notes = _frame(np.concatenate(points))
    return Panel("In space", (*curves, *axes), notes=notes, picture=True,
                 x_label="", y_label="")  # fmt: skip


def _part(part: OutlinePart, when: str, dash: tuple[float, ...]) -> ChartLine:
    if not part.moves:
        return _curve(part.points, part.name, INK, SOLID, 2.0)
    name = f"{part.name} {when}"
    if part.thin:
        return _curve(part.points, name, GRAY, DOTTED if dash else SOLID, 0.9)
    return _curve(part.points, name, COLORS[0], dash)


def _frame(every: FloatArray) -> tuple[list[ChartLine], tuple[Note, ...]]:
    """Return axes of a 3D view: three edges of a box around points (k, 3), and labels."""
    curves, notes = [], []
    low, high = every.min(axis=0), every.max(axis=0)
    step = _round_step(float((high - low).max()))
    low, high = np.floor(low / step) * step, np.ceil(high / step) * step
    high = np.maximum(high, low + step)
    for axis, name in enumerate("xyz"):
        start = np.array([low[0], low[1], low[2]])
        if axis == 2:
            start[1] = high[1]
        if axis == 1:
            start[0] = high[0]
        end = start.copy()
        end[axis] = high[axis]
        curves.append(_curve(np.array([start, end]), "", GRAY, SOLID, 1.0))
        # a number at every other step only, so that they do not overlap
        for value in np.arange(low[axis], high[axis] + 0.5 * step, 2.0 * step):
            at = start.copy()
            at[axis] = value
            u, v = project(at)
            text = f"{value:.3g}".replace("-", "−") if abs(value) > 1e-9 else "0"
            side = {0: (-0.15, -0.22), 1: (0.15, -0.22), 2: (-0.12, -0.03)}[axis]
            anchor = {0: "end", 1: "start", 2: "end"}[axis]
            notes.append(Note(u + side[0] * step * 0.4, v + side[1] * step * 0.5, text, anchor))
        middle = 0.5 * (start + end)
        u, v = project(middle)
        off = {0: (-0.6, -1.2), 1: (0.9, -0.9), 2: (-1.6, 0.2)}[axis]
        anchor = {0: "end", 1: "start", 2: "end"}[axis]
        notes.append(Note(u + off[0] * step * 0.6, v + off[1] * step * 0.6, f"{name} [m]", anchor))
    return curves, tuple(notes)


def _curve(
    points: FloatArray, label: str, color: str, dash: tuple[float, ...], width: float = 1.6
) -> ChartLine:
    flat = project(points)
    return ChartLine(flat[:, 0], flat[:, 1], label, color, dash, width)


def _round_step(span: float) -> float:
    unit = 10.0 ** np.floor(np.log10(max(span, 1e-6) / 5.0))
    return float(next(m * unit for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * unit >= span / 6.0))


def _room(values: FloatArray) -> tuple[float, float] | None:
    """Return axis limits around a constant coordinate (N,); None if it varies."""
    low, high = float(values.min()), float(values.max())
    return (low - 0.1, high + 0.1) if high - low < 1e-9 else None
