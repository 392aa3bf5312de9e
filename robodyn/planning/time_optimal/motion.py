# SPDX-License-Identifier: Apache-2.0

"""A motion along a path at the speed that was found for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray, Indices
from robodyn.checks import as_array
from robodyn.planning.time_optimal.easing import Easing
from robodyn.planning.time_optimal.path import Piece
from robodyn.planning.time_optimal.programme import SpeedSpline
from robodyn.trajectories.base import Motion, RowTrajectory, retimed, sampled_by_parts

# [m/s, rad/s] slower than this is rest, but for rounding.
REST = 1e-9


class Timed(NamedTuple):
    """A piece of a path, the squares of the speed at its nodes, and their times from its start."""

    piece: Piece
    x: FloatArray
    times: FloatArray

    def at(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """s, its rate and its acceleration at times t (K,) from the start of the piece."""
        nodes, x, times = self.piece.nodes, self.x, self.times
        k = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
        acceleration = 0.5 * (x[k + 1] - x[k]) / (nodes[k + 1] - nodes[k])
        dt = t - times[k]
        speed = np.sqrt(x[k]) + acceleration * dt
        s = nodes[k] + dt * (np.sqrt(x[k]) + 0.5 * acceleration * dt)
        at_end = t >= times[-1]
        speed = np.where(at_end, np.sqrt(x[-1]), np.maximum(speed, 0.0))
        return np.where(at_end, 1.0, np.clip(s, nodes[k], nodes[k + 1])), speed, acceleration


class TimedSmoothly(NamedTuple):
    """A piece of a path, and a motion along it with continuous acceleration.

    Attributes:
        piece: of the path.
        easing: the places s = g(r).
        nodes: (N + 1,) r at the ends of intervals.
        y, slope: (N + 1,) (dr/dt)^2 there, and its derivative by r.
        times: (N + 1,) [s] from the start of the piece.
    """

    piece: Piece
    easing: Easing
    nodes: FloatArray
    y: FloatArray
    slope: FloatArray
    times: FloatArray

    def at(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """s, its rate and its acceleration at times t (K,) from the start of the piece."""
        nodes, times = self.nodes, self.times
        k = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
        rises = 0.5 * (self.slope[k + 1] - self.slope[k]) / (nodes[k + 1] - nodes[k])
        dt = np.minimum(t, times[-1]) - times[k]
        gone, rate, change = _moved(np.sqrt(self.y[k]), 0.5 * self.slope[k], rises, dt)
        s, first, second, _ = self.easing.at(np.clip(nodes[k] + gone, nodes[k], nodes[k + 1]))
        return s, first * rate, first * change + second * rate**2


def _moved(
    rate: FloatArray, change: FloatArray, rises: FloatArray, t: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What d'' = rises d + change, from d = 0 with a rate, has come to at t: d, d' and d''."""
    z = rises * t**2
    root = np.sqrt(np.abs(z))
    near = root < 0.1
    safe = np.where(near, 1.0, root)
    up = z > 0.0
    # cosh and sinh(x)/x, or cos and sin(x)/x; (cosh - 1)/x^2 as half of a square
    half = 0.5 * safe
    cosine = np.where(up, np.cosh(safe), np.cos(safe))
    sine = np.where(up, np.sinh(safe), np.sin(safe)) / safe
    lift = 0.5 * (np.where(up, np.sinh(half), np.sin(half)) / half) ** 2
    cosine = np.where(
        near, 1.0 + z * (0.5 + z * (1.0 / 24.0 + z * (1.0 / 720.0 + z / 40320.0))), cosine
    )
    sine = np.where(
        near, 1.0 + z * (1.0 / 6.0 + z * (1.0 / 120.0 + z * (1.0 / 5040.0 + z / 362880.0))), sine
    )
    lift = np.where(
        near, 0.5 + z * (1.0 / 24.0 + z * (1.0 / 720.0 + z * (1.0 / 40320.0 + z / 3628800.0))), lift
    )
    gone = rate * t * sine + change * t**2 * lift
    return gone, rate * cosine + change * t * sine, rises * gone + change


class MotionPart(Protocol):
    """A motion along a piece of a path."""

    @property
    def piece(self) -> Piece:
        """That piece."""

    @property
    def times(self) -> FloatArray:
        """(N + 1,) [s] between which the motion is smooth, from its start."""

    def at(self, t: FloatArray, /) -> tuple[FloatArray, FloatArray, FloatArray]:
        """s, its rate and its acceleration at times t (K,) from the start."""


class Limited(NamedTuple):
    """What limits the motion, from a time [s] to another."""

    start: float
    end: float
    what: str


