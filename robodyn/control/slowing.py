# SPDX-License-Identifier: Apache-2.0

"""Reduce the speed near a singularity, according to where the planned motion leads.

A measured velocity of zero has no direction, so a mechanism that was stopped could never leave;
its current or next path has one. Motion away from the singularity is not slowed. Towards it, the
speed falls with the conditioning, early enough to come to rest before the condition number at
which it has to.
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
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.trajectories.base import Trajectory

# [s] of path by which the direction of the planned motion is judged.
AHEAD = 0.05
# [1/s] how fast the speed along the path is made to fall. A follower's speed follows a scale at up
# to twice this, which leaves it time for what messages take.
BRAKING = 1.0


@dataclass
class _Path:
    """A path, where it has to be left alone [s], and when it begins [ns]."""

    progress: PathProgress
    stops: FloatArray
    start: int | None


class SpeedScale:
    """The factor, 0 to 1, for the speed of a mechanism that follows paths.

    Args:
        mechanism: what moves.
        slow_from: condition number above which it slows down on the way to a singularity.
        stop_at: condition number at which it stands still on that way.
        characteristic_length: [m] of both numbers.

    Raises:
        InvalidInput: numbers out of order or range.
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
        """Change the limits; arguments as for the class.

        Raises:
            InvalidInput: numbers out of order or range; the ones before stay.
        """
        length = as_scalar("characteristic_length", characteristic_length, "m", above=0.0)
        speed_scale(1.0, slow_from, stop_at, approaching=False)  # refuses what is out of order
        self.slow_from, self.stop_at, self.characteristic_length = slow_from, stop_at, length
        for path in (self._now, self._next):
            if path is not None:
                path.stops = self._stops(path.progress.trajectory)

    def follow(self, trajectory: Trajectory, start: int | None = None) -> None:
        """Take a path that begins at `start` [ns] in time of the states, or with the next one.

        Raises:
            InvalidInput, KinematicsError: it cannot be examined; the one before stays.
        """
        progress = PathProgress(self._mechanism, trajectory, start)
        path = _Path(progress, self._stops(trajectory), start)
        if start is None:
            self._now, self._next = path, None
        else:
            self._next = path

    def leave(self) -> None:
        """Go by the measured velocity until there is another path."""
        self._now = self._next = None

    def at(self, time: int, configuration: FloatArray, velocity: FloatArray) -> float:
        """The factor for a state measured at `time` [ns].

        Without a path, or away from it, the measured velocity tells the direction.

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
        planned = trajectory.sample([reached, reached + AHEAD]).configuration
        way = self._mechanism.difference(planned[0], planned[1])
        return min(self._scale(number, configuration, way), _braking(self._now.stops, reached))

    def _stops(self, trajectory: Trajectory) -> FloatArray:
        """Times [s] at which it has to stand still on a path."""
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
    """The speed from which it comes to rest in time before the next stop on the path."""
    ahead = stops[stops >= reached]
    return min(math.sqrt(2.0 * BRAKING * (ahead[0] - reached)), 1.0) if ahead.size else 1.0
