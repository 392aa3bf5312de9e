# SPDX-License-Identifier: Apache-2.0

"""Data sheet of a machine: largest sinusoidal motions, and payloads that it can hold."""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

import numpy as np

from robodyn.algorithms import motions
from robodyn.algorithms.effort_terms import nan_where_singular
from robodyn.analysis.at_home import SINGULARITY, UNREACHED, obstacles, payload_limits
from robodyn.analysis.sine_motions import sine_motions
from robodyn.arrays import FloatArray
from robodyn.designing.machine_motion import machine_motions
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation.numbers_as_text import number
from robodyn.report.chart import (
    COLORS,
    DASH_DOT,
    DASHED,
    DOTTED,
    GRAY,
    SOLID,
    Chart,
    ChartLine,
    Panel,
)
from robodyn.report.tables import Table

# Number of cells of a slice of the workspace along both axes; its half width, relative to the
# mechanism's size.
COLUMNS, ROWS, EXTENT = 13, 9, 0.4
# Frequencies of the sines [Hz], and smallest share of the largest amplitude on their axis.
FREQUENCIES, LEAST = np.geomspace(0.1, 10.0, 13), 0.2
# Letters and colors of what ends the workspace.
ENDS = {
    "lower limit of a drive": ("−", COLORS[0]), "upper limit of a drive": ("+", COLORS[1]),
    "limit of a passive joint": ("J", COLORS[2]), SINGULARITY: ("S", COLORS[3]),
    UNREACHED: ("", GRAY),
}  # fmt: skip


def sine_sheet(m: Mechanism) -> tuple[Chart, Table] | None:
    """Create a chart and a table of the largest motions about home on each axis.

    Args:
        m: mechanism with velocity or effort limits of its drives.

    Returns:
        A chart of the largest amplitude of sine motions versus frequency, with a panel for each
        axis; and a table with the largest excursion, velocity and acceleration along each axis.
        None if no axis can be evaluated, see `sine_motions`: the mechanism is underactuated, all of
        its limits are infinite, or a pose of the body does not determine the configuration.
    """
    rows = sine_motions(m, FREQUENCIES.tolist())
    if not rows:
        return None
    rates = 2.0 * np.pi * FREQUENCIES
    panels = []
    for row in rows:
        found = np.array(row["amplitudes"])
        if not found.min() > 0.0:
            continue
        stroke = min(-row["excursion"][0], row["excursion"][1])
        branches = [("all limits", found, COLORS[0], SOLID, 2.2),
                    ("stroke", np.full_like(found, stroke), GRAY, DASHED, 1.2)]  # fmt: skip
        for name, value, powers, dash in (
            ("speed", row["velocity"], rates, DASH_DOT),
            ("effort", row["acceleration"], rates**2, DOTTED),
        ):
            if value is not None:
                branches.append((name, value / powers, GRAY, dash, 1.2))
        curves = tuple(
            ChartLine(FREQUENCIES, values, name, color, dash, width)
            for name, values, color, dash, width in branches
        )
        panels.append(
            Panel(row["axis"], curves, "frequency [Hz]", f"amplitude [{row['unit']}]", scale="log",
                  x_scale="log", limits=(LEAST * found.min(), 2.0 * stroke))
        )  # fmt: skip
    text = ("Largest amplitude of a sinusoidal motion of one axis about home, and the bounds on it "
    "from stroke, speed and effort, computed at home.")  # fmt: skip
    chart = Chart("sines", "Data sheet and largest sines", tuple(panels), text)
    cells: list[list[str | float]] = [
        [f"{row['axis']} [{row['unit']}]", *(
            cell for name in ("excursion", "velocity", "acceleration")
            for cell in (_cell(row[name]), _cell(row["beside"][name])))]
        for row in rows
    ]  # fmt: skip
    half = "another axis at half"
    head = ["axis", "excursion", half, "velocity [1/s]", half, "acceleration [1/s^2]", half]
    title = "Data sheet: motion of each axis from home, alone and with another axis at half"
    return chart, Table(head, cells, title)


def _cell(value: Any) -> str | float:
    if isinstance(value, list):
        return " to ".join(number(end) for end in value)
    return "–" if value is None else float(value)


