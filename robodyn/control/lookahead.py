# SPDX-License-Identifier: Apache-2.0

"""Preview of a path: threshold crossings of its condition number, and its singularities.

Times are computed by the functions of `robodyn.control.singularity`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.algorithms.conditioning import singularities
from robodyn.control import singularity
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.base import Trajectory


@dataclass(frozen=True)
class Outlook:
    """Result of `look_ahead`: condition numbers of the Jacobian, and singularities.

    Attributes:
        lowest, highest: lowest and highest condition number of the path, sampled at the ends of
            INTERVALS equal intervals.
        time_of_highest: time [s] of the highest condition number.
        warn_times, error_times: times [s] at which the condition number rises above a threshold; 0
            if the path starts above it.
        meetings: singularities on the path, with times and types.
        warn, error: the thresholds.
        matters: whether the mechanism needs a regular Jacobian to move; see `needs_regularity`.
    """

    lowest: float
    highest: float
    time_of_highest: float
    warn_times: tuple[float, ...]
    error_times: tuple[float, ...]
    meetings: tuple[singularity.MotionSingularity, ...]
    warn: float
    error: float
    matters: bool = True

    @property
    def singular_times(self) -> tuple[float, ...]:
        """Times [s] at which the path is singular."""
        return tuple(meeting.time for meeting in self.meetings)

    @property
    def severity(self) -> int:
        """Severity of the path: 0 regular, 1 above `warn`, 2 above `error` or singular.

        It is 0 for a motion of joints that needs no regular Jacobian.
        """
        if not self.matters:
            return 0
        if self.singular_times or self.error_times:
            return 2
        return 1 if self.warn_times else 0

    @property
    def first_critical_time(self) -> float:
        """Time [s] of the first singularity or crossing of `error`; otherwise infinite."""
        return min((*self.singular_times, *self.error_times), default=np.inf)

    @property
    def text(self) -> str:
        """Summary of condition numbers and singularities in one line."""
        parts = []
        for threshold, times_above in (
            (self.error, self.error_times),
            (self.warn, self.warn_times),
        ):
            if times_above:
                times = ", ".join(f"{t:.3f}" for t in times_above)
                parts.append(f"above {threshold:g} from t = {times} s")
        if not self.singular_times:
            parts.append(
                f"between {self.lowest:.4g} and {self.highest:.4g}"
                f" (at t = {self.time_of_highest:.3f} s)"
            )
        singular = []
        for name, meaning in dict.fromkeys((m.name, m.meaning) for m in self.meetings):
            times = ", ".join(f"{m.time:.4f}" for m in self.meetings if m.name == name)
            singular.append(f"singular at t = {times} s ({name}: {meaning})")
        return "; ".join([*singular, "condition number " + ", ".join(parts)])


def needs_regularity(mechanism: Mechanism) -> bool:
    """Return whether the mechanism's efforts grow without bound near a singularity.

    This holds for all mechanisms but open chains, whose condition number describes only the motion
    of the tip and is information.
    """
    return any(kind.takes_effort for kind in singularities(mechanism))


def look_ahead(
    mechanism: Mechanism,
    trajectory: Trajectory,
    warn: float = 100.0,
    error: float = 1000.0,
) -> Outlook:
    """Find singularities and crossings of condition-number thresholds on a trajectory.

    `warn` and `error` are the thresholds.

    Returns:
        The condition numbers, threshold crossings and singularities of the path.

    Raises:
        KinematicsError: the kinematics have no solution at a configuration of the path.
    """
    times = np.linspace(0.0, trajectory.duration, singularity.INTERVALS + 1)
    configurations = trajectory.sample(times).configuration
    numbers = mechanism.condition_number(configurations)
    meetings = singularity.motion_singularities(mechanism, trajectory)
    poles = np.array([meeting.time for meeting in meetings])

    def rises(threshold: float) -> tuple[float, ...]:
        if threshold <= 1.0:  # below every condition number
            return (0.0,)
        found = singularity.threshold_crossings(mechanism, trajectory, threshold, singular=poles)
        at_start = (0.0,) if numbers[0] > threshold else ()
        return (*at_start, *(crossing.time for crossing in found if crossing.upward))

    highest = int(np.argmax(numbers))
    return Outlook(
        float(numbers.min()),
        float(numbers.max()),
        float(times[highest]),
        rises(warn),
        rises(error),
        meetings,
        warn,
        error,
        needs_regularity(mechanism),
    )
