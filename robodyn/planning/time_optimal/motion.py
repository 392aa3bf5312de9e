# SPDX-License-Identifier: Apache-2.0

"""Trajectories along a path with the computed speed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray, Indices
from robodyn.checks import as_array
from robodyn.planning.time_optimal.easing import Easing
from robodyn.planning.time_optimal.path import Piece
from robodyn.planning.time_optimal.program import SpeedSpline
from robodyn.trajectories.base import Motion, RowTrajectory, convert_to_time
from robodyn.trajectories.sequence import Sequence

# Speed [m/s, rad/s] below which a motion counts as rest.
REST = 1e-9


class PathTiming(RowTrajectory):
    """Base class of time profiles along one piece of a path.

    Args:
        piece: piece of the path.
        times: (N + 1,) [s] times from the start of the piece, between which the motion is smooth.
    """

    def __init__(self, piece: Piece, times: FloatArray) -> None:
        self.piece, self.times, self.of_body = piece, times, piece.of_body
        self.duration = float(times[-1])
        self.switching_times = tuple(times[1:-1].tolist())

    def at(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Compute path parameter s, speed s' and acceleration s'' at times (K,) [s].

        The times count from the start of the piece. Each result is (K,).
        """
        raise NotImplementedError

    def _rows(self, t: FloatArray) -> Motion:
        s, speed, acceleration = self.at(t)
        return convert_to_time(self.piece.curve.sample(s), speed, acceleration)


