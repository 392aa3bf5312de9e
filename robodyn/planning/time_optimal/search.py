# SPDX-License-Identifier: Apache-2.0

"""The fastest motion along a piece of a path, verified between the points it was found at."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robodyn.planning.kernels.interior_point import LOWERED, shortened
from robodyn.planning.kernels.peaks import peaks
from robodyn.planning.kernels.reachability import controllable, fastest
from robodyn.planning.time_optimal.terms import KEPT, KEPT_OF_SPEED, VERIFIED

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.planning.kernels.intervals import Intervals
    from robodyn.planning.time_optimal.limits import Limits
    from robodyn.planning.time_optimal.terms import Along

# Times that limits are tightened where a motion exceeds them between the points.
ROUNDS = 24
# Of a limit, and of what is kept back of it: an excess that is left, as tightening never ends else.
ROUNDING = 1e-6
# By how much more than an excess a limit is tightened.
MORE = 1.2
# Of the time: how much longer than a bound from below a motion may be without being improved.
GAP = 2e-3
# Of the time: an improvement by less is not made again after limits were tightened.
WORTH = 5e-4
# Shares by which limits are narrowed for a motion strictly within them.
NARROWED = (0.01, 1e-3, 1e-4)
# The interior-point method: weight of the barrier, of the time over the number of limits.
BARRIER = 0.3
LOWERINGS = 5
LEFT = BARRIER * LOWERED ** (LOWERINGS - 1)


class Failed(Exception):
    """No speed is possible in an interval: its index."""

    def __init__(self, interval: int, forward: bool) -> None:
        super().__init__(interval)
        self.interval, self.forward = interval, forward


class Unverified(Exception):
    """Tightened until the limits hold between the points, they leave no motion, or go on failing.

    Its argument is the interval. On finer intervals less has to be tightened.
    """


class Found(NamedTuple):
    """Squares of the speed (N + 1,), and by how much [of the time] it may miss the optimum."""

    x: FloatArray
    gap: float


def time_of(steps: FloatArray, x: FloatArray) -> float:
    """[s]."""
    speed = np.sqrt(x)
    return float((2.0 * steps / (speed[1:] + speed[:-1])).sum())


def fastest_within(
    mechanism: Mechanism,
    path: Along,
    given: Intervals,
    limits: Limits,
    wrench: FloatArray | None,
    ends: tuple[float, float],
    tell: Callable[[float], None] | None = None,
) -> Found:
    """The fastest motion that keeps to the limits between points, too; `tell` hears of progress.

    Raises:
        Failed: there is none.
        Unverified: on these intervals there is none that keeps to them.
    """
    problem = with_own_limits(given)
    reached = Reached(problem, ends)
    verification = Verification(mechanism, path, limits, wrench)
    gap, improves = 0.0, False
    for attempt in range(ROUNDS):
        if tell is not None:
            tell(attempt / (attempt + 2.0))
        try:
            reached.find()
        except Failed as failed:
            if attempt == 0:
                raise
            raise Unverified(failed.interval) from failed
        x = reached.x
        if attempt == 0:
            gap = _gap(problem, ends, x, reached.high)
            improves = gap > GAP
        if improves and (better := _improved(problem, ends, x)) is not None:
            shorter = 1.0 - time_of(problem.steps, better) / time_of(problem.steps, x)
            improves = shorter > WORTH
            # the barrier bounds what the better one misses; the other misses by how much it is
            # longer besides, and is what later rounds find
            gap = min(gap, LEFT + (0.0 if improves else max(shorter, 0.0)))
            x = better if shorter > 0.0 else x
        if not verification.tighten(problem, x, reached.stale):
            return Found(x, gap)
    raise Unverified(int(np.argmax(x)))


def with_own_limits(problem: Intervals) -> Intervals:
    """The same, with limits that may be tightened without touching those that were given."""
    return problem._replace(
        upper=problem.upper.copy(),
        lower=problem.lower.copy(),
        bounds=problem.bounds.copy(),
        caps=problem.caps.copy(),
    )


def unverified(problem: Intervals, ends: tuple[float, float]) -> FloatArray:
    """Squares of the speed (N + 1,) of a fast motion that keeps to its limits at the points.

    Raises:
        Failed: there is none.
    """
    reached = Reached(problem, ends)
    reached.find()
    return reached.x


class Reached:
    """The motion found by reachability, found again where limits have changed.

    Attributes:
        low, high: (N + 1,) least and largest x from which the end can be reached.
        x: (N + 1,) of the motion; a new array each time.
        stale: (N,) which intervals are to be looked at: those whose limits have changed.
    """

    def __init__(self, problem: Intervals, ends: tuple[float, float]) -> None:
        count = len(problem.steps)
        self._problem, self._ends = problem, ends
        self.low, self.high, self.x = np.zeros((3, count + 1))
        self.low[-1] = self.high[-1] = ends[1]
        self.stale = np.ones(count, dtype=bool)

    def find(self) -> None:
        """Find the motion.

        Raises:
            Failed: there is none.
        """
        problem, ends, low, high = self._problem, self._ends, self.low, self.high
        failed = controllable(problem, low, high, self.stale)
        if failed >= 0:
            raise Failed(failed, forward=False)
        if not low[0] * (1.0 - 1e-9) <= ends[0] <= high[0] * (1.0 + 1e-9):
            raise Failed(0, forward=True)
        x: FloatArray = self.x.copy()
        start = min(ends[0], high[0])
        self.stale[0] |= start != x[0]
        x[0] = start
        failed = fastest(problem, low, high, x, self.stale)
        if failed >= 0:
            raise Failed(failed, forward=True)
        self.x = x
        self.stale[:] = False


def _gap(problem: Intervals, ends: tuple[float, float], x: FloatArray, high: FloatArray) -> float:
    """By how much, of the time, a motion may be longer than the shortest.

    No motion passes a place faster than from where it can still stop at the end, nor faster than
    it can come from the start: the same, of the path reversed.
    """
    terms = np.ascontiguousarray(problem.terms[::-1, ::-1])
    terms[..., 0] *= -1.0
    reverse = problem._replace(
        steps=np.ascontiguousarray(problem.steps[::-1]),
        terms=terms,
        upper=np.ascontiguousarray(problem.upper[::-1]),
        lower=np.ascontiguousarray(problem.lower[::-1]),
        bounds=np.ascontiguousarray(problem.bounds[::-1, ::-1]),
        caps=np.ascontiguousarray(problem.caps[::-1]),
    )
    low, come = np.zeros(len(x)), np.zeros(len(x))
    low[-1] = come[-1] = ends[0]
    if controllable(reverse, low, come, np.ones(len(x) - 1, dtype=bool)) >= 0:
        return np.inf
    least = time_of(problem.steps, np.maximum(np.minimum(high, come[::-1]), x))
    return time_of(problem.steps, x) / least - 1.0


def _improved(problem: Intervals, ends: tuple[float, float], x: FloatArray) -> FloatArray | None:
    """A motion by Newton's method from one strictly within the limits; None without such a one."""
    for share in NARROWED:
        middle = 0.5 * (problem.upper + problem.lower)
        half = np.where(np.isfinite(middle), 0.5 * (problem.upper - problem.lower), 0.0)
        narrow = problem._replace(
            upper=problem.upper - share * half,
            lower=problem.lower + share * half,
            bounds=(1.0 - share) * problem.bounds,
            caps=(1.0 - share) * problem.caps,
            efforts=(1.0 - share) * problem.efforts,
        )
        try:
            better = unverified(narrow, ends)
        except Failed:
            continue
        better[1:-1] *= 1.0 - 1e-6
        time = time_of(problem.steps, x)
        weight = BARRIER * time / (6.0 * problem.terms.shape[2] * len(problem.steps))
        shortened(problem, better, weight, LOWERINGS)
        return better
    return None


