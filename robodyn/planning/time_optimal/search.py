# SPDX-License-Identifier: Apache-2.0

"""Search for the fastest motion along a piece of a path, verified between the points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.planning.kernels.intervals import Intervals
from robodyn.planning.kernels.reachability import controllable, fastest
from robodyn.planning.time_optimal.constraints.all import Constraints
from robodyn.planning.time_optimal.interior_point import minimize_duration
from robodyn.planning.time_optimal.motion import PathTiming, PiecewiseTiming
from robodyn.planning.time_optimal.path import Piece
from robodyn.planning.time_optimal.program import SpeedSpline, program_of
from robodyn.planning.time_optimal.sampled_path import SampledPath
from robodyn.planning.time_optimal.verification import Verification

# Largest number of rounds that tighten limits which a motion exceeds between the points.
ROUNDS = 24
# Relative gap to a lower bound on the duration above which a motion is improved.
GAP = 2e-3
# Relative improvement below which it is not repeated after limits were tightened.
WORTH = 5e-4
# Fractions by which limits are narrowed to find a motion strictly within them.
NARROWED = (0.01, 1e-3, 1e-4)

# Newton decrement, relative to the gap, above which `minimize_duration` keeps the barrier's weight.
CENTERED = 0.03


class SearchFailed(Exception):
    """Error raised if no path speed is feasible in an interval.

    Attributes:
        interval: index of the interval.
        forward: whether the forward pass failed, which starts from the speed at the start of the
            piece; otherwise the end cannot be reached from the interval.
    """

    def __init__(self, interval: int, forward: bool) -> None:
        super().__init__(interval)
        self.interval, self.forward = interval, forward


class UnverifiedMotion(Exception):
    """Error raised if a motion cannot be verified on the given intervals.

    Limits are tightened so that they also hold between the points. Either the motion still exceeds
    them there, or the tightened limits allow no motion. The argument is the index of the interval.
    Finer intervals require less tightening.
    """


class PieceMotion(NamedTuple):
    """Result of a search: the fastest motion along a piece of a path.

    Attributes:
        timed: motion along the piece.
        gap: upper bound of the difference from the shortest possible duration, relative to the
            duration.
        middle: squared path speeds s'^2 (N,) and path accelerations s'' (N,) at interval midpoints.
        used: (N, K) limited rates of change as fractions of their limits; None without such limits.
    """

    timed: PathTiming
    gap: float
    middle: tuple[FloatArray, FloatArray]
    used: FloatArray | None = None


def find_fastest_motion(
    path: SampledPath,
    given: Intervals,
    constraints: Constraints,
    piece: Piece,
    report_progress: Callable[[float], None],
) -> PieceMotion:
    """Find the fastest motion along a piece within limits, also between the points.

    Args:
        path: samples of the piece.
        given: limits in its intervals.
        constraints: all limits, for verification between the points.
        piece: piece of the path.
        report_progress: called with the progress from 0 to 1.

    Returns:
        The fastest motion along the piece.

    Raises:
        SearchFailed: no motion exists within the limits.
        UnverifiedMotion: no motion was verified on these intervals.
    """
    ends = piece.ends
    problem = copy_limits(given)
    reached = ReachableMotion(problem, ends)
    verification = Verification(path, constraints)
    spline = SpeedSpline(problem.steps, 2)
    gap, improves = 0.0, False
    for attempt in range(ROUNDS):
        report_progress(attempt / (attempt + 2.0))
        try:
            reached.find()
        except SearchFailed as failed:
            if attempt == 0:
                raise
            raise UnverifiedMotion(failed.interval) from failed
        x = reached.x
        if attempt == 0:
            gap = _optimality_gap(problem, ends, x, reached.high)
            improves = gap > GAP
        if improves and (found := _optimize_locally(problem, ends)) is not None:
            better, missed = found
            shorter = 1.0 - spline.time(better) / spline.time(x)
            improves = shorter > WORTH
            # the gap of the other includes its longer duration; later rounds find this one
            gap = min(gap, missed + (0.0 if improves else max(shorter, 0.0)))
            x = better if shorter > 0.0 else x
        if not verification.tighten(problem, x, reached.stale):
            middle = 0.5 * (x[1:] + x[:-1]), 0.5 * np.diff(x) / path.steps
            return PieceMotion(PiecewiseTiming(piece, x), gap, middle)
    raise UnverifiedMotion(int(np.argmax(x)))


def copy_limits(problem: Intervals) -> Intervals:
    """Copy the limits of a problem, so that the copies can be tightened.

    Returns:
        The problem with the copied limits.
    """
    return problem._replace(
        upper=problem.upper.copy(),
        lower=problem.lower.copy(),
        bounds=problem.bounds.copy(),
        caps=problem.caps.copy(),
    )


def reachable_motion(problem: Intervals, ends: tuple[float, float]) -> FloatArray:
    """Compute a fast motion by reachability analysis, unverified between the points.

    `problem` contains the limits in the N intervals of a piece, and `ends` the squared path speeds
    at both ends of the piece.

    Returns:
        Squared path speeds (N + 1,) at the nodes.

    Raises:
        SearchFailed: no motion within the limits exists.
    """
    reached = ReachableMotion(problem, ends)
    reached.find()
    return reached.x


class ReachableMotion:
    """Motion found by reachability analysis, updated when limits change.

    Attributes:
        low, high: (N + 1,) least and largest squared path speed at each node from which the end
            can be reached.
        x: (N + 1,) squared path speeds of the motion at the nodes; a new array after each search.
        stale: (N,) whether the limits of an interval have changed since the last search.
    """

    def __init__(self, problem: Intervals, ends: tuple[float, float]) -> None:
        count = len(problem.steps)
        self._problem, self._ends = problem, ends
        self.low, self.high, self.x = np.zeros((3, count + 1))
        self.low[-1] = self.high[-1] = ends[1]
        self.stale = np.ones(count, dtype=bool)

    def find(self) -> None:
        """Find the motion for the current limits, and store it in `x`.

        Raises:
            SearchFailed: no motion within the limits exists.
        """
        problem, ends, low, high = self._problem, self._ends, self.low, self.high
        failed = controllable(problem, low, high, self.stale)
        if failed >= 0:
            raise SearchFailed(failed, forward=False)
        if not low[0] * (1.0 - 1e-9) <= ends[0] <= high[0] * (1.0 + 1e-9):
            raise SearchFailed(0, forward=True)
        x: FloatArray = self.x.copy()
        start = min(ends[0], high[0])
        self.stale[0] |= start != x[0]
        x[0] = start
        failed = fastest(problem, low, high, x, self.stale)
        if failed >= 0:
            raise SearchFailed(failed, forward=True)
        self.x = x
        self.stale[:] = False


def _optimality_gap(
    problem: Intervals, ends: tuple[float, float], x: FloatArray, high: FloatArray
) -> float:
    """Return an upper bound on a motion's excess duration, relative to the fastest.

    No motion can pass a point faster than it could still brake before the end, nor faster than it
    could accelerate from the start. The second bound is computed like the first
    one, on the reversed path.
    """
    terms = np.ascontiguousarray(problem.terms[::-1, ::-1])
    terms[..., 0] *= -1.0
    bounds = np.ascontiguousarray(problem.bounds[::-1, ::-1])
    names = ("steps", "upper", "lower", "caps")
    others: dict[str, Any] = {
        name: np.ascontiguousarray(getattr(problem, name)[::-1]) for name in names
    }
    reverse = problem._replace(terms=terms, bounds=bounds, **others)
    low, come = np.zeros(len(x)), np.zeros(len(x))
    low[-1] = come[-1] = ends[0]
    if controllable(reverse, low, come, np.ones(len(x) - 1, dtype=bool)) >= 0:
        return np.inf
    spline = SpeedSpline(problem.steps, 2)
    return spline.time(x) / spline.time(np.maximum(np.minimum(high, come[::-1]), x)) - 1.0


def _optimize_locally(
    problem: Intervals, ends: tuple[float, float]
) -> tuple[FloatArray, float] | None:
    """Compute a locally optimal motion, starting from a feasible motion.

    Returns the squared path speeds at the nodes, and the duality gap relative to the duration;
    None if no feasible motion was found, or if the feasible motion rests along the way.
    """
    for fraction in NARROWED:
        middle = 0.5 * (problem.upper + problem.lower)
        half = np.where(np.isfinite(middle), 0.5 * (problem.upper - problem.lower), 0.0)
        narrow = problem._replace(
            upper=problem.upper - fraction * half,
            lower=problem.lower + fraction * half,
            bounds=(1.0 - fraction) * problem.bounds,
            caps=(1.0 - fraction) * problem.caps,
            efforts=(1.0 - fraction) * problem.efforts,
        )
        try:
            x = reachable_motion(narrow, ends)
        except SearchFailed:
            continue
        x[1:-1] *= 1.0 - 1e-6
        p = program_of(SpeedSpline(problem.steps, 2), problem, ends)
        # ends are given, and may be at their bounds
        p.limits.bounds[0, 0] = p.limits.bounds[-1, -1] = np.inf
        # the motion may have to rest along the way
        return minimize_duration(p, x, centered=CENTERED) if (x[1:-1] > 0.0).all() else None
    return None
