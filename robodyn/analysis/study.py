# SPDX-License-Identifier: Apache-2.0

"""Inverse dynamics along a planned motion: Dasgupta and Mruthyunjaya (1998), section 7."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.analysis import study_tables
from robodyn.analysis.dynamic_fraction import dynamic_fraction
from robodyn.analysis.margins import Margins, condition_limit, margins
from robodyn.checks import as_exact, as_scalar
from robodyn.control.singularity import singular_times
from robodyn.errors import InvalidInput
from robodyn.trajectories.base import Motion

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.mechanism import Mechanism
    from robodyn.trajectories.base import Trajectory


# Samples evaluated at once: enough for speed, few enough to report progress and to fit memory.
CHUNK = 20_000


@dataclass(frozen=True)
class MotionStudy:
    """What a motion asks of a mechanism, one row for each instant; NaN where no forces exist.

    Attributes:
        mechanism: that was examined.
        formulation: of the inverse dynamics.
        time: (N,) [s].
        motion: configuration, velocity and acceleration as planned.
        forces: (N, n) [N or N m] total efforts of the driven joints.
        terms: (N, n) each, by name, see `Mechanism.effort_terms`. Of a platform: `massless`,
            forces with legs without mass and friction, and `dynamic`, the rest (eq. 41, 42). Of
            an arm: `inertial`, `coriolis` (centrifugal terms included), `gravity`, `friction`,
            and `wrench` if there is one.
        condition_number: (N,) of the Jacobian in SI units.
        scaled_condition_number: (N,) with moments divided by `characteristic_length` [m].
        joint_positions, joint_velocities: (N, n) of the driven joints; a platform's leg lengths.
        reactions: of a platform's joints, (N, 6, 3) each; None for an arm.
        singular_times: (k,) [s] at which the motion passes through a singularity.
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

    @property
    def massless_forces(self) -> FloatArray:
        """(N, 6) [N] of a platform with massless legs."""
        return self._term("massless")

    @property
    def dynamic_forces(self) -> FloatArray:
        """(N, 6) [N] the part of the forces that a platform's legs are responsible for."""
        return self._term("dynamic")

    @property
    def dynamic_fraction(self) -> FloatArray:
        """(N, 6) dynamic over total force of a platform; without bound where the total is zero."""
        return dynamic_fraction(self.forces, self.massless_forces)

    def extremes(self) -> list[dict[str, Any]]:
        """One row a driven joint: peaks of its forces and of their parts, range, top speed."""
        return study_tables.extremes(self)

    def margins(self, max_condition: float | None = None) -> Margins:
        """The motion against the mechanism's limits; see `robodyn.analysis.margins.margins`."""
        return margins(
            self.mechanism,
            self.time,
            self.joint_positions,
            self.joint_velocities,
            self.forces,
            self.condition_number,
            condition_limit(self.mechanism) if max_condition is None else max_condition,
        )

    def to_dict(self, histories: bool = True) -> dict[str, Any]:
        """Everything as plain lists and numbers, with or without the histories."""
        return study_tables.to_dict(self, histories)

    def write_csv(self, path: str | Path) -> None:
        """Write the histories, one row a time, with a header.

        Raises:
            OutputError: the file cannot be written.
        """
        study_tables.write_csv(self, path)

    def _term(self, name: str) -> FloatArray:
        if name not in self.terms:
            raise InvalidInput(
                f"{self.mechanism.name} has no {name} term of its efforts; it has "
                f"{', '.join(self.terms)}",
                value=name,
            )
        return self.terms[name]


def analyze(
    mechanism: Mechanism,
    trajectory: Trajectory,
    dt: float = 0.01,
    *,
    formulation: str = "exact",
    wrench: ArrayLike | None = None,
    characteristic_length: float = 1.0,
    progress: Callable[[float], None] | None = None,
) -> MotionStudy:
    """Examine the forces and conditioning of a planned motion; see `robodyn.analyze`.

    This is the analysis without charts, so that it needs no report; arguments and errors are those
    of `robodyn.analyze`.
    """
    step = as_scalar("dt", dt, "s", above=0.0)
    load = None if wrench is None else as_exact("wrench", wrench, (6,), "N, N m")
    time = _times(trajectory, step)
    chunks = []
    for first in range(0, len(time), CHUNK):
        if progress is not None:
            progress(first / len(time))
        motion = trajectory.sample(time[first : first + CHUNK])
        chunks.append(_examine(mechanism, motion, load, formulation, characteristic_length))
    histories = {name: _joined([chunk[name] for chunk in chunks]) for name in chunks[0]}
    return MotionStudy(
        mechanism,
        formulation,
        float(characteristic_length),
        time,
        singular_times=singular_times(mechanism, trajectory),
        **histories,
    )


def _examine(
    mechanism: Mechanism,
    motion: Motion,
    wrench: FloatArray | None,
    formulation: str,
    characteristic_length: float,
) -> dict[str, Any]:
    forces, terms, reactions = mechanism.effort_terms(*motion, wrench, formulation)
    q, v = motion.configuration, motion.velocity
    return {
        "motion": motion,
        "forces": forces,
        "terms": dict(terms),
        "condition_number": mechanism.condition_number(q),
        "scaled_condition_number": mechanism.condition_number(q, characteristic_length),
        "joint_positions": mechanism.joint_positions(q),
        "joint_velocities": mechanism.joint_velocities(q, v),
        "reactions": reactions,
    }


def _times(trajectory: Trajectory, dt: float) -> FloatArray:
    duration = trajectory.duration
    grid = dt * np.arange(int(np.floor(duration / dt * (1.0 + 1e-12))) + 1)
    marks = [t for t in trajectory.switching_times if np.abs(grid - t).min() > 1e-9 * duration]
    return np.unique([*np.minimum(grid, duration), *marks, duration])


def _joined(parts: list[Any]) -> Any:
    """Arrays, and tuples and dicts of arrays, end to end."""
    first = parts[0]
    if isinstance(first, dict):
        return {key: _joined([part[key] for part in parts]) for key in first}
    if isinstance(first, tuple):
        return type(first)(*(_joined(list(column)) for column in zip(*parts, strict=True)))
    return None if first is None else np.concatenate(parts)
