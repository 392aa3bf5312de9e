# SPDX-License-Identifier: Apache-2.0
"""Tables and outlines of a mechanism for reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.actuators.actuator import IDEAL, Actuator
from robodyn.arrays import FloatArray

# Cell of a table: a number, a vector (k,), a matrix (k, m), or text.
Cell = float | FloatArray | str


@dataclass(frozen=True)
class ParameterTable:
    """Table of parameters of a mechanism.

    Attributes:
        title: title of the table.
        head: heading of each column, with its unit.
        rows: cells in the order of the columns; the first cell of a row is its name.
        note: remark, such as the frame of the numbers.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


def body_table(bodies: Iterable[Any], note: str = "") -> ParameterTable:
    """Create a table of bodies with name, mass, center of mass and inertia."""
    return ParameterTable(
        "Bodies",
        ("body", "mass [kg]", "center of mass [m]", "inertia about it, by rows [kg m²]"),
        [(body.name, body.mass, body.com, body.inertia) for body in bodies],
        note,
    )


def actuator_tables(names: Sequence[str], actuators: Sequence[Actuator]) -> list[ParameterTable]:
    """Create a table of the actuators' parameters.

    Returns:
        A list with the table, empty if all actuators are ideal.
    """
    if all(actuator == IDEAL for actuator in actuators):
        return []
    rows = []
    for name, actuator in zip(names, actuators, strict=True):
        screw = "-" if actuator.lead is None else f"{actuator.lead:g}, {actuator.handed}"
        static = max(actuator.coulomb_pair) if actuator.static is None else actuator.static
        rows.append((name, screw, actuator.gear_ratio, actuator.rotor_inertia,
                     actuator.reflected_inertia, np.array(actuator.coulomb_pair), static,
                     actuator.torque_limit, actuator.velocity_limit))  # fmt: skip
    head = ("joint", "lead [m], thread", "gear ratio", "rotor inertia [kg m²]",
            "reflected [kg, kg m²]", "Coulomb friction +/− [N, N m]", "static friction [N, N m]",
            "motor torque [N m]", "motor speed [rad/s]")  # fmt: skip
    return [ParameterTable("Actuators", head, rows)]


@dataclass(frozen=True)
class OutlinePart:
    """Polyline in the outline of a mechanism.

    Attributes:
        name: name of the component; polylines of the same name are drawn in the same style.
        points: (k, 3) [m] points in the base frame.
        moves: whether the component moves with the mechanism.
        thin: whether the line is thin.
    """

    name: str
    points: FloatArray
    moves: bool = True
    thin: bool = False