class PayloadMap(NamedTuple):
    """Largest payloads that can be held at rest over a plane slice of the workspace.

    The orientation is that of home.

    Attributes:
        x, y: (COLUMNS,), (ROWS,) [m] displacements from home along two axes of the base frame.
        mass: (ROWS, COLUMNS) [kg] with its center at the body's reference point, in addition to the
            current payload; NaN out of reach.
        reason: for each cell, the drive whose effort limits the payload, or the limit that ends the
            workspace there.
    """

    x: FloatArray
    y: FloatArray
    mass: FloatArray
    reason: list[list[str]]


def payload_map(m: Mechanism, across: int = 0, up: int = 2) -> PayloadMap | None:
    """Compute the largest payloads that can be held at rest in a plane through home.

    Args:
        m: mechanism with effort limits.
        across, up: indices of the two axes of the base frame that span the plane.

    Returns:
        The payloads on a grid; None unless the body can move along both axes.
    """
    if not {across, up} <= set(motions.determining_rows(m)):
        return None
    reach = EXTENT * m.size
    x, y = np.linspace(-reach, reach, COLUMNS), np.linspace(-reach, reach, ROWS)
    moved = np.zeros((ROWS * COLUMNS, 6))
    moved[:, across], moved[:, up] = np.tile(x, ROWS), np.repeat(y, COLUMNS)
    found = machine_motions(m, (), moved)[0].rows
    reason = np.array(obstacles(m, found.configuration), dtype=object)
    inside = reason == ""
    mass = np.full(len(moved), np.nan)
    if inside.any():
        at = found.configuration[inside]
        still = np.zeros((len(at), m.coordinates.velocity_size))
        core = (len(m.joint_names),)
        loaded = nan_where_singular(m.with_payload(1.0).inverse_dynamics, [at, still, still], core)
        alone = found.effort[inside]
        room = np.nan_to_num(payload_limits(m, alone, loaded), nan=0.0, posinf=np.inf)
        mass[inside] = room.min(axis=1)
        reason[inside] = [m.joint_names[j] for j in room.argmin(axis=1)]
    return PayloadMap(x, y, mass.reshape(ROWS, COLUMNS), reason.reshape(ROWS, COLUMNS).tolist())


def payload_table(m: Mechanism, held: PayloadMap, across: str, up: str) -> str:
    """Format payloads over a slice of the workspace as an HTML table.

    The color of a cell shows which limit applies there.

    Args:
        m: mechanism that holds the payloads.
        held: payloads from `payload_map`.
        across, up: names of the horizontal and the vertical axis of the table.
    """
    colors = {name: COLORS[k % len(COLORS)] for k, name in enumerate(m.joint_names)}
    head = "".join(f"<th>{number(float(x))}</th>" for x in held.x)
    body = ""
    for k in reversed(range(ROWS)):
        cells = ""
        for mass, name in zip(held.mass[k], held.reason[k], strict=True):
            if np.isnan(mass):
                text, color = ENDS[_kind(m, name)]
                style = f"background:{color}55;text-align:center"
            else:
                text, style = number(float(mass)), f"border-left:4px solid {colors[name]}"
            cells += f'<td title="{escape(name)}" style="{style}">{text}</td>'
        body += f'<tr><th scope="row">{number(float(held.y[k]))}</th>{cells}</tr>'
    limiting = {name for row in held.reason for name in row}
    legend = [f'<span style="border-left:4px solid {color}">&nbsp;{escape(name)}</span>'
              for name, color in colors.items() if name in limiting]  # fmt: skip
    kinds = {_kind(m, name) for name in limiting - set(m.joint_names)}
    legend += [f'<span style="background:{color}55">&nbsp;{letter}&nbsp;</span> {kind}'
               for kind, (letter, color) in ENDS.items() if kind in kinds]  # fmt: skip
    return (
        f'<p class="say">Over {across} (to the right) and {up} (up) [m] from home; limited by '
        f'{", ".join(legend)}.</p><div class="scroll"><table><thead><tr><th>{up} \\ {across}</th>'
        f"{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _kind(m: Mechanism, reason: str) -> str:
    """Return the category (one of `ENDS`) of the limit that bounds the workspace."""
    if reason in ENDS:
        return reason
    end, _, name = reason.partition(" of ")
    return f"{end} of a drive" if name in m.joint_names else "limit of a passive joint"
