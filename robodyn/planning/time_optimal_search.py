# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The fastest motion along a piece of a path, verified between the points it was found at."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robodyn.planning.kernels.interior_point import LOWERED, shortened
from robodyn.planning.kernels.reachability import controllable, fastest
from robodyn.planning.time_optimal_terms import IMPOSED, KEPT, VERIFIED

if TYPE_CHECKING:
    from collections.abc import Callable

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.planning.kernels.intervals import Intervals
    from robodyn.planning.time_optimal_limits import Limits
    from robodyn.planning.time_optimal_terms import Along

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
    problem = given._replace(
        upper=given.upper.copy(),
        lower=given.lower.copy(),
        bounds=given.bounds.copy(),
        caps=given.caps.copy(),
    )
    gap, improves = 0.0, False
    best: FloatArray | None = None
    for attempt in range(ROUNDS):
        if tell is not None:
            tell(attempt / (attempt + 2.0))
        try:
            x, _, high = _reached(problem, ends)
        except Failed as failed:
            if attempt == 0:
                raise
            raise Unverified(failed.interval) from failed
        if attempt == 0:
            gap = _gap(problem, ends, x, high)
            improves = gap > GAP
        if improves and (better := _improved(problem, ends, x)) is not None:
            shorter = 1.0 - time_of(problem.steps, better) / time_of(problem.steps, x)
            improves = shorter > WORTH
            # the barrier bounds what the better one misses; the other misses by how much it is
            # longer besides, and is what later rounds find
            gap = min(gap, LEFT + (0.0 if improves else max(shorter, 0.0)))
            x = better if shorter > 0.0 else x
        best = x
        square = x[:-1, None] + np.diff(x)[:, None] * VERIFIED
        acceleration = (0.5 * np.diff(x) / path.steps)[:, None]
        if not tighten(mechanism, path, problem, limits, wrench, square, acceleration, peak):
            return Found(x, gap)
    assert best is not None
    raise Unverified(int(np.argmax(best)))


def unverified(problem: Intervals, ends: tuple[float, float]) -> FloatArray:
    """Squares of the speed (N + 1,) of a fast motion that keeps to its limits at the points.

    Raises:
        Failed: there is none.
    """
    return _reached(problem, ends)[0]


def _reached(problem: Intervals, ends: tuple[float, float]) -> tuple[FloatArray, ...]:
    low, high = np.zeros(len(problem.caps)), np.zeros(len(problem.caps))
    low[-1] = high[-1] = ends[1]
    failed = controllable(problem, low, high)
    if failed >= 0:
        raise Failed(failed, forward=False)
    if not low[0] * (1.0 - 1e-9) <= ends[0] <= high[0] * (1.0 + 1e-9):
        raise Failed(0, forward=True)
    x = np.zeros(len(low))
    x[0] = min(ends[0], high[0])
    failed = fastest(problem, low, high, x)
    if failed >= 0:
        raise Failed(failed, forward=True)
    return x, low, high


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
    if controllable(reverse, low, come) >= 0:
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
            inside, _, _ = _reached(narrow, ends)
        except Failed:
            continue
        better: FloatArray = inside.copy()
        better[1:-1] *= 1.0 - 1e-6
        time = time_of(problem.steps, x)
        weight = BARRIER * time / (6.0 * problem.terms.shape[2] * len(problem.steps))
        shortened(problem, better, weight, LOWERINGS)
        return better
    return None


