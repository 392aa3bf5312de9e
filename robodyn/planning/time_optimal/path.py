# SPDX-License-Identifier: Apache-2.0

"""Geometry of a path without its timing: pieces without corners, parametrized by arc length.

A piece is a cubic spline through knots of the path. Its parameter s, from 0 to 1, is the normalized
arc length, in which displacements in meters are divided by the mechanism's size. A corner, where
the direction jumps, ends a piece: the motion has to rest there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from robodyn.analysis.bisection import bisect
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.time_optimal.curves import WaypointSpline, coordinate_weights
from robodyn.trajectories.base import Motion, RowTrajectory, Trajectory, refuse_other
from robodyn.trajectories.sampled import SampledTrajectory
from robodyn.trajectories.tip_line import is_body_motion

# Cells for the first measurement of the arc length, by which knots are then placed.
CELLS = 400
# Angle [rad] between the directions on both sides above which a point is a corner.
CORNER = 1e-3
# Cosine of the angle between neighboring directions below which a path reverses.
REVERSAL_COSINE = -0.9
# Distance in time from a rest at which the path's direction is taken, relative to the duration.
REST_OFFSET = 1e-5
# Speed below which a path rests, relative to its mean speed.
REST_SPEED = 1e-6
# Fraction of the arc length over which knots become denser towards a rest.
GRADED = 0.1
# Length below which a piece is ignored, relative to the path's.
NOTHING = 1e-9
# Distance from a knot at which one side of it is evaluated, relative to the interval.
KNOT_OFFSET = 1e-6
# Smallest number of intervals of a piece.
FEWEST = 40
# Arc lengths are integrals by Gauss's rule: with four points for few intervals, else with two.
FOUR_POINT_CELLS = 200
_FOUR, _TWO = np.polynomial.legendre.leggauss(4), np.polynomial.legendre.leggauss(2)

# Function from a number of intervals to the nodes of a piece, from 0 to 1.
Placing = Callable[[int], FloatArray]


class Piece(NamedTuple):
    """Section of a path between two corners.

    Attributes:
        curve: trajectory over s from 0 to 1, which gives q, dq/ds and d2q/ds2.
        nodes: (N + 1,) values of s at the ends of the intervals.
        length: [rad] arc length of the piece, with translations divided by the mechanism's size.
        of_body: whether the path was planned for poses of the body, not for joints.
        span: start and end as fractions of the whole path.
        ends: squared path speeds s'^2 at the start and the end of the piece.
    """

    curve: RowTrajectory
    nodes: FloatArray
    length: float
    of_body: bool
    span: tuple[float, float] = (0.0, 1.0)
    ends: tuple[float, float] = (0.0, 0.0)

    def fraction(self, s: Any) -> Any:
        """Convert points s (...) of the piece to fractions of the whole path, from 0 to 1."""
        return self.span[0] + s * (self.span[1] - self.span[0])

    def text(self, s: float) -> str:
        """Format the location of a point s as a percentage of the whole path."""
        return f"{100.0 * self.fraction(s):.4g} % of the path"


class PathPieces:
    """Pieces of a path between its corners.

    Args:
        mechanism: mechanism that follows the path.
        path: trajectory, whose timing is ignored.

    Raises:
        InvalidInput: the path is of another mechanism, or does not move.
    """

    def __init__(self, mechanism: Mechanism, path: Trajectory) -> None:
        self._mechanism, self._path = mechanism, path
        refuse_other(mechanism, path)
        self._weights = coordinate_weights(mechanism)
        self._of_body = is_body_motion(mechanism, path)
        # times of cells between two times, and the arc lengths of these
        measured = [self._divide(*ends) for ends in self._smooth_intervals()]
        lengths = np.array([float(each.sum()) for _, each in measured])
        total = float(lengths.sum())
        if not (np.isfinite(total) and total > NOTHING):
            raise InvalidInput(
                "all configurations of the path are the same; expected at least two different ones",
                value=total,
            )
        self._sections = [
            (each, float(length) / total)
            for each, length in zip(measured, lengths, strict=True)
            if length > NOTHING * total
        ]

    def __len__(self) -> int:
        """Return the number of pieces."""
        return len(self._sections)

    def cut(self, points: int, places: Sequence[Placing | None] | None = None) -> list[Piece]:
        """Divide each piece of the path into intervals.

        Args:
            points: total number of intervals, distributed over the pieces by length.
            places: for each piece, a function that returns its nodes for a number of intervals; by
                default the nodes are denser towards its ends.

        Returns:
            The pieces in order of the path, each with its nodes.
        """
        pieces = []
        for k, (measured, part) in enumerate(self._sections):
            count = max(round(points * part), min(FEWEST, points))
            place = None if places is None else places[k]
            nodes = grade(np.linspace(0.0, 1.0, count + 1)) if place is None else place(count)
            pieces.append(self._piece(*measured, nodes))
        return pieces

    def _velocity(self, times: ArrayLike) -> FloatArray:
        """Compute the generalized velocity (..., nv) of the given trajectory at times [s]."""
        if isinstance(self._path, WaypointSpline):
            return self._path.velocity(times)
        return self._path.sample(times).velocity

    def _speed(self, velocity: FloatArray) -> FloatArray:
        return np.asarray(np.linalg.norm(self._weights * velocity, axis=-1))

    def _lengths(self, times: FloatArray) -> FloatArray:
        """Compute the arc lengths (K - 1,) of the path between consecutive times (K,)."""
        half = 0.5 * np.diff(times)
        places, weights = _FOUR if len(times) < FOUR_POINT_CELLS else _TWO
        at = (times[:-1] + half)[:, None] + half[:, None] * places
        speed = self._speed(self._velocity(at))
        return np.asarray(half * (speed @ weights))

    def _divide(self, first: float, last: float) -> tuple[FloatArray, FloatArray]:
        """Divide the path between two times into cells.

        Returns:
            Times (K,) [s] at the ends of the cells, and arc lengths (K - 1,) of the cells.
        """
        cells = self._cells(first, last)
        return cells, self._lengths(cells)

    def _cells(self, first: float, last: float) -> FloatArray:
        inner = np.array([t for t in self._path.switching_times if first < t < last])
        if len(inner) > CELLS:
            inner = np.empty(0)
        return np.unique(np.concatenate([np.linspace(first, last, CELLS + 1), inner]))

    def _smooth_intervals(self) -> list[tuple[float, float]]:
        """Return start and end times [s] of the sections between corners and reversals."""
        end = self._path.duration
        switches = np.array([t for t in self._path.switching_times if 0.0 < t < end])
        corners: set[float] = set()
        if switches.size:
            nearby = np.diff(np.concatenate([[0.0], switches, [end]]))
            step = REST_OFFSET * np.minimum(nearby[:-1], nearby[1:])
            before = self._directions(switches - step)
            after = self._directions(switches + step)
            moves = (before.any(axis=1)) & (after.any(axis=1))
            turned = moves & ((before * after).sum(axis=1) < np.cos(CORNER))
            # a rest of some duration: its end is a corner if the directions around it differ
            corners.update(switches[turned | ~moves].tolist())
        marks = sorted({0.0, *corners, *self._reversals(), end})
        return list(zip(marks[:-1], marks[1:], strict=True))

    def _reversals(self) -> list[float]:
        """Return times [s] at which the motion rests for an instant and reverses."""
        cells = self._cells(0.0, self._path.duration)
        middles = 0.5 * (cells[1:] + cells[:-1])
        directions = self._directions(middles)
        back = np.flatnonzero((directions[1:] * directions[:-1]).sum(axis=1) < REVERSAL_COSINE)
        found = []
        for k in back:

            def continues(time: float, came: FloatArray = directions[k]) -> bool:
                return bool((self._weights * self._velocity(time)) @ came > 0.0)

            found.append(bisect(continues, float(middles[k]), float(middles[k + 1]), 60)[1])
        return found

    def _directions(self, times: FloatArray) -> FloatArray:
        """Compute unit vectors (K, nv) in the direction of motion; zero at rest."""
        velocity = self._weights * self._velocity(times)
        speed = np.linalg.norm(velocity, axis=1, keepdims=True)
        return np.where(speed > 0.0, velocity / np.where(speed > 0.0, speed, 1.0), 0.0)

    def _piece(self, cells: FloatArray, lengths: FloatArray, nodes: FloatArray) -> Piece:
        """Create a path piece with nodes near given fractions of its length."""
        first, last = cells[[0, -1]]
        along = np.concatenate([[0.0], np.cumsum(lengths)])
        lengths = along[-1] * nodes
        moving = np.concatenate([[True], np.diff(along) > 0.0])
        times = np.interp(lengths, along[moving], cells[moving])
        times[0], times[-1] = first, last
        times = times[np.concatenate([[True], np.diff(times) > 0.0])]
        steps = self._lengths(times)
        length = float(steps.sum())
        keep = np.concatenate([[True], steps > NOTHING * 1e-3 * length])
        keep[-1] = True
        s = np.concatenate([[0.0], np.cumsum(steps)])[keep] / length
        s[-1] = 1.0
        times = times[keep]
        configuration, velocity, _ = self._path.sample(times)
        speed = self._speed(velocity)
        # at rests and ends of the path its direction is the nearest one
        resting = speed * (last - first) < REST_SPEED * length
        resting[[0, -1]] = True
        gap = np.diff(times)
        inward = np.concatenate([gap, -gap[-1:]])
        velocity[resting] = self._velocity((times + REST_OFFSET * inward)[resting])
        tangent = velocity / self._speed(velocity)[:, None] * length
        return Piece(_cubic(self._mechanism, s, configuration, tangent), s, length, self._of_body)


def _cubic(
    mechanism: Mechanism, s: FloatArray, configuration: FloatArray, tangent: FloatArray
) -> SampledTrajectory:
    """Fit a cubic spline over s to configurations and tangents."""
    curve = SampledTrajectory(mechanism, s, Motion(configuration, tangent, np.zeros(tangent.shape)))
    # at a knot the curvature may jump: the value is that of the cubic that starts there
    bends = curve.between_knots(np.array([KNOT_OFFSET, 1.0 - KNOT_OFFSET])).acceleration
    curve.knots.acceleration[:-1], curve.knots.acceleration[-1] = bends[:, 0], bends[-1, 1]
    return curve


def grade(t: FloatArray) -> FloatArray:
    """Map fractions t (...) to points (...), 0 to 1, that are denser near both ends.

    The density is quadratic: the points are the positions of a motion that accelerates, cruises and
    brakes, at fractions t of its duration.
    """
    speed = 1.0 / (1.0 - GRADED)
    half = 0.5 * speed / GRADED
    inner = speed * (t - 0.5 * GRADED)
    start = half * t * t
    end = 1.0 - half * (1.0 - t) ** 2
    return np.where(t < GRADED, start, np.where(t > 1.0 - GRADED, end, inner))
