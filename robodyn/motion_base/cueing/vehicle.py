# SPDX-License-Identifier: Apache-2.0

"""Motion of a vehicle, as measured at the driver's head."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray, short_repr
from robodyn.errors import InvalidInput
from robodyn.formats.bags import read_bag
from robodyn.formats.csv_text import read_columns
from robodyn.trajectories.messages import to_nanoseconds, vector_pair

COLUMNS = ("time", "force_x", "force_y", "force_z", "rate_x", "rate_y", "rate_z")
IMU = "sensor_msgs/msg/Imu"
FIELDS = tuple(
    f"{field}.{axis}" for field in ("linear_acceleration", "angular_velocity") for axis in "xyz"
)
# Largest plausible value of a vehicle [m/s^2 or rad/s].
LARGEST = 1e5


class VehicleMotion(NamedTuple):
    """Measurements at the driver's head in a vehicle: x forward, y left, z up.

    Attributes:
        time: (K,) [s], increasing.
        force: (K, 3) [m/s^2] specific force; at rest (0, 0, 9.81).
        rate: (K, 3) [rad/s] angular velocity.
    """

    time: FloatArray
    force: FloatArray
    rate: FloatArray

    def __repr__(self) -> str:
        return short_repr(self)


def read_vehicle(source: str | os.PathLike[str], *, topic: str = "") -> VehicleMotion:
    """Read the motion of a vehicle from a CSV file or a bag.

    Args:
        source: CSV file with the columns of `COLUMNS`, in any order; or a rosbag2 folder, a .mcap
            or a .db3 file with messages from an IMU at the head, in the axes of the vehicle.
        topic: topic of the messages; by default the only one, or the one that ends in vehicle/imu.

    Returns:
        Specific force and angular velocity of the vehicle over time.

    Raises:
        InvalidInput: there is no such file, or a column, a topic or a number is missing.
        MissingExtra: rosbags is not installed.
    """
    path = Path(source).expanduser()
    if path.is_dir() or path.suffix in (".mcap", ".db3"):
        return _of_bag(path, topic)
    names, table, header, _, lines = read_columns(path)
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        raise InvalidInput(
            f"{path}: line {header}: missing column {missing[0]!r}; expected "
            f"{', '.join(COLUMNS)}, in m/s^2 and rad/s",
            value=str(path),
        )
    values = table[:, [names.index(name) for name in COLUMNS]]
    for line, row in zip(lines, values, strict=True):
        for name, value in zip(COLUMNS, row.tolist(), strict=True):
            if not abs(value) <= (np.inf if name == "time" else LARGEST):
                raise InvalidInput(
                    f"{path}: line {line}: {name} is {value:g}, expected a number of at most "
                    f"{LARGEST:g}",
                    value=value,
                )
    back = np.flatnonzero(~(np.diff(values[:, 0]) > 0.0))
    if back.size:
        row = int(back[0]) + 1
        raise InvalidInput(
            f"{path}: line {lines[row]}: time is {values[row, 0]:g} s, the previous "
            f"time is {values[row - 1, 0]:g} s; times must be strictly increasing",
            value=float(values[row, 0]),
        )
    if len(values) < 2:
        raise InvalidInput(f"{path}: {len(values)} samples, expected at least two", value=str(path))
    return VehicleMotion(values[:, 0], values[:, 1:4], values[:, 4:])


def _of_bag(path: Path, topic: str) -> VehicleMotion:
    """Read the motion of a vehicle from the IMU messages of a bag.

    If several messages have the same stamp, the first is kept.
    """
    read = read_bag(path, lambda name, kind: kind == IMU and topic in ("", name))
    names = sorted({name for name, _, _ in read.messages})
    chosen = [name for name in names if name.endswith("/vehicle/imu")] or names
    if len(chosen) != 1:
        topics = ", ".join(f"{name} ({kind})" for name, (kind, _) in read.topics.items())
        raise InvalidInput(
            f"{path}: expected exactly one topic of type {IMU}"
            f"{f' named {topic}' if topic else ''}; select one by `topic`; recorded topics: "
            f"{topics or 'none'}",
            value=str(path),
        )
    messages = [message for name, _, message in read.messages if name == chosen[0]]
    stamps = np.array([to_nanoseconds(each.header.stamp) for each in messages])
    latest = np.maximum.accumulate(np.concatenate([[-1], stamps[:-1]]))
    values = np.array(
        [vector_pair(each.linear_acceleration, each.angular_velocity) for each in messages]
    )[stamps > latest]
    wrong = np.argwhere(~(np.abs(values) <= LARGEST))
    if len(wrong):
        row, column = wrong[0].tolist()
        raise InvalidInput(
            f"{path}: message {np.flatnonzero(stamps > latest)[row] + 1} of {chosen[0]}: "
            f"{FIELDS[column]} is {values[row, column]:g}, expected a number of at most "
            f"{LARGEST:g}",
            value=float(values[row, column]),
        )
    time = np.asarray((stamps[stamps > latest] - stamps[0]) * 1e-9, dtype=np.float64)
    return VehicleMotion(time, values[:, :3], values[:, 3:])
