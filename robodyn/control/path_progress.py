# SPDX-License-Identifier: Apache-2.0

"""Estimate of the time along a path from measured states.

A controller that follows a path more slowly than planned has its path time; an observer must
estimate it. The search is near the previous result and never further ahead than real time permits,
so that on a path that returns the same way, the way out and the way back are not confused.
"""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import as_exact
from robodyn.control.path_clock import LATE
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.base import Trajectory

# [m, rad] Points of a path within this distance are a rest; its latest time is used. Beyond the
# distance AWAY the mechanism is not on the path.
SAME, AWAY = 1e-9, 0.02
# [s] of path, backward and forward, that is searched in addition to the time between two states.
REACH = 0.02
POINTS = 17
# [s] of path for the first search, which usually succeeds.
STEP = 2e-3


class PathProgress:
    """Estimator of the time along a trajectory, updated with each measured state.

    Args:
        mechanism: mechanism that moves.
        trajectory: motion that the mechanism follows, possibly more slowly.
        start: time [ns] of states at which the path begins; None for the first state.
    """

    def __init__(
        self, mechanism: Mechanism, trajectory: Trajectory, start: int | None = None
    ) -> None:
        self.trajectory = trajectory
        self._mechanism = mechanism
        self._given_start = start
        self._begin()

    def _begin(self) -> None:
        self._origin = self._given_start
        self._last: int | None = None
        self._path, self._pace = 0.0, 1.0

    def at(self, time: int, configuration: FloatArray) -> float | None:
        """Estimate the path time [s] at `time` [ns]; None if the state is off the path.

        `configuration` (nq,) is the measured one. If the clock is set back, the path starts again.

        Raises:
            InvalidInput: a configuration has the wrong shape or is not finite.
        """
        configuration = as_exact("configuration", configuration, np.shape(configuration)[-1:])
        if self._last is not None and time < self._last - LATE:
            self._begin()
        if self._origin is None:
            self._origin = time
        passed = 0.0 if self._last is None else max(time - self._last, 0) * 1e-9
        if self._last is None and self._given_start is not None:
            passed = max(time - self._given_start, 0) * 1e-9
        self._last = time if self._last is None else max(time, self._last)
        furthest = min((time - self._origin) * 1e-9, self.trajectory.duration)
        begin = max(self._path - REACH, 0.0)
        end = max(min(self._path + passed + REACH, furthest), begin)
        found = self._refine(self._path + self._pace * passed, configuration)
        if found is None or not begin <= found <= end:
            return self._search(begin, end, configuration)
        if passed:
            self._pace = min(max((found - self._path) / passed, 0.0), 1.0)
        self._path = found
        return found

    def _refine(self, expected: float, configuration: FloatArray) -> float | None:
        """Return the path time [s] of the path point nearest to a configuration.

        Returns None if the configuration is not near the path point at time `expected` [s].
        """
        before, here, after = self._distances(
            np.array([expected - STEP, expected, expected + STEP]), configuration
        )
        if here > AWAY or not (here < before and here < after):
            return None
        before, here, after = before**2, here**2, after**2
        return float(expected + 0.5 * STEP * (before - after) / (before - 2.0 * here + after))

    def _search(self, begin: float, end: float, configuration: FloatArray) -> float | None:
        for _ in range(2):
            times = np.linspace(begin, end, POINTS)
            distances = self._distances(times, configuration)
            found = int(np.flatnonzero(distances <= distances.min() + SAME)[-1])
            begin, end = times[max(found - 1, 0)], times[min(found + 1, POINTS - 1)]
        self._path = float(times[found])
        return self._path if distances[found] <= AWAY else None

    def _distances(self, times: FloatArray, configuration: FloatArray) -> FloatArray:
        planned = self.trajectory.sample(times).configuration
        return np.asarray(
            np.linalg.norm(self._mechanism.difference(planned, configuration), axis=-1)
        )
