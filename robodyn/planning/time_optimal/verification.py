# SPDX-License-Identifier: Apache-2.0

"""Verification of a motion between its points, and tightening of exceeded limits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robodyn.arrays import BoolArray, FloatArray, Indices
from robodyn.planning.kernels.intervals import Intervals
from robodyn.planning.kernels.peaks import peaks
from robodyn.planning.time_optimal.constraints.all import Constraints
from robodyn.planning.time_optimal.constraints.base import SPEED_MARGIN_BETWEEN
from robodyn.planning.time_optimal.sampled_path import VERIFIED, SampledPath

# Tolerated excess, relative to a limit and its margin; without it tightening would never end.
EXCESS_TOLERANCE = 1e-6
# Factor on an excess by which a limit is tightened.
MORE = 1.2


def peak(values: FloatArray, places: FloatArray = VERIFIED) -> FloatArray:
    """Compute the largest value (N, k) of each of k quantities in each of N intervals.

    `values` (N, M, k) are samples at the points `places` (M,) of each interval. Peaks between the
    samples are those of parabolas through three neighboring samples.
    """
    out = np.empty((values.shape[0], values.shape[2]))
    peaks(np.ascontiguousarray(values), places, out)
    return out


class Verification:
    """Check of a motion against its limits between the points at which they were imposed.

    Joint efforts, joint velocities and accelerations, and the speed of the tip are checked. Only
    intervals whose motion changed or exceeded limits are evaluated again. `highest` is a function
    that computes the largest value (N, k) of each quantity in each interval from samples (N, M, k).
    """

    def __init__(
        self,
        path: SampledPath,
        constraints: Constraints,
        highest: Callable[[FloatArray], FloatArray] = peak,
    ) -> None:
        self._path, self._constraints = path, constraints
        self._highest = highest
        # of all second-order limits: the largest and the least value at the points where they
        # are imposed, and the relative excess
        self._sizes = np.concatenate([each.sizes for each in constraints.second], axis=1)
        count = len(path.steps)
        shape = 4, count, self._sizes.shape[1]
        self._most, self._least, self._above, self._below = np.zeros(shape)
        self._fast = np.zeros(count)
        self._x: FloatArray | None = None

    def tighten(self, problem: Intervals, x: FloatArray, changed: BoolArray) -> bool:
        """Tighten limits in the intervals in which a motion exceeds them.

        The limits in `problem` are changed in place. `x` (N + 1,) contains the squared path speeds
        of the motion at the nodes. Intervals whose limits are tightened are marked in `changed`
        (N,), also in place.

        Returns whether the motion exceeds any limit.
        """
        rows = self._changed_intervals(x)
        self._x = x
        begin, change = x[:-1][rows, None], np.diff(x)[rows, None]
        acceleration = 0.5 * change / self._path.steps[rows, None]
        self._evaluate_intervals(rows, begin + change * VERIFIED, acceleration)
        return self._tighten(problem, changed)

    def tighten_at(self, problem: Intervals, square: FloatArray, acceleration: FloatArray) -> bool:
        """Tighten limits in the intervals in which a sampled motion exceeds them.

        The limits in `problem` are changed in place. `square` contains the squared path speeds and
        `acceleration` the path accelerations (N, M) at M points of N intervals.

        Returns whether the motion exceeds any limit.
        """
        self._evaluate_intervals(slice(None), square, acceleration)
        return self._tighten(problem, np.zeros(len(square), dtype=bool))

    def _tighten(self, problem: Intervals, changed: BoolArray) -> bool:
        """Tighten exceeded limits in place; return whether any limit is exceeded."""
        least, most = self._sizes
        exceeded = _tighten_limit(problem.upper, self._above, self._most, -most, changed)
        exceeded |= _tighten_limit(problem.lower, self._below, self._least, least, changed)
        if (self._fast > EXCESS_TOLERANCE).any():
            exceeded = True
            slower = 1.0 - 2.0 * MORE * neighborhood_maximum(self._fast)
            problem.bounds[:] *= slower[:, None]
            problem.caps[:-1] = np.minimum(problem.caps[:-1], problem.bounds[:, 0])
            problem.caps[1:] = np.minimum(problem.caps[1:], problem.bounds[:, -1])
            slowed = slower < 1.0
            changed |= slowed
            changed[1:] |= slowed[:-1]
        return exceeded

    def _changed_intervals(self, x: FloatArray) -> Indices | slice:
        """Find intervals whose speeds changed, or that exceeded limits in the last round."""
        if self._x is None:
            return slice(None)
        moved = x != self._x
        differs = moved[1:] | moved[:-1] | (self._fast > 0.0)
        differs |= (self._above > 0.0).any(axis=1) | (self._below > 0.0).any(axis=1)
        return np.flatnonzero(differs)

    def _evaluate_intervals(
        self, rows: Indices | slice, square: FloatArray, acceleration: FloatArray
    ) -> None:
        """Compute and store the excess over limits in the intervals `rows`.

        `square` and `acceleration` are the squared path speeds and the path accelerations.
        """
        part, highest = self._path.part(rows), self._highest
        speed, square = np.sqrt(square)[..., None], square[..., None]
        found = [
            each.excess(part, square, acceleration[..., None]) for each in self._constraints.second
        ]
        values, above, below = (np.concatenate(v, axis=-1) for v in zip(*found, strict=True))
        imposed = values[:, part.imposed]
        self._most[rows], self._least[rows] = imposed.max(axis=1), imposed.min(axis=1)
        self._above[rows], self._below[rows] = highest(above), highest(below)
        fast = np.concatenate(
            [each.fractions(part, speed) for each in self._constraints.first], axis=-1
        )
        self._fast[rows] = highest(fast).max(axis=-1) - (1.0 - SPEED_MARGIN_BETWEEN)


def neighborhood_maximum(excess: FloatArray) -> FloatArray:
    """Return the maximum (N,) of 0 and the excess of each interval and its neighbors."""
    wide = np.maximum(excess, 0.0)
    out: FloatArray = wide.copy()
    out[1:] = np.maximum(out[1:], wide[:-1])
    out[:-1] = np.maximum(out[:-1], wide[1:])
    return out


def _tighten_limit(
    limit: FloatArray,
    excess: FloatArray,
    reached: FloatArray,
    size: FloatArray,
    changed: BoolArray,
) -> bool:
    """Tighten limits (N, k) in proportion to the excess; return whether any changed.

    `limit` is changed in place. Intervals whose limits change are marked in `changed` (N,).
    """
    if not (excess > EXCESS_TOLERANCE).any():
        return False
    # a limit that is not reached at the points must move further to take effect
    nearer = np.minimum(limit, reached) if (size < 0.0).all() else np.maximum(limit, reached)
    moved = excess > 0.0
    limit[:] = np.where(moved, nearer + MORE * excess * size, limit)
    changed |= moved.any(axis=1)
    return True
