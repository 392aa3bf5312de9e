# SPDX-License-Identifier: Apache-2.0

"""A study as numbers: extremes, plain dictionaries, files."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from robodyn.analysis.dynamic_fraction import peak_dynamic_fraction
from robodyn.errors import OutputError

if TYPE_CHECKING:
    from robodyn.analysis.margins import Margins
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.mechanism import Mechanism
    from robodyn.trajectories.base import Motion


class StudyHistories(Protocol):
    """The histories that tables are made of; see `robodyn.analysis.study.MotionStudy`."""

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that was examined."""

    @property
    def formulation(self) -> str:
        """Of the inverse dynamics."""

    @property
    def characteristic_length(self) -> float:
        """[m] of the scaled condition number."""

    @property
    def time(self) -> FloatArray:
        """(N,) [s]."""

    @property
    def motion(self) -> Motion:
        """The planned motion."""

    @property
    def forces(self) -> FloatArray:
        """(N, n) [N or N m] total efforts."""

    @property
    def terms(self) -> dict[str, FloatArray]:
        """(N, n) each, by name."""

    @property
    def condition_number(self) -> FloatArray:
        """(N,)."""

    @property
    def scaled_condition_number(self) -> FloatArray:
        """(N,)."""

    @property
    def joint_positions(self) -> FloatArray:
        """(N, n) [m or rad]."""

    @property
    def joint_velocities(self) -> FloatArray:
        """(N, n) [m/s or rad/s]."""

    @property
    def reactions(self) -> Any:
        """Named tuple of arrays (N, k, 3), or None."""

    @property
    def singular_times(self) -> FloatArray:
        """(k,) [s]."""

    @property
    def dynamic_fraction(self) -> FloatArray:
        """(N, n)."""

    def margins(self) -> Margins:
        """The motion against the mechanism's limits."""


def extremes(study: StudyHistories) -> list[dict[str, Any]]:
    """See `MotionStudy.extremes`."""
    fractions = None
    if "massless" in study.terms:
        fractions = peak_dynamic_fraction(study.forces, study.terms["massless"])
    rows = []
    for i, name in enumerate(study.mechanism.joint_names):
        peak, when = _peak(study.time, study.forces[:, i])
        row: dict[str, Any] = {"joint": name, "peak_force": peak, "time_of_peak": when}
        for part, values in study.terms.items():
            row[f"peak_{part}"] = _peak(study.time, values[:, i])[0]
        if fractions is not None:
            row["peak_dynamic_fraction"] = float(fractions[i])
        row["lowest_position"] = float(study.joint_positions[:, i].min())
        row["highest_position"] = float(study.joint_positions[:, i].max())
        row["peak_velocity"] = float(np.abs(study.joint_velocities[:, i]).max())
        row["zero_crossings"] = zero_crossings(study.time, study.forces[:, i])
        rows.append(row)
    return rows


def to_dict(study: StudyHistories, histories: bool) -> dict[str, Any]:
    """See `MotionStudy.to_dict`."""
    number = study.condition_number
    out: dict[str, Any] = {
        "model": study.mechanism.name,
        "kind": study.mechanism.kind,
        "formulation": study.formulation,
        "duration": float(study.time[-1]),
        "samples": len(study.time),
        "condition_number": {
            "min": float(number.min()),
            "max": float(number.max()),
            "time_of_max": float(study.time[number.argmax()]),
        },
        "scaled_condition_number": {
            "characteristic_length": study.characteristic_length,
            "min": float(study.scaled_condition_number.min()),
            "max": float(study.scaled_condition_number.max()),
        },
        "singular_times": study.singular_times.tolist(),
        "joints": extremes(study),
        "margins": study.margins().to_dict(),
    }
    if histories:
        out["histories"] = {
            "time": study.time.tolist(),
            **{name: values.tolist() for name, values in study.motion._asdict().items()},
            "forces": study.forces.tolist(),
            **{f"{name}_forces": values.tolist() for name, values in study.terms.items()},
            "condition_number": number.tolist(),
            "scaled_condition_number": study.scaled_condition_number.tolist(),
            "joint_positions": study.joint_positions.tolist(),
            "joint_velocities": study.joint_velocities.tolist(),
        }
        if "massless" in study.terms:
            out["histories"]["dynamic_fraction"] = study.dynamic_fraction.tolist()
        if study.reactions is not None:
            out["histories"]["reactions"] = {
                name: values.tolist() for name, values in study.reactions._asdict().items()
            }
    return out


def write_csv(study: StudyHistories, path: str | Path) -> None:
    """See `MotionStudy.write_csv`."""
    columns: list[tuple[str, FloatArray]] = [("time", study.time)]
    joints = study.mechanism.joint_names
    coordinates = study.mechanism.coordinates
    for name, values in study.motion._asdict().items():
        columns += zip(coordinates.columns(name, name), values.T, strict=True)
    for name, values in (
        ("force", study.forces),
        *study.terms.items(),
        ("position", study.joint_positions),
        ("rate", study.joint_velocities),
    ):
        columns += zip((f"{name}_{joint}" for joint in joints), values.T, strict=True)
    for name, values in (study.reactions._asdict() if study.reactions else {}).items():
        for leg in range(values.shape[1]):
            columns += ((f"{name}_{leg + 1}{axis}", values[:, leg, j])
                        for j, axis in enumerate("xyz"))  # fmt: skip
    columns += [
        ("condition_number", study.condition_number),
        ("scaled_condition_number", study.scaled_condition_number),
    ]
    try:
        with Path(path).open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([name for name, _ in columns])
            writer.writerows(np.column_stack([values for _, values in columns]).tolist())
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written: {error.strerror or error}", value=str(path)
        ) from error


def _peak(time: FloatArray, values: FloatArray) -> tuple[float, float]:
    """Value of the largest magnitude, and when it is reached; NaN if there is none."""
    if not np.isfinite(values).any():
        return np.nan, np.nan
    row = int(np.nanargmax(np.abs(values)))
    return float(values[row]), float(time[row])


def zero_crossings(time: FloatArray, values: FloatArray) -> list[float]:
    """Times at which the sign changes, interpolated linearly."""
    a, b = values[:-1], values[1:]
    rows = np.flatnonzero((a < 0.0) & (b >= 0.0) | (a > 0.0) & (b <= 0.0))
    share = a[rows] / (a[rows] - b[rows])
    return [float(t) for t in time[rows] + share * (time[rows + 1] - time[rows])]
