# SPDX-License-Identifier: Apache-2.0

"""Inverse dynamics along a planned motion, see Dasgupta and Mruthyunjaya (1998), section 7."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.algorithms.effort_terms import effort_terms
from robodyn.analysis.margins import Margins, condition_limit, margins, passive_positions_of
from robodyn.arrays import ArrayLike, FloatArray, Self, short_repr
from robodyn.checks import as_exact, as_scalar
from robodyn.control.singularity import singular_times
from robodyn.errors import InvalidInput
from robodyn.formats.csv_text import write_columns
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.base import Motion, Trajectory, refuse_other

# Number of samples evaluated at once: large enough for speed, small enough to report progress and
# to fit in memory.
CHUNK = 20_000
# Total force, relative to the leg's peak, below which the dynamic fraction is meaningless and left
# out of its peak.
SMALLEST_FORCE = 0.05


@dataclass(frozen=True)
class MotionStudy:
    """Inverse dynamics of a planned motion at successive instants.

    Attributes:
        mechanism: mechanism that moves.
        formulation: formulation of the inverse dynamics.
        time: (N,) [s] times of the instants.
        motion: planned configuration, velocity and acceleration.
        forces: (N, n) [N or N m] total efforts of the driven joints; NaN where no forces exist.
        terms: (N, n) terms of the efforts by name, see `effort_terms`. For a platform: `massless`,
            the forces with legs without mass and friction, and `dynamic`, the rest (eq. 41, 42).
            For an arm: `inertial`, `coriolis` (with centrifugal terms), `gravity`, `friction`, and
            `wrench` if an external wrench acts.
        condition_number: (N,) condition number of the Jacobian in SI units.
        scaled_condition_number: (N,) condition number with moments divided by
            `characteristic_length` [m].
        joint_positions, joint_velocities: (N, n) positions and velocities of the driven joints; for
            a platform, leg lengths and their rates.
        reactions: forces [N] and moments [N m] in the joints of a platform's six legs, (N, 6, 3)
            each; None for an arm.
        singular_times: (k,) [s] times at which the motion passes through a singularity.
    """

    mechanism: Mechanism
    formulation: str
    characteristic_length: float
    time: FloatArray
    motion: Motion
    forces: FloatArray
    terms: dict[str, FloatArray]
    condition_number: FloatArray
    scaled_condition_number: FloatArray
    joint_positions: FloatArray
    joint_velocities: FloatArray
    reactions: Any = None
    singular_times: FloatArray = field(default_factory=lambda: np.empty(0))

    __repr__ = short_repr

    @classmethod
    def along(
        cls,
        mechanism: Mechanism,
        trajectory: Trajectory,
        dt: float,
        formulation: str,
        wrench: ArrayLike | None,
        characteristic_length: float,
        progress: Callable[[float], None] | None,
    ) -> Self:
        """Compute the inverse dynamics along a trajectory.

        The arguments are those of `robodyn.analyze`, which returns a subclass with charts.

        Returns:
            The study.
        """
        step = as_scalar("dt", dt, "s", above=0.0)
        load = None if wrench is None else as_exact("wrench", wrench, (6,), "N, N m")
        refuse_other(mechanism, trajectory)
        time = _times(trajectory, step)
        motion = trajectory.sample(time)
        parts = []
        for first in range(0, len(time), CHUNK):
            if progress is not None:
                progress(first / len(time))
            some = Motion(*(values[first : first + CHUNK] for values in motion))
            parts.append(effort_terms(mechanism, *some, load, formulation))
        forces, terms, reactions = _concatenate(parts)
        q = motion.configuration
        return cls(
            mechanism,
            formulation,
            float(characteristic_length),
            time,
            motion,
            forces,
            terms,
            mechanism.condition_number(q),
            mechanism.condition_number(q, characteristic_length),
            mechanism.joint_positions(q),
            mechanism.joint_velocities(q, motion.velocity),
            reactions,
            singular_times(mechanism, trajectory),
        )

    @property
    def massless_forces(self) -> FloatArray:
        """Leg forces (N, 6) [N] of a platform for the same motion with massless legs."""
        return self._effort_term("massless")

    @property
    def dynamic_forces(self) -> FloatArray:
        """Leg forces (N, 6) [N] that are due to the legs' own mass and friction."""
        return self._effort_term("dynamic")

    @property
    def dynamic_fraction(self) -> FloatArray:
        """Fraction (N, 6) of the leg forces that is due to the legs' mass and friction."""
        return dynamic_fraction(self.forces, self.massless_forces)

    def extremes(self) -> list[dict[str, Any]]:
        """Return the extreme efforts, positions and velocities of each driven joint.

        Returns:
            A dictionary for each joint: `joint`, `peak_force`, `time_of_peak` [s], the peak of each
            term of the effort, lowest and highest position, peak velocity, and the times of the
            effort's zero crossings.
        """
        fractions = None
        if "massless" in self.terms:
            fractions = peak_dynamic_fraction(self.forces, self.terms["massless"])
        rows = []
        for i, name in enumerate(self.mechanism.joint_names):
            peak, when = _peak(self.time, self.forces[:, i])
            row: dict[str, Any] = {"joint": name, "peak_force": peak, "time_of_peak": when}
            for part, values in self.terms.items():
                row[f"peak_{part}"] = _peak(self.time, values[:, i])[0]
            if fractions is not None:
                row["peak_dynamic_fraction"] = float(fractions[i])
            row["lowest_position"] = float(self.joint_positions[:, i].min())
            row["highest_position"] = float(self.joint_positions[:, i].max())
            row["peak_velocity"] = float(np.abs(self.joint_velocities[:, i]).max())
            row["zero_crossings"] = zero_crossings(self.time, self.forces[:, i])
            rows.append(row)
        return rows

    def margins(self, max_condition: float | None = None) -> Margins:
        """Compare the motion with the mechanism's limits.

        Args:
            max_condition: largest permitted condition number; by default that of `condition_limit`.

        Returns:
            The margins, with the first violation.
        """
        return margins(
            self.mechanism,
            self.time,
            self.joint_positions,
            self.joint_velocities,
            self.forces,
            self.condition_number,
            condition_limit(self.mechanism) if max_condition is None else max_condition,
            passive_positions=passive_positions_of(self.mechanism, self.motion.configuration),
        )

    def to_dict(self, histories: bool = True) -> dict[str, Any]:
        """Return the study as a dictionary for JSON, with or without the histories."""
        number = self.condition_number
        out: dict[str, Any] = {
            "model": self.mechanism.name,
            "kind": self.mechanism.kind,
            "formulation": self.formulation,
            "duration": float(self.time[-1]),
            "samples": len(self.time),
            "condition_number": ends(number, self.time),
            "scaled_condition_number": {
                "characteristic_length": self.characteristic_length,
                **ends(self.scaled_condition_number),
            },
            "singular_times": self.singular_times.tolist(),
            "joints": self.extremes(),
            "margins": self.margins().to_dict(),
        }
        if histories:
            out["histories"] = {
                "time": self.time.tolist(),
                **{name: values.tolist() for name, values in self.motion._asdict().items()},
                "forces": self.forces.tolist(),
                **{f"{name}_forces": values.tolist() for name, values in self.terms.items()},
                "condition_number": number.tolist(),
                "scaled_condition_number": self.scaled_condition_number.tolist(),
                "joint_positions": self.joint_positions.tolist(),
                "joint_velocities": self.joint_velocities.tolist(),
            }
            if "massless" in self.terms:
                out["histories"]["dynamic_fraction"] = self.dynamic_fraction.tolist()
            if self.reactions is not None:
                out["histories"]["reactions"] = {
                    name: values.tolist() for name, values in self.reactions._asdict().items()
                }
        return out

    def write_csv(self, path: str | Path) -> None:
        """Write all histories to a CSV file with a header and one row for each instant.

        Raises:
            OutputError: the file cannot be written.
        """
        columns: list[tuple[str, FloatArray]] = [("time", self.time)]
        joints = self.mechanism.joint_names
        coordinates = self.mechanism.coordinates
        for name, values in self.motion._asdict().items():
            columns += zip(coordinates.columns(name, name), values.T, strict=True)
        for name, values in (
            ("force", self.forces),
            *self.terms.items(),
            ("position", self.joint_positions),
            ("rate", self.joint_velocities),
        ):
            columns += zip((f"{name}_{joint}" for joint in joints), values.T, strict=True)
        for name, values in (self.reactions._asdict() if self.reactions else {}).items():
            for leg in range(values.shape[1]):
                columns += ((f"{name}_{leg + 1}{axis}", values[:, leg, j])
                            for j, axis in enumerate("xyz"))  # fmt: skip
        columns += [
            ("condition_number", self.condition_number),
            ("scaled_condition_number", self.scaled_condition_number),
        ]
        write_columns(path, columns)

    def _effort_term(self, name: str) -> FloatArray:
        if name not in self.terms:
            raise InvalidInput(
                f"{self.mechanism.name} has no effort term {name}; its terms are "
                f"{', '.join(self.terms)}",
                value=name,
            )
        return self.terms[name]


