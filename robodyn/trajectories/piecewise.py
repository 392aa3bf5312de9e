# SPDX-License-Identifier: Apache-2.0

"""Motions that are polynomials of time between knots."""

from __future__ import annotations

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval

from robodyn.arrays import FloatArray
from robodyn.trajectories.base import Motion, RowTrajectory


class PiecewisePolynomial(RowTrajectory):
    """Piecewise polynomial motion of n coordinates, at rest before and after its knots.

    Args:
        knots: (K + 1,) [s] from 0, increasing.
        coefficients: (k, K, n), the k coefficients of the polynomial after each knot except the
            last, in increasing powers of the time [s] since that knot.
        end: (n,) exact final position.
    """

    def __init__(self, knots: FloatArray, coefficients: FloatArray, end: FloatArray) -> None:
        self._knots, self._end = knots, end
        self._derivatives = [polyder(coefficients, order) for order in range(3)]

    @property
    def duration(self) -> float:
        """Time of the last knot [s]."""
        return float(self._knots[-1])

    @property
    def switching_times(self) -> tuple[float, ...]:
        """Times [s] of all inner knots."""
        return tuple(float(t) for t in self._knots[1:-1])

    def _rows(self, t: FloatArray) -> Motion:
        inside = np.clip(t, 0.0, self.duration)
        piece = np.searchsorted(self._knots[1:-1], inside, side="right")
        since = (inside - self._knots[piece])[:, None]
        rows = (polyval(since, c[:, piece], tensor=False) for c in self._derivatives)
        motion = Motion(*(np.asarray(row, dtype=np.float64) for row in rows))
        motion.configuration[t >= self.duration] = self._end
        outside = (t < 0.0) | (t > self.duration)
        motion.velocity[outside] = motion.acceleration[outside] = 0.0
        return motion
