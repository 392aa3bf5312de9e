# SPDX-License-Identifier: Apache-2.0

"""Capabilities of a machine: sines by frequency, and payloads that it can hold."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

import numpy as np

from robodyn.algorithms import conditioning, motions
from robodyn.algorithms.effort_terms import nan_where_singular
from robodyn.algorithms.elasticity import is_elastic
from robodyn.algorithms.travel import within_travel
from robodyn.analysis.at_home import payload_limits
from robodyn.analysis.sine_motions import FREQUENCIES, sine_motions
from robodyn.arrays import BoolArray, FloatArray
from robodyn.mechanism.mechanism import Mechanism
from robodyn.poses import advance_pose
from robodyn.presentation.numbers_as_text import number
from robodyn.report.chart import COLORS, Chart, ChartLine, Panel
from robodyn.report.tables import Table

# Cells of a slice of the workspace along x and z; its half width, in sizes of the mechanism.
COLUMNS, ROWS, EXTENT = 13, 9, 0.4
LEFT_OUT = "out of reach"


def sine_sheet(m: Mechanism) -> tuple[Chart, Table] | None:
    """Chart and tabulate the largest sines by frequency; None if drives have no limits."""
    rows = sine_motions(m)
    if not rows:
        return None
    panels = []
    for unit, title in (("m", "along an axis"), ("rad", "about an axis")):
        curves = tuple(
            ChartLine(np.array(FREQUENCIES), np.array(row["amplitudes"]), row["axis"], color)
            for row, color in zip(rows, COLORS, strict=False)
            if row["unit"] == unit and min(row["amplitudes"]) > 0.0
        )
        if curves:
            panels.append(
                Panel(title, curves, "frequency [Hz]", f"amplitude [{unit}]", scale="log",
                      x_scale="log")
            )  # fmt: skip
    text = ("Largest sine about home that joints, speeds and efforts allow, one axis at a time. "
            "Strokes limit on the left, efforts on the right.")  # fmt: skip
    chart = Chart("sines", "Largest sines", tuple(panels), text, 2)
    turns = 2.0 * np.pi * np.array(FREQUENCIES)
    cells: list[list[str | float]] = [
        [
            f"{row['axis']} [{row['unit']}]",
            max(row["amplitudes"]),
            float((turns * row["amplitudes"]).max()),
            "–" if row["acceleration"] is None else row["acceleration"],
        ]
        for row in rows
    ]
    head = ["axis", "excursion, either way", "velocity [1/s]", "acceleration [1/s^2]"]
    return chart, Table(head, cells, "From home, one axis at a time")


def modes_table(m: Mechanism) -> Table | None:
    """Tabulate the natural modes at home; None for rigid drives."""
    if not is_elastic(m):
        return None
    modes = m.modes(m.home)
    largest = np.abs(modes.body_shapes[:, :3] / m.size).max(axis=1)
    largest = np.maximum(largest, np.abs(modes.body_shapes[:, 3:]).max(axis=1))
    shapes = modes.body_shapes / np.where(largest > 0.0, largest, 1.0)[:, None]
    cells: list[list[str | float]] = [
        [k, *(float(value) for value in row)]
        for k, row in enumerate(
            np.column_stack([modes.frequencies, modes.damping_ratios, shapes]), start=1
        )
    ]
    head = ["mode", "frequency [Hz]", "damping ratio", "x [m]", "y [m]", "z [m]", "about x [rad]",
            "about y [rad]", "about z [rad]"]  # fmt: skip
    caption = (
        "At home, motors held. The shapes are displacements of the body, scaled to the machine's "
        "size or one radian"
    )
    return Table(head, cells, caption)


class HeldPayloads(NamedTuple):
    """Payloads that can be held at rest over a slice of the workspace, with home orientation.

    Attributes:
        x, z: (COLUMNS,), (ROWS,) [m] from home.
        mass: (ROWS, COLUMNS) [kg] with its center at the body's reference point, in addition to
            the present payload; NaN out of reach.
        reason: of each cell, the drive whose effort limits the payload, or `out of reach`.
    """

    x: FloatArray
    z: FloatArray
    mass: FloatArray
    reason: list[list[str]]


def held_payloads(m: Mechanism) -> HeldPayloads | None:
    """Compute payloads over the slice y = 0; None without x and z, or without limits."""
    rows = motions.determining_rows(m)
    if not {0, 2} <= set(rows) or not np.isfinite(m.effort_limits).all():
        return None
    reach = EXTENT * m.size
    x, z = np.linspace(-reach, reach, COLUMNS), np.linspace(-reach, reach, ROWS)
    moved = np.zeros((ROWS * COLUMNS, 6))
    moved[:, 0], moved[:, 2] = np.tile(x, ROWS), np.repeat(z, COLUMNS)
    poses = advance_pose(m.body_pose(m.home), moved)
    still = np.zeros_like(moved)
    found = motions.motions_of_body(
        m, poses, still, still, np.repeat(m.home[None], len(poses), axis=0)
    )
    inside = _inside(m, found.configuration)
    mass = np.full(len(poses), np.nan)
    reason = np.full(len(poses), LEFT_OUT, dtype=object)
    if inside.any():
        states = [part[inside] for part in found]
        core = (len(m.joint_names),)
        alone = nan_where_singular(m.inverse_dynamics, states, core)
        loaded = nan_where_singular(m.with_payload(1.0).inverse_dynamics, states, core)
        room = np.nan_to_num(payload_limits(m, alone, loaded), nan=0.0, posinf=np.inf)
        mass[inside] = room.min(axis=1)
        reason[inside] = [m.joint_names[j] for j in room.argmin(axis=1)]
    return HeldPayloads(x, z, mass.reshape(ROWS, COLUMNS), reason.reshape(ROWS, COLUMNS).tolist())


def _inside(m: Mechanism, configurations: FloatArray) -> BoolArray:
    """Return (K,) whether joints are within their ranges, on home's side of singularities."""
    inside = ~np.isnan(configurations[:, 0])
    known = configurations[inside]
    inside[inside] = within_travel(m, known) & conditioning.is_on_side_of(m, known, m.home)
    return inside


def held_table(held: HeldPayloads) -> str:
    """Format the slice as an HTML table, with a color for each limiting drive."""
    names = sorted({name for row in held.reason for name in row} - {LEFT_OUT})
    colors = {name: COLORS[k % len(COLORS)] for k, name in enumerate(names)}
    head = "".join(f"<th>{number(float(x))}</th>" for x in held.x)
    body = ""
    for k in reversed(range(len(held.z))):
        cells = "".join(
            "<td>–</td>" if name == LEFT_OUT else
            f'<td title="{escape(name)}" style="border-left:4px solid {colors[name]}">'
            f"{number(float(mass))}</td>"
            for mass, name in zip(held.mass[k], held.reason[k], strict=True)
        )  # fmt: skip
        body += f'<tr><th scope="row">{number(float(held.z[k]))}</th>{cells}</tr>'
    legend = ", ".join(
        f'<span style="border-left:4px solid {color}">&nbsp;{escape(name)}</span>'
        for name, color in colors.items()
    )
    return (
        '<p class="say">Payload [kg] that is held at rest beside what the machine carries, over x '
        f"(to the right) and z (up) [m] from home; – is out of reach. Limited by {legend}.</p>"
        f'<div class="scroll"><table><thead><tr><th>z \\ x</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
