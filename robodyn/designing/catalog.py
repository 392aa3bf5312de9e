# SPDX-License-Identifier: Apache-2.0

"""Catalogs of actuators: rows of a CSV file, or a list in a YAML file."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.designing.quantities import number
from robodyn.errors import InvalidInput
from robodyn.formats.documents import Fields
from robodyn.formats.yaml_text import parse_yaml, read_text

_UNITS = {
    "stroke": "m or rad", "closed_length": "m", "speed": "m/s or rad/s",
    "peak_effort": "N or N m", "continuous_effort": "N or N m", "rotor_inertia": "kg m^2",
    "lead": "m", "gear_ratio": "", "efficiency": "", "stiffness": "N/m or N m/rad", "mass": "kg",
    "price": "",
}  # fmt: skip


@dataclass(frozen=True)
class CatalogActuator:
    """Actuator of a catalog: its ratings, transmission, mass and price.

    Attributes:
        name: name of the actuator.
        stroke: travel [m or rad].
        closed_length: [m] distance between its two joints when it is retracted; 0 for a rotary
            actuator.
        speed: [m/s or rad/s] at the joint.
        peak_effort, continuous_effort: [N or N m] at the joint.
        rotor_inertia: [kg m^2] of all parts that turn with the motor.
        lead: [m] travel per turn of the motor; None for a rotary actuator.
        gear_ratio: turns of the motor per turn of the joint, or of the screw.
        efficiency: efficiency of screw and gear.
        stiffness: [N/m or N m/rad] between motor and joint; infinite for a rigid drive.
        mass: [kg]; two thirds of a linear actuator's mass belong to its lower body.
        price: in any currency.
    """

    name: str
    stroke: float
    speed: float
    peak_effort: float
    continuous_effort: float = math.inf
    closed_length: float = 0.0
    rotor_inertia: float = 0.0
    lead: float | None = None
    gear_ratio: float = 1.0
    efficiency: float = 1.0
    stiffness: float = math.inf
    mass: float = 0.0
    price: float = 0.0

    def add_to_leg(self, leg: dict[str, Any], telescopic: bool) -> None:
        """Add the actuator's motor and masses to a leg of a model file.

        `leg` contains the fields of the leg, which are changed in place.
        """
        given = {"rotor_inertia": self.rotor_inertia, "gear_ratio": self.gear_ratio,
                 "efficiency": self.efficiency}  # fmt: skip
        if math.isfinite(self.stiffness):
            given["stiffness"] = self.stiffness
        leg["actuator"] = given if self.lead is None else {**given, "lead": self.lead}
        if telescopic and self.mass:
            # slender rods: the housing from its joint upward, the rod down from its joint
            for part, fraction, sense in (("lower", 2.0 / 3.0, 1.0), ("upper", 1.0 / 3.0, -1.0)):
                mass, length = fraction * self.mass, self.closed_length
                across = mass * length**2 / 12.0
                axial = max(1e-3 * across, self.rotor_inertia if sense > 0.0 else 0.0)
                leg[part] = {
                    "mass": mass,
                    "com": [0.5 * sense * length, 0.0, 0.0],
                    "inertia": np.diag([axial, across + axial, across + axial]).tolist(),
                }


def load_catalog(source: str | Path | Sequence[Mapping[str, Any]]) -> tuple[CatalogActuator, ...]:
    """Read actuators from a CSV file, a YAML file with a list `actuators`, or mappings.

    Args:
        source: file, or `sample` for the bundled catalog of generic actuators. Numbers may have
            units.

    Returns:
        The actuators of the catalog, in its order.

    Raises:
        InvalidInput: the file or a field is invalid; the message names row and field.
    """
    if not isinstance(source, (str, Path)):
        rows, place = [dict(row) for row in source], "catalog"
    else:
        sample = str(resources.files("robodyn") / "templates" / "actuators.csv")
        path = Path(sample) if str(source) == "sample" else Path(source)
        text, place = read_text(path, InvalidInput), str(path)
        if path.suffix.lower() in (".yaml", ".yml"):
            top = Fields(parse_yaml(text, place, InvalidInput), place, error=InvalidInput)
            rows = [dict(row.data) for row in top.children("actuators")]
        else:
            lines = [line for line in text.splitlines() if not line.startswith("#")]
            rows = [
                {key.strip(): _cell(cell) for key, cell in row.items() if key and cell}
                for row in csv.DictReader(lines)
            ]
    found = tuple(_actuator(row, place, k) for k, row in enumerate(rows, start=1))
    if not found:
        raise InvalidInput(f"{place}: no actuators found, expected at least one", value=str(source))
    return found


def _cell(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text.strip()


def _actuator(row: Mapping[str, Any], place: str, index: int) -> CatalogActuator:
    block = Fields(row, place, f"actuator {index}", InvalidInput)
    known = [each.name for each in fields(CatalogActuator)]
    block.only(*known)
    turns = "lead" not in block and "closed_length" not in block
    given: dict[str, Any] = {"name": str(block.get("name", "a name"))}
    for name in known[1:]:
        if name in block or name in ("stroke", "speed", "peak_effort"):
            unit = _UNITS[name]
            if " or " in unit:
                unit = unit.split(" or ")[1 if turns else 0]
            bounds = {"at_least": 0.0} if name in ("rotor_inertia", "mass", "price") else {}
            given[name] = number(block, name, unit, **(bounds or {"above": 0.0}))
    return CatalogActuator(**given)