class TimeOptimal(RowTrajectory):
    """The fastest motion along a path; a trajectory. See `time_optimal`.

    Attributes:
        gap: by how much of its duration it may be longer than the shortest, at most; NaN with
            limits of jerk or of the efforts' rates, where it is shorter than those nearby.
        limiting: what limits it, in time order.
    """

    def __init__(
        self, timed: Sequence[MotionPart], gap: float = 0.0, limiting: tuple[Limited, ...] = ()
    ) -> None:
        self.gap, self.limiting = gap, limiting
        self._timed = timed
        self._starts = np.concatenate([[0.0], np.cumsum([part.times[-1] for part in timed])])
        self.of_body = any(part.piece.of_body for part in timed)
        lengths = np.array([part.piece.length for part in timed])
        self._lengths = np.concatenate([[0.0], np.cumsum(lengths)]) / lengths.sum()

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self._starts[-1])

    @property
    def switching_times(self) -> tuple[float, ...]:
        """Times [s] at which the acceleration along the path changes: those of the inner nodes."""
        parts = zip(self._starts[:-1], self._timed, strict=True)
        times = np.unique(np.concatenate([start + part.times for start, part in parts]))
        return tuple(times[(times > 0.0) & (times < self.duration)].tolist())

    def _rows(self, t: FloatArray) -> Motion:
        inside = np.clip(t, 0.0, self.duration)
        out = sampled_by_parts(
            self._part_at(inside),
            lambda k, rows: _sampled(self._timed[k], inside[rows] - self._starts[k]),
        )
        outside = (t < 0.0) | (t > self.duration)
        out.velocity[outside] = 0.0
        # where it comes to rest it stays: it does not begin to go back, as braking further would
        resting = (t >= self.duration) & (np.abs(out.velocity).max(axis=-1, initial=0.0) < REST)
        out.acceleration[outside | resting] = 0.0
        return out

    def _part_at(self, t: FloatArray) -> Indices:
        """The part that each time (...) belongs to."""
        after = np.searchsorted(self._starts, t, side="right") - 1
        return np.clip(after, 0, len(self._timed) - 1)

    def progress(self, t: ArrayLike) -> FloatArray:
        """How far along the path (...) it is at times t (...) [s], by arc length from 0 to 1."""
        times = np.clip(as_array("t", t, (), "s"), 0.0, self.duration)
        which = self._part_at(times)
        out = np.empty(times.shape)
        for k in np.unique(which):
            here = which == k
            s = self._timed[k].at(np.atleast_1d(times[here] - self._starts[k]))[0]
            out[here] = self._lengths[k] + (self._lengths[k + 1] - self._lengths[k]) * s
        return out


def node_times(steps: FloatArray, x: FloatArray) -> FloatArray:
    """Times (N + 1,) [s] of the nodes."""
    speed = np.sqrt(x)
    return np.concatenate([[0.0], np.cumsum(2.0 * steps / (speed[1:] + speed[:-1]))])


def _sampled(part: MotionPart, t: FloatArray) -> Motion:
    s, speed, acceleration = part.at(t)
    return retimed(part.piece.curve.sample(s), speed, acceleration)


def shares_of_time(motion: TimeOptimal) -> dict[str, float]:
    """What limits a motion, and for which share of its duration; the longest first."""
    shares: dict[str, float] = {}
    for part in motion.limiting:
        share = (part.end - part.start) / motion.duration
        shares[part.what] = shares.get(part.what, 0.0) + share
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def timed_smoothly(
    piece: Piece, easing: Easing, nodes: FloatArray, spline: SpeedSpline, c: FloatArray
) -> TimedSmoothly:
    """The motion whose (dr/dt)^2 is a spline of coefficients c over nodes r (N + 1,)."""
    ends, slopes = spline.at(c, np.array([0.0, 1.0]))
    y = np.append(ends[:, 0], ends[-1, 1])
    slope = np.append(slopes[:, 0], slopes[-1, 1])
    h = np.diff(nodes)
    rises = 0.5 * np.diff(slope) / h
    t = 2.0 * h / (np.sqrt(y[1:]) + np.sqrt(y[:-1]))
    for _ in range(20):
        gone, rate, _ = _moved(np.sqrt(y[:-1]), 0.5 * slope[:-1], rises, t)
        step = (gone - h) / rate
        t = t - step
        if (np.abs(step) <= 1e-15 * t).all():
            break
    return TimedSmoothly(piece, easing, nodes, y, slope, np.concatenate([[0.0], np.cumsum(t)]))
