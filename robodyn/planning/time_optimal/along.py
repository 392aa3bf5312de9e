# SPDX-License-Identifier: Apache-2.0

"""A piece of a path in intervals: where the mechanism is along it, and how its joints move."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.algorithms import motions
from robodyn.arrays import FloatArray, Indices
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.kernels.intervals import PLACES
from robodyn.planning.time_optimal.easing import Easing
from robodyn.planning.time_optimal.path import Piece
from robodyn.trajectories import Motion, SampledTrajectory

# Places in an interval, in which a result is verified; within, so that a knot's sides are apart.
VERIFIED = np.array([1e-6, 0.25, 0.5, 0.75, 1.0 - 1e-6])
# Those at which limits are imposed.
IMPOSED = VERIFIED[::2]


class Along(NamedTuple):
    """A piece of a path in N intervals, at M places in each.

    Attributes:
        motion: (N, M, ...) configuration, dq/ds and d2q/ds2.
        positions: (N, M, n) of the driven joints.
        rates, bends: (N, M, n) of these: dp/ds and d2p/ds2.
        steps: (N,) lengths of the intervals.
    """

    motion: Motion
    positions: FloatArray
    rates: FloatArray
    bends: FloatArray
    steps: FloatArray

    @property
    def imposed(self) -> slice:
        """Which of the M places are those at which limits are imposed."""
        return slice(None, None, (self.rates.shape[1] - 1) // (PLACES - 1))

    def part(self, rows: Indices | slice) -> Along:
        """Some of its intervals."""
        motion = Motion(*(values[rows] for values in self.motion))
        return Along(motion, *(values[rows] for values in self[1:]))


def along(mechanism: Mechanism, piece: Piece, places: FloatArray = VERIFIED) -> Along:
    """A piece at places in every interval, by default those where results are verified.

    Raises:
        KinematicsError: a configuration that cannot be; `index` says where in (N, M).
    """
    assert isinstance(piece.curve, SampledTrajectory)  # as pieces are until they are made smooth
    motion = piece.curve.between_knots(places)
    return Along(motion, *motions.driven_motion(mechanism, *motion), np.diff(piece.nodes))


class Course(NamedTuple):
    """A piece of a path in N intervals of a parameter r, at M places in each, for smooth motions.

    Attributes:
        steps: (N,) lengths of the intervals in r.
        places: (M,) from 0 to 1 in every interval.
        first, second, third: (N, M) derivatives by r of the places s = g(r).
        path: the mechanism there.
    """

    steps: FloatArray
    places: FloatArray
    first: FloatArray
    second: FloatArray
    third: FloatArray
    path: Along

    def speeds(self, y: FloatArray, slope: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Squares of ds/dt, and d2s/dt2 (N, M), of (dr/dt)^2 and its derivative by r."""
        return self.first**2 * y, self.second * y + 0.5 * self.first * slope

    @property
    def imposed(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(N, 3, 1) derivatives of s by r where limits are imposed."""
        g1, g2, g3 = (v[:, self.path.imposed, None] for v in (self.first, self.second, self.third))
        return g1, g2, g3


def eased(
    mechanism: Mechanism,
    piece: Piece,
    easing: Easing,
    nodes: FloatArray,
    places: FloatArray = VERIFIED,
    rows: Indices | slice = slice(None),
) -> Course:
    """A piece with nodes r (N + 1,), at places (M,) of some intervals.

    Raises:
        KinematicsError: a configuration that cannot be; `index` says where.
    """
    starts, steps = nodes[:-1][rows], np.diff(nodes)[rows]
    s, first, second, third = easing.at(starts[:, None] + steps[:, None] * places)
    motion = piece.curve.sample(s)
    path = Along(motion, *motions.driven_motion(mechanism, *motion), np.diff(piece.nodes)[rows])
    return Course(steps, places, first, second, third, path)


def derivatives(at: FloatArray, known: FloatArray) -> FloatArray:
    """What makes of values (M,) at known places those (P, M) of their polynomial's derivative."""
    powers = np.arange(len(known))
    return np.asarray(
        (powers[1:] * at[:, None] ** powers[:-1]) @ np.linalg.inv(known[:, None] ** powers)[1:]
    )