def _times(trajectory: Trajectory, dt: float) -> FloatArray:
    duration = trajectory.duration
    grid = dt * np.arange(int(np.floor(duration / dt * (1.0 + 1e-12))) + 1)
    marks = [t for t in trajectory.switching_times if np.abs(grid - t).min() > 1e-9 * duration]
    return np.unique([*np.minimum(grid, duration), *marks, duration])


def _concatenate(parts: list[Any]) -> Any:
    """Concatenate arrays, or tuples and dicts of arrays item by item."""
    first = parts[0]
    if isinstance(first, Mapping):
        return {key: _concatenate([part[key] for part in parts]) for key in first}
    if isinstance(first, tuple):
        return type(first)(*(_concatenate(list(column)) for column in zip(*parts, strict=True)))
    return None if first is None else np.concatenate(parts)


def _peak(time: FloatArray, values: FloatArray) -> tuple[float, float]:
    """Return the value with the largest magnitude and its time; NaN if none is finite."""
    if not np.isfinite(values).any():
        return np.nan, np.nan
    row = int(np.nanargmax(np.abs(values)))
    return float(values[row]), float(time[row])


def ends(values: FloatArray, time: FloatArray | None = None) -> dict[str, float]:
    """Return the smallest and the largest of values (N,), as data for JSON.

    Returns:
        Dictionary with `min`, `max` and, if `time` (N,) [s] is given, `time_of_max`.
    """
    found = {"min": float(values.min()), "max": float(values.max())}
    return found if time is None else found | {"time_of_max": float(time[values.argmax()])}


