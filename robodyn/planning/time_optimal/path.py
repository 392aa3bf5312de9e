# SPDX-License-Identifier: Apache-2.0

"""The geometry of a path, freed from its timing: pieces without corners, by arc length.

A piece is a cubic through knots of the path, in the coordinates of a parameter s that runs from 0
to 1 along it. Its unit is the arc length, in which displacements in meters count as parts of the
mechanism's size. A corner, where the direction jumps, ends a piece: the motion has to rest there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.time_optimal.curves import Through, coordinate_weights
from robodyn.trajectories.base import Motion, RowTrajectory, Trajectory, refuse_other
from robodyn.trajectories.sampled import SampledTrajectory
from robodyn.trajectories.tip_line import is_of_body

# Cells in which the arc length of a path is first measured; knots then are placed by it.
CELLS = 400
# Directions on both sides of a corner differ by more [rad].
CORNER = 1e-3
# Cosine of the angle between neighboring directions from which on a path turns back.
BACK = -0.9
# Of its duration: how near to a time of rest a path still tells its direction.
NEAR = 1e-5
# Of its mean speed: a path that is slower is taken to rest.
SLOW = 1e-6
# Shares of arc length over which knots become denser towards a rest.
GRADED = 0.1
# Of the arc length: pieces that are shorter are no motion.
NOTHING = 1e-9
# Of an interval: how far from a knot the path is looked at on one of its sides.
BESIDE = 1e-6
# Fewest intervals of a piece.
FEWEST = 40
# Arc lengths are integrals by Gauss's rule: of few intervals with four points, else with two.
FEW = 200
_FOUR, _TWO = np.polynomial.legendre.leggauss(4), np.polynomial.legendre.leggauss(2)

# Where the nodes of a piece are, from 0 to 1, for so many intervals.
Placing = Callable[[int], FloatArray]


class Piece(NamedTuple):
    """A part of a path without corners.

    Attributes:
        curve: (q, dq/ds, d2q/ds2) at s, as a trajectory over s from 0 to 1.
        nodes: (N + 1,) knots of s.
        length: its arc length.
        of_body: whether the path was asked for by poses.
        span: shares of the path between which it is.
        ends: s'^2 there.
    """

    curve: RowTrajectory
    nodes: FloatArray
    length: float
    of_body: bool
    span: tuple[float, float] = (0.0, 1.0)
    ends: tuple[float, float] = (0.0, 0.0)

    def share(self, s: Any) -> Any:
        """How far along the whole path places s (...) are, from 0 to 1."""
        return self.span[0] + s * (self.span[1] - self.span[0])

    def text(self, s: float) -> str:
        """That place, for messages."""
        return f"{100.0 * self.share(s):.4g} % of the path"


class PathPieces:
    """The pieces of a path, to be cut into intervals.

    Args:
        mechanism: whose coordinates it is in.
        path: any trajectory.

    Raises:
        InvalidInput: a path of another mechanism, or one that does not move.
    """

    def __init__(self, mechanism: Mechanism, path: Trajectory) -> None:
        self._mechanism, self._path = mechanism, path
        refuse_other(mechanism, path)
        self._weights = coordinate_weights(mechanism)
        self._of_body = is_of_body(mechanism, path)
        # times of cells between two times, and the arc lengths of these
        measured = [self._measured(*ends) for ends in self._between_corners()]
        lengths = np.array([float(each.sum()) for _, each in measured])
        total = float(lengths.sum())
        if not (np.isfinite(total) and total > NOTHING):
            raise InvalidInput(
                "the path does not move: its configurations are all the same", value=total
            )
        self._measures = [
            (each, float(length) / total)
            for each, length in zip(measured, lengths, strict=True)
            if length > NOTHING * total
        ]

    def __len__(self) -> int:
        """How many there are."""
        return len(self._measures)

    def cut(self, points: int, places: Sequence[Placing | None] | None = None) -> list[Piece]:
        """The pieces in intervals.

        Args:
            points: intervals that the pieces share by their lengths.
            places: of the nodes of each piece; by default denser towards its ends.
        """
        pieces = []
        for k, (measured, share) in enumerate(self._measures):
            count = max(round(points * share), min(FEWEST, points))
            place = None if places is None else places[k]
            nodes = graded(np.linspace(0.0, 1.0, count + 1)) if place is None else place(count)
            pieces.append(self._piece(*measured, nodes))
        return pieces

    def _velocity(self, times: ArrayLike) -> FloatArray:
        """(..., nv) of the path over its own time."""
        if isinstance(self._path, Through):
            return self._path.velocity(times)
        return self._path.sample(times).velocity

    def _speed(self, velocity: FloatArray) -> FloatArray:
        return np.asarray(np.linalg.norm(self._weights * velocity, axis=-1))

    def _lengths(self, times: FloatArray) -> FloatArray:
        """Arc length (K - 1,) between times (K,)."""
        half = 0.5 * np.diff(times)
        places, weights = _FOUR if len(times) < FEW else _TWO
        at = (times[:-1] + half)[:, None] + half[:, None] * places
        speed = self._speed(self._velocity(at))
        return np.asarray(half * (speed @ weights))

    def _measured(self, first: float, last: float) -> tuple[FloatArray, FloatArray]:
        """Times (K,) of cells between two times, and the arc lengths (K - 1,) of these."""
        cells = self._cells(first, last)
        return cells, self._lengths(cells)

    def _cells(self, first: float, last: float) -> FloatArray:
        inner = np.array([t for t in self._path.switching_times if first < t < last])
        if len(inner) > CELLS:
            inner = np.empty(0)
        return np.unique(np.concatenate([np.linspace(first, last, CELLS + 1), inner]))

    def _between_corners(self) -> list[tuple[float, float]]:
        """Times between which the path has no corner."""
        end = self._path.duration
        switches = np.array([t for t in self._path.switching_times if 0.0 < t < end])
        corners: set[float] = set()
        if switches.size:
            nearby = np.diff(np.concatenate([[0.0], switches, [end]]))
            step = NEAR * np.minimum(nearby[:-1], nearby[1:])
            before = self._directions(switches - step)
            after = self._directions(switches + step)
            moves = (before.any(axis=1)) & (after.any(axis=1))
            turned = moves & ((before * after).sum(axis=1) < np.cos(CORNER))
            # a rest of some duration: its end is a corner if the directions around it differ
            corners.update(switches[turned | ~moves].tolist())
        marks = sorted({0.0, *corners, *self._reversals(), end})
        return list(zip(marks[:-1], marks[1:], strict=True))

    def _reversals(self) -> list[float]:
        """Times at which the path turns back where it came from, resting for an instant."""
        cells = self._cells(0.0, self._path.duration)
        middles = 0.5 * (cells[1:] + cells[:-1])
        directions = self._directions(middles)
        back = np.flatnonzero((directions[1:] * directions[:-1]).sum(axis=1) < BACK)
        found = []
        for k in back:
            low, high = float(middles[k]), float(middles[k + 1])
            came = directions[k]
            for _ in range(60):
                middle = 0.5 * (low + high)
                velocity = self._weights * self._velocity(middle)
                low, high = (middle, high) if float(velocity @ came) > 0.0 else (low, middle)
            found.append(high)
        return found

    def _directions(self, times: FloatArray) -> FloatArray:
        """Unit vectors of motion (K, nv), zero where it rests."""
        velocity = self._weights * self._velocity(times)
        speed = np.linalg.norm(velocity, axis=1, keepdims=True)
        return np.where(speed > 0.0, velocity / np.where(speed > 0.0, speed, 1.0), 0.0)

    def _piece(self, cells: FloatArray, lengths: FloatArray, nodes: FloatArray) -> Piece:
        """The piece of some cells, with nodes (N + 1,) at about these shares of its length."""
        first, last = cells[[0, -1]]
        along = np.concatenate([[0.0], np.cumsum(lengths)])
        wanted = along[-1] * nodes
        moving = np.concatenate([[True], np.diff(along) > 0.0])
        times = np.interp(wanted, along[moving], cells[moving])
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
        # where the path rests, and at its ends, its direction is that nearby
        resting = speed * (last - first) < SLOW * length
        resting[[0, -1]] = True
        gap = np.diff(times)
        inward = np.concatenate([gap, -gap[-1:]])
        velocity[resting] = self._velocity((times + NEAR * inward)[resting])
        tangent = velocity / self._speed(velocity)[:, None] * length
        return Piece(_curve(self._mechanism, s, configuration, tangent), s, length, self._of_body)


def _curve(
    mechanism: Mechanism, s: FloatArray, configuration: FloatArray, tangent: FloatArray
) -> SampledTrajectory:
    """The cubic through configurations and tangents, with its own curvature at the knots."""
    curve = SampledTrajectory(mechanism, s, Motion(configuration, tangent, np.zeros(tangent.shape)))
    # at a knot the curvature may jump: the answer there is that of the cubic that begins
    bends = curve.between_knots(np.array([BESIDE, 1.0 - BESIDE])).acceleration
    curve.knots.acceleration[:-1], curve.knots.acceleration[-1] = bends[:, 0], bends[-1, 1]
    return curve


def graded(t: FloatArray) -> FloatArray:
    """Places (...) from 0 to 1 that are quadratically denser towards both ends.

    Where a motion that speeds up, cruises and slows down is at shares t (...) of its time.
    """
    speed = 1.0 / (1.0 - GRADED)
    half = 0.5 * speed / GRADED
    inner = speed * (t - 0.5 * GRADED)
    start = half * t * t
    end = 1.0 - half * (1.0 - t) ** 2
    return np.where(t < GRADED, start, np.where(t > 1.0 - GRADED, end, inner))
