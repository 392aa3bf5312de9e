# SPDX-License-Identifier: Apache-2.0

"""Table and charts of the natural modes and frequency responses of a machine."""

from __future__ import annotations

import numpy as np

from robodyn.algorithms.elasticity import Modes, is_elastic
from robodyn.analysis.frequency_response import frequency_response
from robodyn.errors import KinematicsError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation import presentation
from robodyn.presentation.numbers_as_text import number
from robodyn.report.chart import COLORS, GRAY, Chart, ChartLine, Panel, curves_of
from robodyn.report.tables import Table

# Largest displacement of a drawn mode, relative to the mechanism's size, or in radians.
AMPLITUDE = 0.1
# Number of frequencies of a response, and their range in first and last natural frequencies.
COUNT, BELOW, ABOVE = 240, 0.1, 3.0
MOTIONS = ("surge", "sway", "heave", "roll", "pitch", "yaw")


def modes_table(m: Mechanism) -> Table | None:
    """Create a table of the natural modes at home, with the motors locked.

    Returns:
        A table with the frequency, the damping ratio and the displacement of the body for each
        mode; None unless all drives are elastic.
    """
    if not is_elastic(m):
        return None
    modes = m.modes(m.home)
    scales = np.repeat([m.size, 1.0], 3)
    largest = np.abs(modes.body_shapes / scales).max(axis=1)
    shapes = modes.body_shapes / np.where(largest > 0.0, largest, 1.0)[:, None]
    values = np.column_stack([modes.frequencies, modes.damping_ratios, shapes]).tolist()
    cells: list[list[str | float]] = [[k, *row] for k, row in enumerate(values, start=1)]
    head = ["mode", "frequency [Hz]", "damping ratio", "x [m]", "y [m]", "z [m]", "about x [rad]",
            "about y [rad]", "about z [rad]"]  # fmt: skip
    caption = (
        "Vibration modes at home, with the motors locked. The mode shapes are displacements of the "
        "body, scaled to the machine's size or to one radian"
    )
    return Table(head, cells, caption)


def vibration_charts(m: Mechanism) -> list[Chart]:
    """Create charts of mode shapes and frequency responses at home, motors locked.

    The responses are those of the body to motion of the base and to wrenches on the body:
    magnitude and phase versus frequency.

    Returns:
        The charts; an empty list if the equilibrium is unstable.
    """
    modes = m.modes(m.home)
    if not modes.stable:
        return []
    low, high = modes.frequencies[[0, -1]]
    hertz = np.geomspace(BELOW * low, ABOVE * high, COUNT)
    given = (
        ("Transmissibility", "displacement of the base", ("m/m", "rad/rad"),
         frequency_response(m, m.home, hertz, "base")),
        ("Response to a force or moment", "wrench on the body", ("m/N", "rad/(N m)"),
         frequency_response(m, m.home, hertz, "wrench")),
    )  # fmt: skip
    charts = [_shapes(m, modes)] if presentation.outline(m, m.home) else []
    for title, what, (along, about), response in given:
        own = np.diagonal(response, axis1=1, axis2=2)
        magnitudes = curves_of(hertz, MOTIONS, np.abs(own))
        phases = curves_of(hertz, MOTIONS, np.rad2deg(np.unwrap(np.angle(own), axis=0)))
        panels = [
            Panel(f"magnitude [{unit}]", lines, "frequency [Hz]", scale="log", x_scale="log")
            for unit, lines in ((along, magnitudes[:3]), (about, magnitudes[3:]))
        ]
        panels.append(Panel("phase [°]", phases, "frequency [Hz]", x_scale="log"))
        text = (
            f"Response of the body at home to the same component of the {what}, with locked motors."
        )
        charts.append(Chart(title.split()[0].lower(), title, tuple(panels), text))
    return charts


def _shapes(m: Mechanism, modes: Modes) -> Chart:
    """Draw the machine at home, and displaced along each vibration mode.

    Each mode is drawn in the coordinate plane in which it moves most.
    """
    units = np.array([1.0 if unit == "rad" else m.size for unit in m.coordinates.units])
    panels = []
    for k, frequency in enumerate(modes.frequencies):
        shape = modes.shapes[:, k]
        i, j = ((1, 2), (0, 2), (0, 1))[int(np.abs(modes.body_shapes[k, :3]).argmin())]
        try:
            displaced = m.advance(m.home, AMPLITUDE / np.abs(shape / units).max() * shape)
        except KinematicsError:
            continue
        curves = tuple(
            ChartLine(part.points[:, i], part.points[:, j], label, color)
            for q, label, color in ((m.home, "home", GRAY), (displaced, "displaced", COLORS[0]))
            for part in presentation.outline(m, q)
        )
        title = f"{k + 1}: {number(frequency)} Hz, {'xyz'[i]} and {'xyz'[j]}"
        panels.append(Panel(title, curves, "", picture=True))
    text = "Exaggerated displacements with the motors locked, in the base frame."
    return Chart("shapes", "Mode shapes", tuple(panels), text)