def dynamic_fraction(total: FloatArray, massless: FloatArray) -> FloatArray:
    """Return the fraction (..., n) of leg forces due to the legs' own dynamics.

    It is (F - F0) / F, infinite or NaN where F is zero.

    Args:
        total: (..., n) [N] leg forces F.
        massless: (..., n) [N] leg forces F0 of the same motion with massless legs.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((total - massless) / total)


def peak_dynamic_fraction(total: FloatArray, massless: FloatArray) -> FloatArray:
    """Return the peak fraction (n,) of leg forces due to the legs' own dynamics.

    It is the largest |(F - F0) / F| over the motion, except at instants at which F is near zero.

    Args:
        total: (N, n) [N] leg forces F.
        massless: (N, n) [N] leg forces F0 of the same motion with massless legs.
    """
    fraction = np.abs(dynamic_fraction(total, massless))
    magnitude = np.abs(total)
    known = np.isfinite(fraction) & np.isfinite(magnitude)
    peak = np.max(magnitude, axis=0, where=known, initial=0.0)
    counts = known & (magnitude >= SMALLEST_FORCE * peak)
    return np.asarray(np.max(fraction, axis=0, where=counts, initial=0.0))


def zero_crossings(time: FloatArray, values: FloatArray) -> list[float]:
    """Return the times [s] at which values (N,) change sign, linearly interpolated."""
    a, b = values[:-1], values[1:]
    rows = np.flatnonzero((a < 0.0) & (b >= 0.0) | (a > 0.0) & (b <= 0.0))
    fraction = a[rows] / (a[rows] - b[rows])
    return [float(t) for t in time[rows] + fraction * (time[rows + 1] - time[rows])]
