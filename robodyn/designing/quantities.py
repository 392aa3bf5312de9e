# SPDX-License-Identifier: Apache-2.0

"""Parsing of values with units: `0.15`, `150 mm`, `0.5 g`, `20 deg`."""

from __future__ import annotations

import math
import re
from typing import Any

from robodyn.formats.documents import REQUIRED, Fields

_DEGREE = math.pi / 180.0
# For each SI unit, the units that a text may state and their values.
UNITS: dict[str, dict[str, float]] = {
    "m": {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "µm": 1e-6, "in": 0.0254},
    "rad": {"rad": 1.0, "mrad": 1e-3, "deg": _DEGREE, "°": _DEGREE},
    "m/s": {"m/s": 1.0, "mm/s": 1e-3},
    "rad/s": {"rad/s": 1.0, "deg/s": _DEGREE, "rpm": math.pi / 30.0},
    "m/s^2": {"m/s^2": 1.0, "m/s2": 1.0, "mm/s^2": 1e-3, "g": 9.80665},
    "rad/s^2": {"rad/s^2": 1.0, "rad/s2": 1.0, "deg/s^2": _DEGREE, "deg/s2": _DEGREE},
    "N": {"N": 1.0, "kN": 1e3},
    "N m": {"N m": 1.0, "Nm": 1.0, "kN m": 1e3, "kNm": 1e3},
    "N/m": {"N/m": 1.0, "N/mm": 1e3, "N/um": 1e6, "N/µm": 1e6},
    "N m/rad": {"N m/rad": 1.0, "Nm/rad": 1.0},
    "Hz": {"Hz": 1.0},
    "kg": {"kg": 1.0, "g": 1e-3, "t": 1e3},
    "kg m^2": {"kg m^2": 1.0, "kg m2": 1.0, "kg cm^2": 1e-4, "kg cm2": 1e-4},
    "V": {"V": 1.0},
    "°C": {"°C": 1.0, "C": 1.0, "degC": 1.0},
    "": {"": 1.0, "%": 0.01},
}
_TEXT = re.compile(r"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)\s*(.*)", re.DOTALL)
# Examples in error messages, by SI unit.
_EXAMPLES = {
    "m": " such as 0.15 or 150 mm",
    "rad": " such as 0.35 or 20 deg",
    "m/s^2": " such as 4.9 or 0.5 g",
}


def parse_quantity(value: Any, *units: str) -> tuple[float, str] | None:
    """Parse a number, or a string of a number and a unit, and convert it to SI units.

    Returns:
        The value in SI units, and its SI unit: one of `units`, or the first of them for a plain
        number. None if the value is neither a number nor a string with one of these units.
    """
    if isinstance(value, str):
        match = _TEXT.fullmatch(value.strip())
        stated = "" if match is None else " ".join(match[2].split())
        for unit in units:
            size = UNITS[unit].get(stated) if stated else 1.0 if unit == units[0] else None
            if match is not None and size is not None:
                return float(match[1]) * size, unit
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return (float(value), units[0]) if math.isfinite(value) else None


def quantity(
    fields: Fields,
    name: str,
    *units: str,
    default: Any = REQUIRED,
    at_least: float = -math.inf,
    above: float = -math.inf,
) -> tuple[float, str]:
    """Read a field with or without a unit, and convert its value to SI units.

    `name` is the name of the field, and `units` are the permitted SI units. `default` is returned
    if the field is missing; without a default, the field is required.

    Returns:
        The value and its SI unit, which is one of `units`.

    Raises:
        RobodynError: the value is not a number, has another unit, or is out of range.
    """
    expected = f"a number{_EXAMPLES.get(units[0], '')}"
    expected += f" above {above:g}" if above > -math.inf else ""
    expected += f" of at least {at_least:g}" if at_least > -math.inf else ""
    stated = ", ".join(unit for unit in units if unit)
    expected += f" [{stated}]" if stated else ""
    value = fields.get(name, expected, default)
    if value is default and default is not REQUIRED:
        return default, units[0]
    found = parse_quantity(value, *units)
    if found is None:
        others = [each for unit in units for each in UNITS[unit] if each]
        known = f"; units are {', '.join(others)}" if isinstance(value, str) else ""
        raise fields.refuse(name, value, expected + known)
    if not (math.isfinite(found[0]) and found[0] >= at_least and found[0] > above):
        raise fields.refuse(name, value, expected)
    return found


def number(fields: Fields, name: str, unit: str = "", **bounds: Any) -> Any:
    """Read a field with or without a unit, and return its value in SI units.

    `unit` is the SI unit, or two alternatives, such as `rad or m`. `bounds` are the arguments
    `default`, `at_least` and `above` of `quantity`.

    Returns:
        The value, or the default if the field is missing.

    Raises:
        RobodynError: the value is not a number, has another unit, or is out of range.
    """
    return quantity(fields, name, *unit.split(" or "), **bounds)[0]
