# SPDX-License-Identifier: Apache-2.0

"""The motion of a vehicle, as it was measured at its driver's head."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robodyn.errors import InvalidInput

if TYPE_CHECKING:
    import os

    from robodyn.arrays import FloatArray

COLUMNS = ("time", "force_x", "force_y", "force_z", "rate_x", "rate_y", "rate_z")


class VehicleMotion(NamedTuple):
    """What was measured at the driver's head in a vehicle: x forward, y left, z up.

    Attributes:
        time: (K,) [s], increasing.
        force: (K, 3) [m/s^2] specific force; at rest (0, 0, 9.81).
        rate: (K, 3) [rad/s] angular velocity.
    """

    time: FloatArray
    force: FloatArray
    rate: FloatArray


def read_vehicle(file: str | os.PathLike[str]) -> VehicleMotion:
    """The motion of a vehicle from a CSV file with the columns of `COLUMNS`, in any order.

    Raises:
        InvalidInput: no such file, a column or a number that is missing; with file and line.
    """
    path = Path(file)
    wanted = ", ".join(COLUMNS)
    try:
        with path.open(newline="", encoding="utf-8") as text:
            rows = list(csv.DictReader(text, skipinitialspace=True))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{path}: {getattr(error, 'strerror', error)}", value=str(path)
        ) from error
    missing = [name for name in COLUMNS if not rows or rows[0].get(name) is None]
    if missing:
        raise InvalidInput(
            f"{path}: no column {missing[0]!r}; expected {wanted}, in m/s^2 and rad/s",
            value=str(path),
        )
    table = np.empty((len(rows), len(COLUMNS)))
    for number, row in enumerate(rows):
        for place, name in enumerate(COLUMNS):
            try:
                table[number, place] = float(row[name])
            except (TypeError, ValueError) as error:
                line = f"{path}, line {number + 2}: {name} is {row[name]!r}, expected a number"
                raise InvalidInput(line, value=row[name]) from error
    return VehicleMotion(table[:, 0], table[:, 1:4], table[:, 4:])