class Verification:
    """Efforts, rates and accelerations between the points of a motion, against their limits.

    A motion is looked at where it differs from the one before it, and where that exceeded limits.
    `highest` finds the largest (N, k) in intervals of values (N, M, k) at the places of the path.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        path: Along,
        limits: Limits,
        wrench: FloatArray | None,
        highest: Callable[[FloatArray], FloatArray] | None = None,
    ) -> None:
        self._mechanism, self._path, self._limits, self._wrench = mechanism, path, limits, wrench
        self._highest = peak if highest is None else highest
        self._accelerated = np.flatnonzero(np.isfinite(limits.acceleration))
        count, joints = len(path.steps), path.rates.shape[-1]
        # of efforts, then of accelerations: the largest and the least value at the points where
        # limits are imposed, and the shares by which they are exceeded
        self._sizes = np.concatenate(
            [
                np.maximum(np.abs(limits.effort), 1e-12).T,
                np.tile((1.0 - KEPT) * limits.acceleration[self._accelerated], (2, 1)),
            ],
            axis=1,
        )
        shape = count, joints + len(self._accelerated)
        self._most, self._least, self._above, self._below = np.zeros((4, *shape))
        self._fast = np.zeros(count)
        self._x: FloatArray | None = None

    def tighten(self, problem: Intervals, x: FloatArray, changed: NDArray[np.bool_]) -> bool:
        """Tighten limits in and around intervals that exceed them; False where none does.

        Intervals whose limits are tightened are marked in `changed` (N,).
        """
        rows = self._differing(x)
        self._x = x
        begin, change = x[:-1][rows, None], np.diff(x)[rows, None]
        acceleration = 0.5 * change / self._path.steps[rows, None]
        self._look(rows, begin + change * VERIFIED, acceleration)
        return self._tightened(problem, changed)

    def tighten_at(self, problem: Intervals, square: FloatArray, acceleration: FloatArray) -> bool:
        """As `tighten`, of squares of the speed and accelerations (N, M) at the places."""
        self._look(slice(None), square, acceleration)
        return self._tightened(problem, np.zeros(len(square), dtype=bool))

    def _tightened(self, problem: Intervals, changed: NDArray[np.bool_]) -> bool:
        """Tighten what was seen to be exceeded, see `tighten`."""
        least, most = self._sizes
        exceeded = _raised(problem.upper, self._above, self._most, -most, changed)
        exceeded |= _raised(problem.lower, self._below, self._least, least, changed)
        if (self._fast > ROUNDING).any():
            exceeded = True
            slower = 1.0 - 2.0 * MORE * around(self._fast)
            problem.bounds[:] *= slower[:, None]
            problem.caps[:-1] = np.minimum(problem.caps[:-1], problem.bounds[:, 0])
            problem.caps[1:] = np.minimum(problem.caps[1:], problem.bounds[:, -1])
            slowed = slower < 1.0
            changed |= slowed
            changed[1:] |= slowed[:-1]
        return exceeded

    def _differing(self, x: FloatArray) -> NDArray[np.intp] | slice:
        """Intervals to look at."""
        if self._x is None:
            return slice(None)
        moved = x != self._x
        differs = moved[1:] | moved[:-1] | (self._fast > 0.0)
        differs |= (self._above > 0.0).any(axis=1) | (self._below > 0.0).any(axis=1)
        return np.flatnonzero(differs)

    def _look(
        self, rows: NDArray[np.intp] | slice, square: FloatArray, acceleration: FloatArray
    ) -> None:
        """Fill what is known of some intervals, by squares of the speed and accelerations there."""
        path, limits, highest = self._path, self._limits, self._highest
        speed = np.sqrt(square)[..., None]
        square, acceleration = square[..., None], acceleration[..., None]
        q, u, w = (values[rows] for values in path.motion)
        effort = self._mechanism.inverse_dynamics(
            q, u * speed, u * acceleration + w * square, self._wrench
        )
        slopes, turned = path.rates[rows], path.turned[rows]
        rates = slopes * speed
        available = limits.curves.at(rates) if limits.curves.counts.any() else np.inf
        least, most = (
            (1.0 - KEPT) * np.maximum(limits.effort[:, 0], -available),
            (1.0 - KEPT) * np.minimum(limits.effort[:, 1], available),
        )
        joints = effort.shape[-1]
        size = self._sizes[:, :joints]
        values = [effort]
        with np.errstate(invalid="ignore"):  # of efforts without limits
            above = [(effort + np.maximum(turned, 0.0) - most) / size[1]]
            below = [(least - effort - np.minimum(turned, 0.0)) / size[0]]
        if self._accelerated.size:
            driven = (slopes * acceleration + path.bends[rows] * square)[..., self._accelerated]
            shares = driven / self._sizes[0, joints:]
            values.append(driven)
            above.append(shares - 1.0)
            below.append(-shares - 1.0)
        imposed = np.concatenate(values, axis=-1)[:, path.imposed]
        self._most[rows], self._least[rows] = imposed.max(axis=1), imposed.min(axis=1)
        self._above[rows] = highest(np.concatenate(above, axis=-1))
        self._below[rows] = highest(np.concatenate(below, axis=-1))
        tip = path.tip[rows][..., None] * speed / limits.tip_speed
        fast = np.concatenate([np.abs(rates) / limits.velocity, tip], axis=-1)
        self._fast[rows] = highest(fast).max(axis=-1) - (1.0 - KEPT_OF_SPEED)


def peak(values: FloatArray) -> FloatArray:
    """The largest (N, k) of values (N, M, k) at `VERIFIED`, and of parabolas through three."""
    out = np.empty((values.shape[0], values.shape[2]))
    peaks(np.ascontiguousarray(values), VERIFIED, out)
    return out


def around(excess: FloatArray) -> FloatArray:
    """The largest of an interval and its neighbours, never negative."""
    wide = np.maximum(excess, 0.0)
    out: FloatArray = wide.copy()
    out[1:] = np.maximum(out[1:], wide[:-1])
    out[:-1] = np.maximum(out[:-1], wide[1:])
    return out


def _raised(
    limit: FloatArray,
    excess: FloatArray,
    reached: FloatArray,
    size: FloatArray,
    changed: NDArray[np.bool_],
) -> bool:
    """Move limits (N, k) inwards from what was reached by excesses of `size`; whether any was.

    Marks in `changed` (N,) where.
    """
    if not (excess > ROUNDING).any():
        return False
    # a limit that is not reached at the points would not act if it moved a little
    nearer = np.minimum(limit, reached) if (size < 0.0).all() else np.maximum(limit, reached)
    moved = excess > 0.0
    limit[:] = np.where(moved, nearer + MORE * excess * size, limit)
    changed |= moved.any(axis=1)
    return True