class PiecewiseTiming(PathTiming):
    """Motion along a piece of a path, with constant s'' between its nodes.

    `x` (N + 1,) contains the squared path speeds s'^2 at the nodes.
    """

    def __init__(self, piece: Piece, x: FloatArray) -> None:
        speed = np.sqrt(x)
        gone = np.cumsum(2.0 * np.diff(piece.nodes) / (speed[1:] + speed[:-1]))
        super().__init__(piece, np.concatenate([[0.0], gone]))
        self._x = x

    def at(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Compute path parameter s, speed s' and acceleration s'' at times (K,) [s].

        The times count from the start of the piece. Each result is (K,).
        """
        nodes, x, times = self.piece.nodes, self._x, self.times
        k = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
        acceleration = 0.5 * (x[k + 1] - x[k]) / (nodes[k + 1] - nodes[k])
        dt = t - times[k]
        speed = np.sqrt(x[k]) + acceleration * dt
        s = nodes[k] + dt * (np.sqrt(x[k]) + 0.5 * acceleration * dt)
        at_end = t >= times[-1]
        speed = np.where(at_end, np.sqrt(x[-1]), np.maximum(speed, 0.0))
        return np.where(at_end, 1.0, np.clip(s, nodes[k], nodes[k + 1])), speed, acceleration


class SmoothTiming(PathTiming):
    """Motion along a piece of a path, with continuous acceleration.

    Args:
        piece: piece of the path.
        easing: map s = g(r).
        nodes: (N + 1,) values of r at the ends of the intervals.
        spline, c: spline of (dr/dt)^2 over r, and its coefficients.
    """

    def __init__(
        self, piece: Piece, easing: Easing, nodes: FloatArray, spline: SpeedSpline, c: FloatArray
    ) -> None:
        ends, slopes = spline.at(c, np.array([0.0, 1.0]))
        y = np.append(ends[:, 0], ends[-1, 1])
        self._easing, self._nodes = easing, nodes
        self._rate = np.sqrt(y)
        self._change = 0.5 * np.append(slopes[:, 0], slopes[-1, 1])
        h = np.diff(nodes)
        self._rises = np.diff(self._change) / h
        t = 2.0 * h / (self._rate[1:] + self._rate[:-1])
        every = np.arange(len(h))
        for _ in range(20):
            gone, rate, _ = self._displacement(every, t)
            step = (gone - h) / rate
            t = t - step
            if (np.abs(step) <= 1e-15 * t).all():
                break
        super().__init__(piece, np.concatenate([[0.0], np.cumsum(t)]))

    def at(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Compute path parameter s, speed s' and acceleration s'' at times (K,) [s].

        The times count from the start of the piece. Each result is (K,).
        """
        nodes, times = self._nodes, self.times
        k = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
        gone, rate, change = self._displacement(k, np.minimum(t, times[-1]) - times[k])
        s, first, second, _ = self._easing.at(np.clip(nodes[k] + gone, nodes[k], nodes[k + 1]))
        return s, first * rate, first * change + second * rate**2

    def _displacement(self, k: Indices, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Compute r minus its value at the start of an interval, dr/dt and d2r/dt2.

        `k` (K,) are interval indices, and `t` (K,) [s] times from the start of these intervals.
        """
        rate, change, rises = self._rate[k], self._change[k], self._rises[k]
        z = rises * t**2
        cosine = np.cosh(np.sqrt(z + 0j)).real
        sine, lift = _sinhc(z), 0.5 * _sinhc(0.25 * z) ** 2
        gone = rate * t * sine + change * t**2 * lift
        return gone, rate * cosine + change * t * sine, rises * gone + change


def _sinhc(square: FloatArray) -> FloatArray:
    """Compute sinh(x)/x from x^2; for a negative x^2, this is sin(|x|)/|x|."""
    x = np.sqrt(np.where(square == 0.0, np.finfo(float).tiny, square) + 0j)
    return np.asarray((np.sinh(x) / x).real)


class ActiveLimit(NamedTuple):
    """Limit that a motion reaches between two times.

    Attributes:
        start, end: [s] times from the start of the motion between which the limit is reached.
        what: name of the limit.
    """

    start: float
    end: float
    what: str


@dataclass(frozen=True, eq=False, repr=False)
class TimeOptimal(Sequence):
    """Trajectory of the fastest motion along a path, see `time_optimal`.

    Attributes:
        segments: motions along the path's pieces.
        gap: upper bound of the difference from the optimal duration, relative to the duration; NaN
            with limits of jerk or effort rates, because the motion is then a local optimum.
        limiting: limits that the motion reaches, in order of time.
    """

    segments: tuple[PathTiming, ...]
    gap: float
    limiting: tuple[ActiveLimit, ...]

    def __repr__(self) -> str:
        return (
            f"TimeOptimal({self.duration:.6g} s, gap {self.gap:.2g}, {len(self.limiting)} limits)"
        )

    def _rows(self, t: FloatArray) -> Motion:
        out = super()._rows(np.clip(t, 0.0, self.duration))
        outside = (t < 0.0) | (t > self.duration)
        out.velocity[outside] = 0.0
        # at a rest the motion ends: further braking would reverse it
        resting = (t >= self.duration) & (np.abs(out.velocity).max(axis=-1, initial=0.0) < REST)
        out.acceleration[outside | resting] = 0.0
        return out

    def progress(self, t: ArrayLike) -> FloatArray:
        """Compute the traveled fraction of the path's arc length.

        Args:
            t: times (...) [s] from the start of the motion.

        Returns:
            Fractions (...) of the whole path, 0 to 1.
        """
        times = np.asarray(np.clip(as_array("t", t, (), "s"), 0.0, self.duration))
        which = np.searchsorted(self.starts, times, side="right") - 1
        out = np.empty(times.shape)
        for k, (part, start) in enumerate(zip(self.segments, self.starts, strict=True)):
            here = which == k
            out[here] = part.piece.fraction(part.at(times[here] - start)[0])
        return out


def time_fractions(motion: TimeOptimal) -> dict[str, float]:
    """Return the fraction of the duration for which a motion is at each of its limits.

    Returns:
        Fractions by name of the limit, largest first.
    """
    fractions: dict[str, float] = {}
    for part in motion.limiting:
        fraction = (part.end - part.start) / motion.duration
        fractions[part.what] = fractions.get(part.what, 0.0) + fraction
    return dict(sorted(fractions.items(), key=lambda item: -item[1]))
