# SPDX-License-Identifier: Apache-2.0

"""Conversion of joint positions to servo values in a line of characters, and back."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import LARGEST_STATE
from robodyn.errors import InvalidInput

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class ServoText:
    """Conversion between joint positions and servo values in a line of characters.

    The conversion is the linear map value = zero + direction * scale * (position - horn), clipped
    to a range.

    Attributes:
        count: number of servos.
        format: format of a line, in Python's syntax: {1} to {n} are the values, {0} is the time
            [ms].
        scale: servo value per rad or m, positive; pulse widths of hobby servos have some 637 us
            per rad.
        direction: 1, or -1 for servos mounted in reverse.
        horn: [rad or m] position of the joint at the servo's zero: the angle at which the horn is
            mounted on its spline.
        zero: servo value at the position `horn`.
        least, most: range of the servo's values.

    Raises:
        InvalidInput: an invalid format, or numbers out of range.
    """

    count: int
    format: str
    scale: float | FloatArray = 1.0
    direction: float | FloatArray = 1.0
    horn: float | FloatArray = 0.0
    zero: float | FloatArray = 0.0
    least: float | FloatArray = -np.inf
    most: float | FloatArray = np.inf

    def __post_init__(self) -> None:
        """Check the values and the format."""
        for name in ("scale", "direction", "horn", "zero", "least", "most"):
            values = np.asarray(getattr(self, name), dtype=np.float64).ravel()
            is_range = name in ("least", "most")
            known = ~np.isnan(values) if is_range else np.isfinite(values)
            if values.size not in (1, self.count) or not known.all():
                raise InvalidInput(
                    f"{name}: expected 1 value or {self.count} values, got {values}",
                    value=values,
                )
            object.__setattr__(self, name, np.broadcast_to(values, (self.count,)))
        if not (np.asarray(self.scale) > 0.0).all():
            raise InvalidInput(f"scale is {self.scale}, must be positive", value=self.scale)
        if not (np.abs(np.asarray(self.direction)) == 1.0).all():
            raise InvalidInput(f"direction is {self.direction}, expected 1 or -1", value=self.scale)
        if not (np.asarray(self.least) <= np.asarray(self.most)).all():
            raise InvalidInput(
                f"least is {self.least}, expected at most `most`, {self.most}", value=self.least
            )
        try:
            self.format.format(0, *np.zeros(self.count))
        except (IndexError, KeyError, ValueError) as error:
            raise InvalidInput(
                f"format {self.format!r} cannot be filled with a time, {{0}}, and "
                f"{self.count} values, {{1}} to {{{self.count}}}: {error}",
                value=self.format,
            ) from error

    def values(self, positions: FloatArray) -> FloatArray:
        """Convert joint positions (n,) to servo values (n,), clipped to their ranges."""
        with np.errstate(over="ignore"):
            turned = self.direction * self.scale * (positions - self.horn)
        return np.clip(self.zero + turned, self.least, self.most)

    def positions(self, values: FloatArray) -> FloatArray:
        """Convert servo values (n,) to joint positions (n,) [rad or m]."""
        turned = self.direction * (values - self.zero) / self.scale
        return np.asarray(self.horn + turned)

    def line(self, time: float, positions: FloatArray) -> str:
        """Format joint positions (n,) at a time [s] as a line for the servos.

        Raises:
            InvalidInput: a value is not finite.
        """
        values = self.values(positions)
        if not np.isfinite(values).all():
            servo = int(np.argmin(np.isfinite(values)))
            raise InvalidInput(
                f"servo {servo + 1} would receive {values[servo]} for position {positions[servo]}, "
                "expected a finite number",
                value=positions,
            )
        return self.format.format(round(1000.0 * time), *values)

    def read(self, line: str) -> FloatArray:
        """Parse joint positions from a line with n servo values and any separators.

        Returns:
            Positions (n,) [rad or m].

        Raises:
            InvalidInput: the line does not have n numbers, or a position is implausible.
        """
        found = _NUMBER.findall(line)
        if len(found) != self.count:
            raise InvalidInput(f"line has {len(found)} numbers, expected {self.count}", value=line)
        with np.errstate(over="ignore"):
            positions = self.positions(np.array([float(each) for each in found]))
        if not (np.abs(positions) <= LARGEST_STATE).all():
            servo = int(np.argmin(np.abs(positions) <= LARGEST_STATE))
            raise InvalidInput(
                f"servo {servo + 1} reports {found[servo][:20]}, position {positions[servo]:g}, "
                f"expected at most {LARGEST_STATE:g}",
                value=line,
            )
        return positions