def tighten(
    mechanism: Mechanism,
    path: Along,
    problem: Intervals,
    limits: Limits,
    wrench: FloatArray | None,
    square: FloatArray,
    acceleration: FloatArray,
    peak: Callable[[FloatArray], FloatArray],
) -> bool:
    """Tighten limits in and around intervals that exceed them; False where none does.

    Squares (N, M) of the speed are those at the places that are verified, and the acceleration
    along the path (N, M), or (N, 1) where it is constant; `peak` finds the largest (N, k) in
    intervals of values (N, M, k) at these places.
    """
    speed = np.sqrt(square)
    effort = mechanism.inverse_dynamics(
        path.motion.configuration,
        path.motion.velocity * speed[..., None],
        path.motion.velocity * acceleration[..., None]
        + path.motion.acceleration * square[..., None],
        wrench,
    )
    rates = path.rates * speed[..., None]
    available = limits.curves.at(rates) if limits.curves.counts.any() else np.inf
    least, most = (
        (1.0 - KEPT) * np.maximum(limits.effort[:, 0], -available),
        (1.0 - KEPT) * np.minimum(limits.effort[:, 1], available),
    )
    size = np.maximum(np.abs(limits.effort), 1e-12).T
    turned = path.turned
    above = peak((effort + np.maximum(turned, 0.0) - most) / size[1])
    below = peak((least - effort - np.minimum(turned, 0.0)) / size[0])
    joints = effort.shape[-1]
    exceeded = _raised(problem.upper[:, :joints], above, effort[:, IMPOSED].max(axis=1), -size[1])
    exceeded |= _raised(problem.lower[:, :joints], below, effort[:, IMPOSED].min(axis=1), size[0])
    accelerated = np.flatnonzero(np.isfinite(limits.acceleration))
    if accelerated.size:
        bound = (1.0 - KEPT) * limits.acceleration[accelerated]
        values = path.rates * acceleration[..., None] + path.bends * square[..., None]
        values = values[..., accelerated]
        above, below = peak(values / bound - 1.0), peak(-values / bound - 1.0)
        reached = values[:, IMPOSED]
        exceeded |= _raised(problem.upper[:, joints:], above, reached.max(axis=1), -bound)
        exceeded |= _raised(problem.lower[:, joints:], below, reached.min(axis=1), bound)
    fast = np.concatenate(
        [np.abs(rates) / limits.velocity, (path.tip * speed / limits.tip_speed)[..., None]], axis=-1
    )
    excess = peak(fast).max(axis=-1) - (1.0 - KEPT)
    if (excess > ROUNDING).any():
        exceeded = True
        slower = 1.0 - 2.0 * MORE * around(excess)
        problem.bounds[:] *= slower[:, None]
        problem.caps[:-1] = np.minimum(problem.caps[:-1], problem.bounds[:, 0])
        problem.caps[1:] = np.minimum(problem.caps[1:], problem.bounds[:, -1])
    return bool(exceeded)


def peak(values: FloatArray) -> FloatArray:
    """The largest (N, k) of values (N, M, k) and of the parabolas through three of them."""
    highest = values.max(axis=1)
    for j in range(1, len(VERIFIED) - 1):
        a, b = VERIFIED[j] - VERIFIED[j - 1], VERIFIED[j + 1] - VERIFIED[j]
        left = (values[:, j] - values[:, j - 1]) / a
        right = (values[:, j + 1] - values[:, j]) / b
        bend = (right - left) / (a + b)
        slope = (left * b + right * a) / (a + b)
        with np.errstate(divide="ignore", invalid="ignore"):
            at = -0.5 * slope / bend
            inside = (bend < 0.0) & (at > -a) & (at < b)
            top = values[:, j] + 0.5 * slope * at
        highest = np.where(inside, np.maximum(highest, top), highest)
    return np.asarray(highest)


def around(excess: FloatArray) -> FloatArray:
    """The largest of an interval and its neighbours, never negative."""
    wide = np.maximum(excess, 0.0)
    out: FloatArray = wide.copy()
    out[1:] = np.maximum(out[1:], wide[:-1])
    out[:-1] = np.maximum(out[:-1], wide[1:])
    return out


def _raised(limit: FloatArray, excess: FloatArray, reached: FloatArray, size: FloatArray) -> bool:
    """Move limits (N, k) inwards from what was reached by excesses of `size`; whether any was."""
    if not (excess > ROUNDING).any():
        return False
    # a limit that is not reached at the points would not act if it moved a little
    nearer = np.minimum(limit, reached) if (size < 0.0).all() else np.maximum(limit, reached)
    limit[:] = np.where(excess > 0.0, nearer + MORE * excess * size, limit)
    return True
