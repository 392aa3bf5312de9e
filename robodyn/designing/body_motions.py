# SPDX-License-Identifier: Apache-2.0

"""Motions of a body about its home: sums of sines, and recorded motions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import InvalidInput
from robodyn.formats.csv_text import read_columns
from robodyn.numerics.rotations_batch import angular_motions
from robodyn.poses import composed_pose, inverse_pose, pose_from_rpy, rpy_from_pose

# Instants per period of the highest frequency; number of its periods until all sines repeat.
INSTANTS, MOST_PERIODS = 96, 400
# Largest denominator of frequencies [Hz] as fractions, for their common period.
FINEST = 1000
# Instants of a recorded motion: number between two samples, and in total.
BETWEEN, MOST = 4, 20_000
_POSE = ("x", "y", "z", "qx", "qy", "qz", "qw")
_ANGLES = ("x", "y", "z", "roll", "pitch", "yaw")


class BodyRows(NamedTuple):
    """Motion of the body at K instants, base frame: pose, twist and acceleration.

    Poses are (K, 7); twists and their time derivatives (K, 6) are linear, of the body's origin,
    then angular.
    """

    poses: FloatArray
    twists: FloatArray
    accels: FloatArray


class BodyMotion(Protocol):
    """Interface of a motion of the body about its home."""

    @property
    def name(self) -> str:
        """Name of the motion."""

    @property
    def duration(self) -> float:
        """Duration [s] of the motion; the period if it repeats."""

    @property
    def repeats(self) -> bool:
        """Whether the motion is periodic."""

    @property
    def times(self) -> FloatArray:
        """Times (K,) [s] at which to evaluate the motion."""

    def scale(self, factor: float) -> BodyMotion:
        """Return the motion with its displacements from home multiplied by a factor."""

    def displacement(self, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Compute the body's displacement from home at times (K,) [s].

        Surge, sway and heave are along x, y and z of the base frame; roll, pitch and yaw about
        these, R = Rz(yaw) Ry(pitch) Rx(roll).

        Returns:
            Displacement (K, 6) [m, rad]: surge, sway, heave, roll, pitch, yaw; and its first and
            second time derivatives, (K, 6) each.
        """


class Sine(NamedTuple):
    """Sinusoidal motion along or about one axis.

    The displacement is amplitude [m or rad] sin(2 pi frequency [Hz] t + phase [rad]).
    """

    axis: int
    amplitude: float
    frequency: float
    phase: float = 0.0


