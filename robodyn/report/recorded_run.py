# SPDX-License-Identifier: Apache-2.0

"""Comparison of a recorded run with its plan, and of its efforts with the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.algorithms.tracking import tracking_of
from robodyn.analysis.margins import Margins, condition_limit, margins, passive_positions_of
from robodyn.arrays import FloatArray
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.base import Motion, Trajectory

# Time [s] from the clock's zero within which a fitted start counts as zero: runs in simulated time
# start there, and fitting would hide a constant delay.
NEAR_ZERO = 0.1
# Numbers of samples and of start times for fitting the start.
POINTS, PLACES = 200, 400
# RMS distance from the plan, relative to the path's length, above which a run counts as having
# followed another path.
ELSEWHERE = 0.2


@dataclass(frozen=True)
class PlanComparison:
    """Recorded run and its plan at the same times; result of `compare_with_plan`.

    Attributes:
        mechanism: recorded mechanism.
        time: (N,) [s] since the start of the path.
        measured: (N, nq) configurations.
        planned: planned motion at these times.
        error: (N, nv) [m, rad] displacement from the planned to the measured configuration.
        commanded: (N, n) [N or N m] recorded effort commands.
        model: (N, n) [N or N m] efforts from the model's inverse dynamics along the plan.
        start: start [s] of the path on the recording's clock.
        fitted: whether the start was found by fitting the plan to the measured motion.
    """

    mechanism: Mechanism
    time: FloatArray
    measured: FloatArray
    planned: Motion
    error: FloatArray
    commanded: FloatArray
    model: FloatArray
    start: float
    fitted: bool

    def to_dict(self) -> dict[str, Any]:
        """Return tracking errors, largest efforts and margins as a dictionary for JSON."""
        residual = self.commanded - self.model
        rows = [
            {
                "joint": name,
                "peak_commanded": float(np.abs(self.commanded[:, i]).max()),
                "peak_model": float(np.abs(self.model[:, i]).max()),
                "largest_difference": float(np.abs(residual[:, i]).max()),
                "rms_difference": float(np.sqrt((residual[:, i] ** 2).mean())),
            }
            for i, name in enumerate(self.mechanism.joint_names)
        ]
        return {
            "model": self.mechanism.name,
            "kind": self.mechanism.kind,
            "samples": len(self.time),
            "duration": float(self.time[-1] - self.time[0]),
            "path_start": {"time": self.start, "fitted": self.fitted},
            "tracking": tracking_of(self.mechanism).largest(self.error),
            "joints": rows,
            "margins": self.margins().to_dict(),
        }

    def margins(self) -> Margins:
        """Compute the margins of the recorded motion to the limits of the mechanism.

        Velocities are computed by finite differences; the efforts are the commanded ones.
        """
        time, rows = np.unique(self.time, return_index=True)
        positions = self.mechanism.joint_positions(self.measured[rows])
        return margins(
            self.mechanism,
            time,
            positions,
            np.gradient(positions, time, axis=0) if len(time) > 1 else np.zeros_like(positions),
            self.commanded[rows],
            self.mechanism.condition_number(self.measured[rows]),
            condition_limit(self.mechanism),
            passive_positions=passive_positions_of(self.mechanism, self.measured[rows]),
        )


def compare_with_plan(
    mechanism: Mechanism,
    times: FloatArray,
    measured: FloatArray,
    commanded: FloatArray,
    plan: Trajectory,
    start: float | None = None,
) -> PlanComparison:
    """Compare a recorded run with its plan, and its efforts with the model.

    Args:
        mechanism: recorded mechanism.
        times: (N,) [s] on the recording's clock.
        measured: (N, nq) configurations.
        commanded: (N, n) [N or N m] recorded effort commands.
        plan: planned trajectory.
        start: start [s] of the plan on the recording's clock; samples before it and after the end
            of the plan are ignored. None: fitted to the measured motion.

    Returns:
        The recorded run and its plan at the same times, and the efforts of the model.

    Raises:
        InvalidInput: the recording is too short, or of another motion.
        KinematicsError: the inverse dynamics have no solution along the plan.
    """
    if len(times) < 2:
        raise InvalidInput(f"the recording has {len(times)} states, expected at least two")
    fitted = False
    if start is None:
        start = _fit_start(mechanism, times, measured, plan)
        fitted = abs(start) > NEAR_ZERO
        start = start if fitted else 0.0
    else:
        rows = (times >= start - 1e-9) & (times <= start + plan.duration + 1e-9)
        times, measured, commanded = times[rows], measured[rows], commanded[rows]
        if len(times) < 2:
            raise InvalidInput(
                f"the recording has {len(times)} states during its plan, from {start:g} s to "
                f"{start + plan.duration:g} s, expected at least two",
                value=start,
            )
    time = times - start
    planned = plan.sample(time)
    return PlanComparison(
        mechanism,
        time,
        measured,
        planned,
        mechanism.difference(planned.configuration, measured),
        commanded,
        mechanism.inverse_dynamics(*planned),
        start,
        fitted,
    )


def _fit_start(
    mechanism: Mechanism, times: FloatArray, measured: FloatArray, trajectory: Trajectory
) -> float:
    """Estimate when a plan started [s] by a least-squares fit to the recorded motion."""
    rows = np.unique(np.linspace(0, len(times) - 1, POINTS).astype(int))
    seen, at = measured[rows], times[rows]

    def squared_error(start: float) -> float:
        plan = trajectory.sample(at - start).configuration
        return float((mechanism.difference(plan, seen) ** 2).sum())

    low, high = times[0] - trajectory.duration, times[-1]
    places = np.linspace(low, high, PLACES)
    best = float(places[np.argmin([squared_error(place) for place in places])])
    step = (high - low) / (PLACES - 1)
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(squared_error, bounds=(best - step, best + step), method="bounded")
    ends = trajectory.sample(np.array([0.0, trajectory.duration])).configuration
    way = float(np.linalg.norm(mechanism.difference(ends[0], ends[1])))
    if np.sqrt(found.fun / len(rows)) > ELSEWHERE * way:
        raise InvalidInput(
            f"the recording is of another motion: its RMS distance from the planned path is "
            f"{np.sqrt(found.fun / len(rows)):.3g} (m, rad) at best, and the path is {way:.3g} "
            "long; give the path that was followed with --path",
            value=float(found.x),
        )
    return float(found.x)
