# SPDX-License-Identifier: Apache-2.0

"""The fastest motion along a piece of a path without jumps of acceleration or effort.

Its limits of jerk and of the efforts' rates of change hold between points, as all others do: they
are verified within every interval, and tightened where the motion exceeds them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from robodyn.arrays import FloatArray, Indices
from robodyn.errors import InfeasibleTrajectory, KinematicsError
from robodyn.planning.kernels.intervals import Intervals
from robodyn.planning.time_optimal.along import VERIFIED
from robodyn.planning.time_optimal.constraints.all import Constraints
from robodyn.planning.time_optimal.course import Course, Moved, derivatives
from robodyn.planning.time_optimal.easing import Easing
from robodyn.planning.time_optimal.explanations import (
    cannot_be,
    impossible,
    limiting,
    refuse_conditioning,
    refuse_positions,
)
from robodyn.planning.time_optimal.interior_point import (
    FAR,
    NoMotion,
    initial_point,
    phase_one,
    shortest,
    slow_down,
)
from robodyn.planning.time_optimal.motion import Limited, TimedSmoothly, timed_smoothly
from robodyn.planning.time_optimal.path import Piece
from robodyn.planning.time_optimal.problem import course_at, course_of
from robodyn.planning.time_optimal.programme import Changes, Programme, SpeedSpline, programme_of
from robodyn.planning.time_optimal.search import (
    Failed,
    Unverified,
    unverified,
    with_own_limits,
)
from robodyn.planning.time_optimal.smooth_curve import SmoothCurve
from robodyn.planning.time_optimal.verification import MORE, Verification, around, peak
from robodyn.trajectories.base import Motion

# Times that limits are tightened where a motion exceeds them between the points.
ROUNDS = 12
# Of limits of rates of change: what is not used at the points, and what between them.
MARGIN, MARGIN_BETWEEN = 5e-4, 3e-4
# Weight of the barrier with which the method goes on after limits were tightened.
AGAIN = 1e-3
# By how many times further from round to round an effort's limit is tightened then.
AGAIN_MORE = 2.0
# Places in an interval at which rates of change are verified.
RATED = np.linspace(0.0, 1.0, 9)
# In an interval that needs it, places at which it is looked at closely; and from which share of a
# limit on the last term of the polynomial through the others asks for it.
CLOSE, ROUGH = np.linspace(0.0, 1.0, 41), 1e-3
# Places in every interval at which a motion that keeps to its limits elsewhere is looked at once
# more: where a path bends narrowly an effort may have a peak within a fraction of an interval.
CLOSER = np.linspace(0.0, 1.0, 17)
_CLOSELY = np.vander(CLOSE, len(VERIFIED)) @ np.linalg.inv(np.vander(VERIFIED))
# The last coefficient of that polynomial, of the values.
_LAST = np.linalg.inv(VERIFIED[:, None] ** np.arange(len(VERIFIED)))[-1]


def smooth_piece(
    constraints: Constraints,
    given: Piece,
    easing: Easing,
    tell: Callable[[float], None],
) -> tuple[TimedSmoothly, list[Limited]]:
    """The fastest motion along a piece, and what limits it.

    Args:
        constraints: what limits the motion.
        given: the piece, with knots that are not too near to each other, see `Easing.nodes`.
        easing: how the motion leaves its ends.
        tell: hears of progress from 0 to 1.

    Raises:
        InfeasibleTrajectory: there is none; with the limit, the place and the number.
        Unverified: on these intervals none keeps to its limits between the points.
    """
    mechanism = constraints.mechanism
    nodes = easing.steps(given.nodes)
    knots = given.curve.knots
    piece = given
    try:
        curve = SmoothCurve(mechanism, given.nodes, knots.configuration, knots.velocity)
        s = easing.at(nodes)[0]
        curve.knots = curve.sample(s)
        piece = given._replace(curve=curve, nodes=s)
        course = course_of(constraints, piece, easing, nodes)
        refuse_positions(mechanism, course.path, piece)
        refuse_conditioning(constraints, piece)
    except KinematicsError as error:
        raise cannot_be(error, piece, len(VERIFIED)) from error
    try:
        unverified(course.problem, piece.ends)
    except Failed as failed:
        raise impossible(constraints, piece, course.problem, failed) from failed
    try:
        timed, used, middle = smoothly(constraints, piece, course, tell)
    except NoMotion as failed:
        raise _too_sudden(constraints, piece) from failed
    why = limiting(course.path, course.problem, constraints, middle, timed.times, used)
    return timed, why


def _too_sudden(constraints: Constraints, piece: Piece) -> InfeasibleTrajectory:
    """The error where limits of change leave no motion."""
    asked = " and ".join(each.quantity for each in constraints.third)
    least = float(_most(constraints).min())
    where = f"from {100.0 * piece.span[0]:.4g} to {piece.text(1.0)}"
    if max(piece.ends) > 0.0:
        speed = float(np.sqrt(max(piece.ends)))
        return InfeasibleTrajectory(
            f"no motion {where} was found that begins or ends at {speed:.4g} of it a second and "
            f"keeps to the limits of {asked}, {least:g} at the least",
            value=speed,
        )
    return InfeasibleTrajectory(
        f"no motion {where} was found that keeps to the limits of {asked}, {least:g} at the least",
        value=least,
    )


def programme_along(
    course: Course, problem: Intervals, constraints: Constraints, ends: tuple[float, float]
) -> Programme:
    """What limits a motion along a piece by a problem, for `shortest`."""
    g1, g2, _ = course.imposed
    parts = [each.coefficients(course) for each in constraints.third]
    changes = Changes(*(np.concatenate(v, axis=-1) for v in zip(*parts, strict=True)))
    y = tuple(
        end / float(first) ** 2 if end else np.nan
        for end, first in zip(ends, course.first[[0, -1], [0, -1]], strict=True)
    )
    most = (1.0 - MARGIN) * _most(constraints)
    return programme_of(
        SpeedSpline(course.steps, 3), problem, (y[0], y[1]), (changes, most), (g1, g2)
    )


def _most(constraints: Constraints) -> FloatArray:
    """(K,) by how much quantities may change a second."""
    return np.concatenate([each.most for each in constraints.third])


def smoothly(
    constraints: Constraints,
    piece: Piece,
    course: Course,
    tell: Callable[[float], None],
) -> tuple[TimedSmoothly, FloatArray, tuple[FloatArray, FloatArray]]:
    """The fastest motion that keeps to all limits between points, too.

    Returns the motion, rates of change (N, K) as shares of their limits, and squares of the speed
    and accelerations (N,) in the middle of the intervals.

    Raises:
        NoMotion: none was found.
        Unverified: on these intervals there is none that keeps to them.
    """
    problem = with_own_limits(course.problem)
    p = programme_along(course, problem, constraints, piece.ends)
    verification = Verification(course.path, constraints, _peak)
    closer: tuple[Verification, Course] | None = None
    c = initial_point(p)
    for attempt in range(ROUNDS):
        done = attempt / (attempt + 2.0)

        def further(share: float, done: float = done, attempt: int = attempt) -> None:
            tell(done + share * ((attempt + 1.0) / (attempt + 3.0) - done))

        c, _ = shortest(p, c, AGAIN if attempt else FAR, further)
        y, slope = p.spline.at(c, VERIFIED)
        square, acceleration = course.speeds(y, slope)
        before = problem.upper.copy(), problem.lower.copy()
        exceeded = verification.tighten_at(problem, square, acceleration)
        if not exceeded:
            if closer is None:
                finer = course_at(course, constraints, CLOSER)
                closer = Verification(finer.path, constraints, partial(peak, places=CLOSER)), finer
            at_closer = closer[1].speeds(*p.spline.at(c, CLOSER))
            exceeded = closer[0].tighten_at(problem, *at_closer)
        given = course.problem.upper, course.problem.lower
        for limit, old, first in zip((problem.upper, problem.lower), before, given, strict=True):
            # where it was tightened before, the motion answers to a part of it only
            moved = (limit != old) & (old != first)
            limit[moved] += AGAIN_MORE**attempt * (limit[moved] - old[moved])
        used = changes_used(course, constraints, p, c)
        excess = used - (1.0 - MARGIN_BETWEEN)
        if (excess > 0.0).any():
            exceeded = True
            p.most[:] *= 1.0 - MORE * np.stack([around(e) for e in excess.T], axis=1)
        if not exceeded:
            timed = timed_smoothly(piece, course.easing, course.nodes, p.spline, c)
            at = len(VERIFIED) // 2
            return timed, used, (square[:, at], acceleration[:, at])
        with np.errstate(divide="ignore"):
            p = p._replace(bounds=problem.bounds / course.first[:, course.path.imposed] ** 2)
        slow = None if np.isfinite(p.ends).any() else slow_down(p, c)
        try:
            c = phase_one(p, c) if slow is None else slow
        except NoMotion as failed:
            raise Unverified(int(np.argmax(excess.max(axis=1)))) from failed
    raise Unverified(int(np.argmax(excess.max(axis=1))))


def changes_used(
    course: Course, constraints: Constraints, p: Programme, c: FloatArray
) -> FloatArray:
    """What jerks and efforts' rates reach (N, K) in intervals, as shares of their limits."""
    most = _most(constraints)
    path, h = course.path, p.spline.steps
    every = np.arange(len(h))
    moved = path.motion, path.rates, path.bends
    value = _changing(course, constraints, moved, (p.spline, c), every, VERIFIED)
    scale = (np.sqrt(p.spline.at(c, RATED)[0]) / h[:, None])[..., None] / most
    found = peak(np.abs(derivatives(RATED, VERIFIED) @ value) * scale, RATED)
    # where the polynomial's last term counts, as at a narrow bend, it has to be looked at closely
    last = np.abs(np.einsum("m,nmk->nk", _LAST, value)) * scale.max(axis=1)
    steep = np.flatnonzero((0.5 * last > ROUGH).any(axis=1))
    if steep.size:
        at = course.easing.at(course.nodes[steep, None] + h[steep, None] * CLOSE)
        motion = course.curve.sample(at[0])
        moved = motion, *constraints.mechanism.driven_motion(*motion)[1:]
        value = _changing(course, constraints, moved, (p.spline, c), steep, CLOSE)
        middle = 0.5 * (CLOSE[1:] + CLOSE[:-1])
        speed = np.sqrt(p.spline.at(c, middle)[0][steep]) / h[steep, None]
        rates = np.diff(value, axis=1) / np.diff(CLOSE)[:, None] * speed[..., None]
        ends = np.abs(rates[:, [0, -1]] * 1.5 - rates[:, [1, -2]] * 0.5)
        rates = np.concatenate([ends[:, :1], np.abs(rates), ends[:, 1:]], axis=1)
        places = np.concatenate([CLOSE[:1], middle, CLOSE[-1:]])
        found[steep] = np.maximum(found[steep], peak(rates / most, places))
    return found


def _changing(
    course: Course,
    constraints: Constraints,
    moved: tuple[Motion, FloatArray, FloatArray],
    motion: tuple[SpeedSpline, FloatArray],
    intervals: Indices,
    places: FloatArray,
) -> FloatArray:
    """Accelerations and efforts without dry friction (I, M, K), at places (M,) of intervals.

    `moved` is the motion there by s, with the joints' rates and second derivatives (I, M, n).
    """
    spline, c = motion
    y, slope = (v[intervals] for v in spline.at(c, places))
    _, first, second, _ = course.easing.at(
        course.nodes[intervals, None] + spline.steps[intervals, None] * places
    )
    square = (first**2 * y)[..., None]
    acceleration = (second * y + 0.5 * first * slope)[..., None]
    here = Moved(*moved, square, acceleration, intervals, places)
    return np.concatenate([each.values(course, here) for each in constraints.third], axis=-1)


def _peak(values: FloatArray) -> FloatArray:
    """The largest (N, k) of polynomials through values (N, M, k) at the verified places."""
    return peak(_CLOSELY @ values, CLOSE)
