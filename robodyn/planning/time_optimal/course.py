# SPDX-License-Identifier: Apache-2.0

"""A piece of a path over a parameter r that eases its ends, for motions without jumps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray, Indices
from robodyn.planning.kernels.intervals import Intervals
from robodyn.planning.time_optimal.along import Along
from robodyn.planning.time_optimal.easing import Easing
from robodyn.planning.time_optimal.path import KnottedCurve
from robodyn.trajectories.base import Motion


class Course(NamedTuple):
    """A piece of a path in N intervals of r, at the places that are verified (N, M).

    Attributes:
        curve: the piece over s.
        easing: the places s = g(r).
        nodes: (N + 1,) r.
        g, first, second, third: (N, M) the places s there and their derivatives by r.
        path: the mechanism along it.
        problem: what limits it, as without limits of changes.
    """

    curve: KnottedCurve
    easing: Easing
    nodes: FloatArray
    g: FloatArray
    first: FloatArray
    second: FloatArray
    third: FloatArray
    path: Along
    problem: Intervals

    def speeds(self, y: FloatArray, slope: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Squares of ds/dt, and d2s/dt2 (N, M)."""
        return self.first**2 * y, self.second * y + 0.5 * self.first * slope

    @property
    def steps(self) -> FloatArray:
        """(N,) lengths of the intervals in r."""
        return np.diff(self.nodes)

    @property
    def imposed(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(N, 3, 1) derivatives of s by r where limits are imposed."""
        g1, g2, g3 = (v[:, self.path.imposed, None] for v in self[4:7])
        return g1, g2, g3


class Moved(NamedTuple):
    """A motion at places (M,) of I intervals.

    Attributes:
        motion, rates, bends: (I, M, ...) by s, as in `Along`.
        square, acceleration: (I, M, 1) of ds/dt and d2s/dt2.
        intervals, places: which and where.
    """

    motion: Motion
    rates: FloatArray
    bends: FloatArray
    square: FloatArray
    acceleration: FloatArray
    intervals: Indices
    places: FloatArray


def derivatives(at: FloatArray, known: FloatArray) -> FloatArray:
    """What makes of values (M,) at known places those (P, M) of their polynomial's derivative."""
    powers = np.arange(len(known))
    return np.asarray(
        (powers[1:] * at[:, None] ** powers[:-1]) @ np.linalg.inv(known[:, None] ** powers)[1:]
    )
