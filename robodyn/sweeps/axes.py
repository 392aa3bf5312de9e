# SPDX-License-Identifier: Apache-2.0

"""Axes of a parameter sweep, parsed from strings, numbers or arrays."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import as_array
from robodyn.errors import InvalidInput, RobodynError
from robodyn.presentation.variables import Variable

# Largest number of values on one axis, as they are kept in memory.
LARGEST_AXIS = 1_000_000


@dataclass(frozen=True)
class GridAxis:
    """Axis of a grid: a variable and its increasing values (n,)."""

    name: str
    values: FloatArray

    @property
    def low(self) -> float:
        """Smallest value on the axis."""
        return float(self.values[0])


@dataclass(frozen=True)
class Interval:
    """Range `low` to `high` of a variable from which a sweep draws samples."""

    name: str
    low: float
    high: float


def read_axis(
    name: str, given: Any, known: Mapping[str, Variable], sampled: bool
) -> GridAxis | Interval | float:
    """Parse the values of a variable: a grid axis, an interval, or a constant.

    Args:
        name: name of the variable.
        given: `"low:high:count"` or an array of values for a grid; `"low:high"` for a sample; a
            number, also as a string, for a constant.
        known: variables of the mechanism.
        sampled: whether the sweep draws samples from intervals instead of evaluating a grid.

    Returns:
        The axis, the interval, or the constant value.

    Raises:
        InvalidInput: the variable is unknown, or values are invalid.
    """
    if name not in known:
        near = difflib.get_close_matches(str(name)[:100], known, n=1, cutoff=0.6)
        hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(known)}"
        raise InvalidInput(f"no coordinate {str(name)[:100]!r} to sweep; {hint}", value=name)
    unit, least = known[name].unit, known[name].at_least
    spans = isinstance(given, str) and ":" in given
    read = _range(name, given, sampled, unit) if spans else _parse_list(name, given, sampled, unit)
    lowest = read if isinstance(read, float) else read.low
    if lowest < least:
        raise InvalidInput(
            f"axis {name} has the value {lowest:g}, must be at least {least:g} [{unit}]",
            value=lowest,
        )
    return read


def _range(name: str, text: str, sampled: bool, unit: str) -> GridAxis | Interval:
    """Return the axis or interval that `low:high` or `low:high:count` describes."""
    parts, shown = text.split(":"), f"axis {name}={text[:100]}"
    if len(parts) > 3:
        raise InvalidInput(f"{shown} has {len(parts)} parts, expected low:high:count", value=text)
    low, high = (_number(shown, part, unit) for part in parts[:2])
    if not (np.isfinite(low) and np.isfinite(high) and np.isfinite(high - low)):
        raise InvalidInput(f"{shown} is not finite [{unit}]", value=text)
    if not low < high and not (low == high and parts[2:] == ["1"]):
        raise InvalidInput(
            f"axis {name} runs from {low:g} to {high:g}, expected low < high [{unit}]", value=text
        )
    if len(parts) == 2:
        if sampled:
            return Interval(name, low, high)
        raise InvalidInput(
            f"{shown} of a grid lacks its number of values: write {name}={text[:100]}:21, or "
            "request samples",
            value=text,
        )
    if sampled:
        raise InvalidInput(
            f"axis {name} has {parts[2][:40]} values, but samples were requested: write "
            f"{name}={low:g}:{high:g}",
            value=text,
        )
    digits = parts[2].strip()
    count = int(digits) if digits.isdecimal() and len(digits) < 20 else 0
    if not 1 <= count <= LARGEST_AXIS:
        raise InvalidInput(
            f"axis {name}: the number of values is {parts[2][:40]!r}, expected a whole number "
            f"from 1 to {LARGEST_AXIS}",
            value=text,
        )
    values = np.linspace(low, high, count)
    if not (np.diff(values) > 0.0).all():
        raise InvalidInput(
            f"axis {name}: {count} values from {low!r} to {high!r} cannot be distinguished",
            value=count,
        )
    return GridAxis(name, values)


def _parse_list(name: str, given: Any, sampled: bool, unit: str) -> GridAxis | float:
    """Return the axis or constant that a list or a single value describes."""
    value = np.nan if given is None or isinstance(given, bool) else given
    if isinstance(given, str):
        numbers = [_number(f"axis {name}={given[:100]}", part, unit) for part in given.split(",")]
        value = numbers if len(numbers) > 1 else numbers[0]
    try:
        values = as_array(name, np.asarray(value), (), unit)
    except RobodynError as error:
        raise InvalidInput(f"axis {error}", value=given) from error
    if values.ndim == 0:
        return float(values)
    if sampled:
        raise InvalidInput(
            f"axis {name} is a list of values, but samples were requested: write '{name}=low:high'",
            value=given,
        )
    if values.ndim != 1 or not 0 < values.size <= LARGEST_AXIS:
        raise InvalidInput(
            f"axis {name} has shape {values.shape}, expected (n,) with n from 1 to {LARGEST_AXIS}",
            value=given,
        )
    if not (np.diff(values) > 0.0).all():
        raise InvalidInput(f"the values of axis {name} must be strictly increasing", value=given)
    return GridAxis(name, values.copy())


def _number(shown: str, part: str, unit: str) -> float:
    try:
        return float(part)
    except ValueError as error:
        raise InvalidInput(
            f"{shown}: {part[:40]!r} is not a number, expected low:high:count or one value "
            f"[{unit}]",
            value=part,
        ) from error
