# SPDX-License-Identifier: Apache-2.0

"""Speed reduction near a singularity, from the planned motion.

A measured velocity of zero has no direction, so that a stopped mechanism could never leave; its
current or next path has a direction. Motion away from the singularity is not slowed. Toward it, the
speed decreases with the conditioning, early enough to come to rest before the largest permitted
condition number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import as_scalar
from robodyn.control.conditioning import condition_rate, speed_scale
from robodyn.control.path_progress import PathProgress
from robodyn.control.singularity import threshold_crossings
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.base import Trajectory

# [s] of path over which the direction of the planned motion is determined.
DIRECTION_SPAN = 0.05
# [1/s] Rate at which the speed along the path decreases. A follower adopts the scale at up to twice
# this rate, which leaves time for the delay of messages.
BRAKING = 1.0


@dataclass
class _Path:
    """Path with its start time [ns], and the path times [s] at which to stop."""

    progress: PathProgress
    stops: FloatArray
    start: int | None


class SpeedScale:
    """Computation of a speed factor, 0 to 1, that slows a mechanism near singularities.

    Args:
        mechanism: mechanism that moves.
        slow_from: condition number of the Jacobian above which the mechanism slows down when it
            approaches a singularity.
        stop_at: condition number at which it stops before the singularity.
        characteristic_length: length [m] by which moments are divided in both condition numbers.

    Raises:
        InvalidInput: numbers are out of order or range.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        slow_from: float,
        stop_at: float,
        characteristic_length: float = 1.0,
    ) -> None:
        self._mechanism = mechanism
        self._now: _Path | None = None
        self._next: _Path | None = None
        self.set_limits(slow_from, stop_at, characteristic_length)

    def set_limits(
        self, slow_from: float, stop_at: float, characteristic_length: float = 1.0
    ) -> None:
        """Change the limits `slow_from` and `stop_at`, and the characteristic length.

        Raises:
            InvalidInput: limits are out of order or range; the previous limits remain.
        """
        length = as_scalar("characteristic_length", characteristic_length, "m", above=0.0)
        speed_scale(
            1.0, slow_from, stop_at, approaching=False
        )  # rejects limits that are out of order
        self.slow_from, self.stop_at, self.characteristic_length = slow_from, stop_at, length
        for path in (self._now, self._next):
            if path is not None:
                path.stops = self._stops(path.progress.trajectory)

    def follow(self, trajectory: Trajectory, start: int | None = None) -> None:
        """Set the path that the mechanism follows.

        It begins at `start` [ns] in the time of the states, or with the next state.

        Raises:
            InvalidInput, KinematicsError: the path cannot be evaluated; the previous one remains.
        """
        progress = PathProgress(self._mechanism, trajectory, start)
        path = _Path(progress, self._stops(trajectory), start)
        if start is None:
            self._now, self._next = path, None
        else:
            self._next = path

    def discard_path(self) -> None:
        """Discard the path; use the measured velocity until another path is set."""
        self._now = self._next = None

    def at(self, time: int, configuration: FloatArray, velocity: FloatArray) -> float:
        """Return the speed factor, 0 to 1, for a state measured at `time` [ns].

        The state is a configuration (nq,) and a velocity (nv,). The path determines the direction
        of motion; without a path, or away from it, the measured velocity does.

        Raises:
            InvalidInput, KinematicsError: as for `condition_number`.
        """
        if self._next is not None and self._next.start is not None and time >= self._next.start:
            self._now, self._next = self._next, None
        number = float(self._mechanism.condition_number(configuration, self.characteristic_length))
        reached = None if self._now is None else self._now.progress.at(time, configuration)
        if self._now is None or reached is None:
            return self._scale(number, configuration, velocity)
        trajectory = self._now.progress.trajectory
        planned = trajectory.sample([reached, reached + DIRECTION_SPAN]).configuration
        way = self._mechanism.difference(planned[0], planned[1])
        return min(self._scale(number, configuration, way), _braking(self._now.stops, reached))

    def _stops(self, trajectory: Trajectory) -> FloatArray:
        """Return the path times [s] at which the motion must stop before a singularity."""
        crossings = threshold_crossings(
            self._mechanism, trajectory, self.stop_at, self.characteristic_length
        )
        return np.array([crossing.time for crossing in crossings if crossing.upward])

    def _scale(self, number: float, configuration: FloatArray, way: FloatArray) -> float:
        if number <= self.slow_from:
            return 1.0
        length = self.characteristic_length
        rate = condition_rate(self._mechanism, configuration, way, length, number)
        return speed_scale(number, self.slow_from, self.stop_at, approaching=rate > 0.0)


def _braking(stops: FloatArray, reached: float) -> float:
    """Return the largest speed factor that permits braking before the next stop.

    `stops` are the path times [s] at which to stop, and `reached` is the current path time.
    """
    ahead = stops[stops >= reached]
    return min(math.sqrt(2.0 * BRAKING * (ahead[0] - reached)), 1.0) if ahead.size else 1.0
