# SPDX-License-Identifier: Apache-2.0

"""Configurations and joint motion of the mechanism at sampled points of a path."""

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

# Points of an interval at which a result is verified; inside, as the curvature may jump at knots.
VERIFIED = np.array([1e-6, 0.25, 0.5, 0.75, 1.0 - 1e-6])
# Points at which limits are imposed.
IMPOSED = VERIFIED[::2]


class SampledPath(NamedTuple):
    """Samples of a piece of a path: N intervals with M points in each.

    Attributes:
        motion: configurations q (N, M, nq), and dq/ds and d2q/ds2 (N, M, nv).
        positions: (N, M, n) positions p of the driven joints.
        rates, bends: (N, M, n) derivatives dp/ds and d2p/ds2 of these positions.
        steps: (N,) lengths of the intervals in s.
    """

    motion: Motion
    positions: FloatArray
    rates: FloatArray
    bends: FloatArray
    steps: FloatArray

    @property
    def imposed(self) -> slice:
        """Slice that selects, of the M points, those at which limits are imposed."""
        return slice(None, None, (self.rates.shape[1] - 1) // (PLACES - 1))

    def part(self, rows: Indices | slice) -> SampledPath:
        """Return the samples of the intervals with the given indices."""
        motion = Motion(*(values[rows] for values in self.motion))
        return SampledPath(motion, *(values[rows] for values in self[1:]))


def sample_path(mechanism: Mechanism, piece: Piece, places: FloatArray = VERIFIED) -> SampledPath:
    """Sample a piece of a path at points in every interval.

    `places` (M,) are the points of an interval, from 0 to 1; by default those for verification.

    Returns:
        Configurations, positions of the driven joints, and their derivatives w.r.t. the path
        parameter s at these points.

    Raises:
        KinematicsError: a configuration has no solution; `index` is its index in (N, M).
    """
    assert isinstance(piece.curve, SampledTrajectory)  # as pieces are until they are made smooth
    motion = piece.curve.between_knots(places)
    return SampledPath(motion, *motions.driven_motion(mechanism, *motion), np.diff(piece.nodes))


class SmoothPath(NamedTuple):
    """Samples of a piece of a smooth motion over a parameter r.

    There are N intervals of r with M points in each.

    Attributes:
        steps: (N,) lengths of the intervals in r.
        places: (M,) points of an interval, from 0 to 1.
        first, second, third: (N, M) derivatives of s = g(r) with respect to r.
        path: samples of the mechanism's motion.
    """

    steps: FloatArray
    places: FloatArray
    first: FloatArray
    second: FloatArray
    third: FloatArray
    path: SampledPath

    def speeds(self, y: FloatArray, slope: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute s'^2 and s'' (N, M) from y = (dr/dt)^2 (N, M) and its derivative.

        s' = ds/dt is the path speed, and s'' its time derivative. `slope` (N, M) is dy/dr.
        """
        return self.first**2 * y, self.second * y + 0.5 * self.first * slope

    @property
    def imposed(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Derivatives of s = g(r) at the points where limits are imposed.

        They are the first, second and third derivative with respect to r, (N, 3, 1) each.
        """
        g1, g2, g3 = (v[:, self.path.imposed, None] for v in (self.first, self.second, self.third))
        return g1, g2, g3


def sample_smooth_path(
    mechanism: Mechanism,
    piece: Piece,
    easing: Easing,
    nodes: FloatArray,
    places: FloatArray = VERIFIED,
    rows: Indices | slice = slice(None),
) -> SmoothPath:
    """Sample intervals of a piece of a path over the smooth parameter r.

    `nodes` (N + 1,) are the values of r at the ends of the intervals, and `places` (M,) the points
    of an interval, from 0 to 1. `easing` maps r to the path parameter s.

    `rows` selects the intervals; by default all.

    Returns:
        Samples of the path at M points of the selected intervals, and derivatives of s w.r.t. r.

    Raises:
        KinematicsError: a configuration has no solution; `index` is its index.
    """
    starts, steps = nodes[:-1][rows], np.diff(nodes)[rows]
    s, first, second, third = easing.at(starts[:, None] + steps[:, None] * places)
    motion = piece.curve.sample(s)
    path = SampledPath(
        motion, *motions.driven_motion(mechanism, *motion), np.diff(piece.nodes)[rows]
    )
    return SmoothPath(steps, places, first, second, third, path)


def derivatives(at: FloatArray, known: FloatArray) -> FloatArray:
    """Return the matrix (P, M) that maps values of a polynomial to its derivatives.

    The polynomial of degree M - 1 is given by its values at the points `known` (M,); the
    derivatives are those at the points `at` (P,).
    """
    powers = np.arange(len(known))
    return np.asarray(
        (powers[1:] * at[:, None] ** powers[:-1]) @ np.linalg.inv(known[:, None] ** powers)[1:]
    )
