# SPDX-License-Identifier: Apache-2.0

"""Search for the fastest motion along a piece of a path with continuous acceleration and effort.

Limits of jerk and of effort rates also hold between points, like all others: they are verified
within every interval, and tightened where the motion exceeds them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from robodyn.arrays import FloatArray, Indices
from robodyn.errors import InfeasibleTrajectory
from robodyn.planning.kernels.intervals import Intervals
from robodyn.planning.time_optimal import interior_point, program
from robodyn.planning.time_optimal.constraints.all import Constraints
from robodyn.planning.time_optimal.easing import Easing
from robodyn.planning.time_optimal.motion import SmoothTiming
from robodyn.planning.time_optimal.path import Piece
from robodyn.planning.time_optimal.sampled_path import (
    VERIFIED,
    SmoothPath,
    derivatives,
    sample_smooth_path,
)
from robodyn.planning.time_optimal.search import (
    PieceMotion,
    UnverifiedMotion,
    copy_limits,
    reachable_motion,
)
from robodyn.planning.time_optimal.smooth_curve import SmoothCurve
from robodyn.planning.time_optimal.verification import (
    MORE,
    Verification,
    neighborhood_maximum,
    peak,
)

# Largest number of rounds that tighten limits which a motion exceeds between the points.
ROUNDS = 12
# Relative margins of the limits of rates of change, at the points and between them.
MARGIN, MARGIN_BETWEEN = 5e-4, 3e-4
# Weight of the barrier with which the method continues after limits were tightened.
RESTART_WEIGHT = 1e-3
# Growth of an effort limit's tightening from round to round.
TIGHTENING_GROWTH = 2.0
# Points in an interval at which rates of change are verified.
RATED = np.linspace(0.0, 1.0, 9)
# Number of points of a closer check of an interval, and the last term of the polynomial through the
# other points, relative to the limit, above which this check is necessary.
CLOSE, ROUGH = np.linspace(0.0, 1.0, 41), 1e-3
# Points in every interval for the final check: in a narrow bend an effort may have a peak within a
# fraction of an interval.
CLOSER = np.linspace(0.0, 1.0, 17)
_CLOSELY = np.vander(CLOSE, len(VERIFIED)) @ np.linalg.inv(np.vander(VERIFIED))
# Weights of the values for the last coefficient of that polynomial.
_LAST = np.linalg.inv(VERIFIED[:, None] ** np.arange(len(VERIFIED)))[-1]


class SmoothSearch:
    """Search, run by `fastest`, for the fastest smooth motion along a piece of a path.

    Args:
        constraints: limits of the motion.
        given: piece whose knots are not too close to each other, see `Easing.nodes`.
        easing: map s = g(r) that determines how the motion leaves the ends of the piece.

    Attributes:
        piece: the given piece with a smooth curve in place of its own, and with the nodes between
            which the motion is a polynomial.
        course: samples of the mechanism's motion along this piece.

    Raises:
        KinematicsError: the equations have no solution at a configuration; `index` is its index.
    """

    def __init__(self, constraints: Constraints, given: Piece, easing: Easing) -> None:
        self._constraints, self._easing = constraints, easing
        self._most = np.concatenate([each.most for each in constraints.third])
        self._nodes = easing.steps(given.nodes)
        q, tangent, _ = given.curve.sample(given.nodes)
        curve = SmoothCurve(constraints.mechanism, given.nodes, q, tangent)
        self.piece = given._replace(curve=curve, nodes=easing.at(self._nodes)[0])
        self.course = self._sample(VERIFIED)

    def fastest(self, given: Intervals, report_progress: Callable[[float], None]) -> PieceMotion:
        """Find the fastest motion within all limits, also between the points.

        Args:
            given: all limits except those of jerk and effort rates.
            report_progress: called with the progress from 0 to 1.

        Returns:
            The motion.

        Raises:
            SearchFailed: no motion exists, even without limits of jerk and effort rates.
            InfeasibleTrajectory: no motion exists with these limits.
            UnverifiedMotion: no motion was verified on these intervals.
        """
        constraints, course, problem = self._constraints, self.course, copy_limits(given)
        reachable_motion(given, self.piece.ends)
        p = self._program(problem)
        verification = Verification(course.path, constraints, _polynomial_peak)
        closer: tuple[Verification, SmoothPath] | None = None
        try:
            c = interior_point.initial_point(p)
        except interior_point.NoMotion as failed:
            raise self._infeasibility_error() from failed
        for attempt in range(ROUNDS):
            done = attempt / (attempt + 2.0)

            def further(fraction: float, done: float = done, attempt: int = attempt) -> None:
                report_progress(done + fraction * ((attempt + 1.0) / (attempt + 3.0) - done))

            c, _ = interior_point.minimize_duration(
                p, c, RESTART_WEIGHT if attempt else interior_point.START_WEIGHT, further
            )
            square, acceleration = course.speeds(*p.spline.at(c, VERIFIED))
            before = problem.upper.copy(), problem.lower.copy()
            exceeded = verification.tighten_at(problem, square, acceleration)
            if not exceeded:
                if closer is None:
                    finer = self._sample(CLOSER)
                    highest = partial(peak, places=CLOSER)
                    closer = Verification(finer.path, constraints, highest), finer
                at_closer = closer[1].speeds(*p.spline.at(c, CLOSER))
                exceeded = closer[0].tighten_at(problem, *at_closer)
            limits = (problem.upper, problem.lower), before, (given.upper, given.lower)
            for limit, old, first in zip(*limits, strict=True):
                # the motion follows a second tightening only in part
                moved = (limit != old) & (old != first)
                limit[moved] += TIGHTENING_GROWTH**attempt * (limit[moved] - old[moved])
            used = self._limit_fractions(p, c, given.terms)
            excess = used - (1.0 - MARGIN_BETWEEN)
            if (excess > 0.0).any():
                exceeded = True
                p.most[:] *= 1.0 - MORE * np.stack(
                    [neighborhood_maximum(e) for e in excess.T], axis=1
                )
            if not exceeded:
                timed = SmoothTiming(self.piece, self._easing, self._nodes, p.spline, c)
                at = len(VERIFIED) // 2
                return PieceMotion(timed, np.nan, (square[:, at], acceleration[:, at]), used)
            with np.errstate(divide="ignore"):
                bounds = problem.bounds / course.imposed[0][..., 0] ** 2
            p = p._replace(limits=p.limits._replace(bounds=bounds))
            slow = None if np.isfinite(p.ends).any() else interior_point.slow_down(p, c)
            try:
                c = interior_point.phase_one(p, c) if slow is None else slow
            except interior_point.NoMotion as failed:
                raise UnverifiedMotion(int(np.argmax(excess.max(axis=1)))) from failed
        raise UnverifiedMotion(int(np.argmax(excess.max(axis=1))))

    def _sample(self, places: FloatArray, rows: Indices | slice = slice(None)) -> SmoothPath:
        mechanism = self._constraints.mechanism
        return sample_smooth_path(mechanism, self.piece, self._easing, self._nodes, places, rows)

    def _program(self, problem: Intervals) -> program.Program:
        """Create the optimization program for a problem, as input of `minimize_duration`."""
        course = self.course
        parts = [each.coefficients(course, problem.terms) for each in self._constraints.third]
        changes = program.ThirdOrderCoefficients(
            *(np.concatenate(v, axis=-1) for v in zip(*parts, strict=True))
        )
        first, last = (
            end / float(rate) ** 2 if end else np.nan
            for end, rate in zip(self.piece.ends, course.first[[0, -1], [0, -1]], strict=True)
        )
        spline, most = program.SpeedSpline(course.steps, 3), (1.0 - MARGIN) * self._most
        return program.program_of(
            spline, problem, (first, last), (changes, most), course.imposed[:2]
        )

    def _infeasibility_error(self) -> InfeasibleTrajectory:
        """Create the error for jerk or effort-rate limits that no motion can meet."""
        piece, speed = self.piece, float(np.sqrt(max(self.piece.ends)))
        least = float(self._most.min())
        begins = f" that begins or ends at {speed:.4g} path lengths per second and" if speed else ""
        return InfeasibleTrajectory(
            f"no motion from {100.0 * piece.span[0]:.4g} to {piece.text(1.0)} was found"
            f"{begins or ' that'} respects the limits of "
            f"{' and '.join(e.quantity for e in self._constraints.third)} (smallest limit: "
            f"{least:g})",
            value=speed or least,
        )

    def _limit_fractions(self, p: program.Program, c: FloatArray, terms: FloatArray) -> FloatArray:
        """Compute jerk and effort rates as fractions (N, K) of their limits."""
        h, most = p.spline.steps, self._most
        value = self._limited_quantities(self.course, terms, p.spline.at(c, VERIFIED))
        scale = (np.sqrt(p.spline.at(c, RATED)[0]) / h[:, None])[..., None] / most
        found = peak(np.abs(derivatives(RATED, VERIFIED) @ value) * scale, RATED)
        # a large last term of the polynomial, as at a narrow bend, requires a closer check
        last = np.abs(np.einsum("m,nmk->nk", _LAST, value)) * scale.max(axis=1)
        steep = np.flatnonzero((0.5 * last > ROUGH).any(axis=1))
        if steep.size:
            at_close = tuple(v[steep] for v in p.spline.at(c, CLOSE))
            value = self._limited_quantities(self._sample(CLOSE, steep), terms[steep], at_close)
            middle = 0.5 * (CLOSE[1:] + CLOSE[:-1])
            speed = np.sqrt(p.spline.at(c, middle)[0][steep]) / h[steep, None]
            rates = np.diff(value, axis=1) / np.diff(CLOSE)[:, None] * speed[..., None]
            ends = np.abs(rates[:, [0, -1]] * 1.5 - rates[:, [1, -2]] * 0.5)
            rates = np.concatenate([ends[:, :1], np.abs(rates), ends[:, 1:]], axis=1)
            places = np.concatenate([CLOSE[:1], middle, CLOSE[-1:]])
            found[steep] = np.maximum(found[steep], peak(rates / most, places))
        return found

    def _limited_quantities(
        self, course: SmoothPath, terms: FloatArray, motion: tuple[FloatArray, ...]
    ) -> FloatArray:
        """Compute the accelerations and efforts (I, M, K) whose rates are limited.

        The efforts exclude dry friction.
        """
        square, acceleration = (v[..., None] for v in course.speeds(*motion))
        parts = [
            each.values(course, terms, square, acceleration) for each in self._constraints.third
        ]
        return np.concatenate(parts, axis=-1)


def _polynomial_peak(values: FloatArray) -> FloatArray:
    """Compute the maxima (N, k) of the polynomials through samples (N, M, k)."""
    return peak(_CLOSELY @ values, CLOSE)