@dataclass(frozen=True)
class SineMotion:
    """Motion of the body along or about several axes, each a sum of sines."""

    name: str
    sines: tuple[Sine, ...]

    def __post_init__(self) -> None:
        periods = self.duration * max(sine.frequency for sine in self.sines)
        if periods > MOST_PERIODS:
            raise InvalidInput(
                f"frequencies with a common period of at most {MOST_PERIODS} times the shortest "
                f"period, such as 0.25 Hz and 1 Hz; these repeat after {self.duration:g} s",
                value=[sine.frequency for sine in self.sines],
            )

    @property
    def repeats(self) -> bool:
        """Always true, because the sines have a common period."""
        return True

    @cached_property
    def duration(self) -> float:
        """Common period [s] of all sines."""
        exact = [Fraction(sine.frequency).limit_denominator(FINEST) for sine in self.sines]
        if not all(exact):
            return 1.0 / min(sine.frequency for sine in self.sines)
        common = math.lcm(*(each.denominator for each in exact))
        every = math.gcd(*(each.numerator * (common // each.denominator) for each in exact))
        return common / every

    @cached_property
    def times(self) -> FloatArray:
        """Times (K,) [s] at equal intervals within one period, without its end."""
        periods = self.duration * max(sine.frequency for sine in self.sines)
        count = INSTANTS * max(1, math.ceil(periods - 1e-9))
        return np.asarray(self.duration / count * np.arange(count), dtype=np.float64)

    def scale(self, factor: float) -> SineMotion:
        """Return the motion with its amplitudes multiplied by a factor."""
        sines = (sine._replace(amplitude=factor * sine.amplitude) for sine in self.sines)
        return SineMotion(self.name, tuple(sines))

    def displacement(self, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Compute the body's displacement from home at times (K,) [s].

        Returns:
            Displacement (K, 6) [m, rad], and its first and second time derivatives.
        """
        x, v, a = np.zeros((3, len(times), 6))
        for sine in self.sines:
            rate = 2.0 * math.pi * sine.frequency
            angle = rate * times + sine.phase
            wave = sine.amplitude * np.sin(angle)
            x[:, sine.axis] += wave
            v[:, sine.axis] += rate * sine.amplitude * np.cos(angle)
            a[:, sine.axis] -= rate**2 * wave
        return x, v, a


@dataclass(frozen=True, eq=False)
class RecordedMotion:
    """Motion of the body given by samples, relative to the first pose.

    The first pose corresponds to home.

    Attributes:
        name: name of the motion.
        time: (N,) [s], increasing.
        values: (N, 6) [m, rad] displacements; cubic splines interpolate them.
    """

    name: str
    time: FloatArray
    values: FloatArray

    @property
    def repeats(self) -> bool:
        """Always false, because a recording is not periodic."""
        return False

    @property
    def duration(self) -> float:
        """Time [s] from the first sample to the last."""
        return float(self.time[-1] - self.time[0])

    @cached_property
    def times(self) -> FloatArray:
        """Times (K,) [s] at equal intervals, at which to evaluate the motion."""
        count = min(BETWEEN * (len(self.time) - 1), MOST)
        return np.linspace(self.time[0], self.time[-1], count + 1)

    def scale(self, factor: float) -> RecordedMotion:
        """Return the motion with its displacements multiplied by a factor."""
        return RecordedMotion(self.name, self.time, factor * self.values)

    def displacement(self, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Compute the body's displacement from home at times (K,) [s].

        Returns:
            Displacement (K, 6) [m, rad], and its first and second time derivatives.
        """
        within = np.clip(times, self.time[0], self.time[-1])
        x, v, a = (self._spline(within, order) for order in range(3))
        return x, v, a

    @cached_property
    def _spline(self) -> Any:
        from scipy.interpolate import CubicSpline  # slow to import

        return CubicSpline(self.time, self.values)


def rows_of(motion: BodyMotion, times: FloatArray, home: FloatArray) -> BodyRows:
    """Compute pose, twist and acceleration of a body for its motion about a home pose.

    Args:
        motion: displacement from home over time.
        times: (K,) [s] at which to evaluate the motion.
        home: (7,) pose of the body at home, base frame.

    Returns:
        Poses (K, 7), twists and their time derivatives (K, 6) of the body, base frame.
    """
    x, v, a = motion.displacement(times)
    omega, alpha = np.empty((2, len(times), 3))
    rpy, rate, change = (np.ascontiguousarray(part[:, 3:]) for part in (x, v, a))
    angular_motions(rpy, rate, change, omega, alpha)
    return BodyRows(
        displaced_poses(home, x),
        np.hstack([v[:, :3], omega]),
        np.hstack([a[:, :3], alpha]),
    )


def displaced_poses(home: FloatArray, displacement: FloatArray) -> FloatArray:
    """Compute poses of the body at displacements (K, 6) [m, rad] from its home (7,).

    A displacement is surge, sway, heave, roll, pitch and yaw, see `BodyMotion.displacement`.

    Returns:
        Poses (K, 7) of the body, base frame.
    """
    turned = home.copy()
    turned[:3] = 0.0
    poses = composed_pose(pose_from_rpy(displacement[:, :3], displacement[:, 3:]), turned)
    poses[:, :3] += home[:3]
    return poses


def read_recorded(name: str, path: Path) -> RecordedMotion:
    """Read a motion from a CSV file of poses over time, such as that of `robodyn cue --output`.

    Columns `time` [s], `x`, `y`, `z` [m] and either `roll`, `pitch`, `yaw` [rad] or `qx`, `qy`,
    `qz`, `qw`, in the base frame, each with or without the prefix `pose_`.

    Returns:
        The motion, relative to its first pose.

    Raises:
        InvalidInput: the file cannot be read, columns are missing, or times do not increase.
    """
    table = read_columns(path)
    columns = {each.removeprefix("pose_"): k for k, each in enumerate(table.names)}
    for pattern in (_POSE, _ANGLES):
        if {"time", *pattern} <= columns.keys():
            break
    else:
        raise InvalidInput(
            f"{path} has the columns {', '.join(table.names)}, expected time, x, y, z, and roll, "
            "pitch, yaw or qx, qy, qz, qw",
            value=table.names,
        )
    numbers = table.numbers[:, [columns[each] for each in ("time", *pattern)]]
    time, values = numbers[:, 0], numbers[:, 1:]
    rises = np.diff(time, prepend=-np.inf) > 0.0
    bad = np.flatnonzero(~(np.isfinite(numbers).all(axis=1) & rises))
    if len(bad) or len(time) < 4:
        line = table.lines[int(bad[0])] if len(bad) else table.line
        raise InvalidInput(
            f"{path}, line {line}: expected at least four rows of finite numbers with strictly "
            "increasing times",
            value=line,
        )
    poses = values if len(pattern) == 7 else pose_from_rpy(values[:, :3], values[:, 3:])
    if len(pattern) == 7:
        poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    back = inverse_pose(poses[0])
    back[:3] = 0.0
    turned = composed_pose(poses * [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0], back)
    angles = np.unwrap(rpy_from_pose(turned)[1], axis=0)
    return RecordedMotion(name, time, np.hstack([poses[:, :3] - poses[0, :3], angles]))
