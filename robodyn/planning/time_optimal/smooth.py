# SPDX-License-Identifier: Apache-2.0

"""The fastest motion along a piece of a path without jumps of acceleration or effort.

Its limits of jerk and of the efforts' rates of change hold between points, as all others do: they
are verified within every interval, and tightened where the motion exceeds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robodyn.errors import InfeasibleTrajectory, KinematicsError
from robodyn.planning.time_optimal.reasons import limiting
from robodyn.planning.time_optimal.refusals import (
    cannot_be,
    impossible,
    refuse_conditioning,
    refuse_positions,
)
from robodyn.planning.time_optimal.search import (
    MORE,
    Failed,
    Unverified,
    Verification,
    around,
    unverified,
    with_own_limits,
)
from robodyn.planning.time_optimal.smooth_curve import SmoothCurve
from robodyn.planning.time_optimal.smooth_programme import (
    Changes,
    NoMotion,
    Programme,
    Quantities,
    Spline,
    initial_point,
    phase_one,
    shortest,
    slow_down,
)
from robodyn.planning.time_optimal.terms import (
    IMPOSED,
    VERIFIED,
    along_motion,
    intervals_of,
    without_friction,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.planning.kernels.intervals import Intervals
    from robodyn.planning.time_optimal.easing import Easing
    from robodyn.planning.time_optimal.limits import Limits
    from robodyn.planning.time_optimal.motion import Limited
    from robodyn.planning.time_optimal.path import Curve, Piece
    from robodyn.planning.time_optimal.terms import Along
    from robodyn.trajectories.base import Motion

# Times that limits are tightened where a motion exceeds them between the points.
ROUNDS = 12
# Of limits of rates of change: what is not used at the points, and what between them.
MARGIN, KEPT = 5e-4, 3e-4
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


def _derivatives(at: FloatArray, known: FloatArray) -> FloatArray:
    """What makes of values (M,) at known places those (P, M) of their polynomial's derivative."""
    powers = np.arange(len(known))
    return np.asarray(
        (powers[1:] * at[:, None] ** powers[:-1]) @ np.linalg.inv(known[:, None] ** powers)[1:]
    )


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


def _timed(
    piece: Piece, easing: Easing, nodes: FloatArray, spline: Spline, c: FloatArray
) -> TimedSmoothly:
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


class Course(NamedTuple):
    """A piece of a path in N intervals of r, at the places that are verified (N, M).

    Attributes:
        curve: the piece over s.
        easing: the places s = g(r).
        nodes: (N + 1,) r.
        g, first, second, third: (N, M) the places s there and their derivatives by r.
        path: the mechanism along it.
        problem: what limits it, as without limits of changes.
    """

    curve: Curve
    easing: Easing
    nodes: FloatArray
    g: FloatArray
    first: FloatArray
    second: FloatArray
    third: FloatArray
    path: Along
    problem: Intervals

    def speeds(self, y: FloatArray, slope: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Squares of ds/dt, and d2s/dt2 (N, M)."""
        return self.first**2 * y, self.second * y + 0.5 * self.first * slope

    def at(self, mechanism: Mechanism, limits: Limits, places: FloatArray) -> Course:
        """The same at other places (M,) in every interval; see `course_of` for errors."""
        steps = self.path.steps
        g, path = _eased(mechanism, self.curve, self.easing, self.nodes, steps, limits, places)
        return self._replace(g=g[0], first=g[1], second=g[2], third=g[3], path=path)


class Changing(NamedTuple):
    """Joints whose jerk and whose effort's rate are limited, and by how much."""

    jerk: NDArray[np.intp]
    effort: NDArray[np.intp]
    most: FloatArray


def changing_of(limits: Limits) -> Changing:
    """What may not change at any rate."""
    jerk, effort = (np.flatnonzero(np.isfinite(v)) for v in (limits.jerk, limits.effort_rate))
    return Changing(jerk, effort, np.concatenate([limits.jerk[jerk], limits.effort_rate[effort]]))


def course_of(
    mechanism: Mechanism,
    piece: Piece,
    easing: Easing,
    nodes: FloatArray,
    limits: Limits,
    wrench: FloatArray | None,
    ends: tuple[float, float],
) -> Course:
    """A piece with nodes r (N + 1,).

    Raises:
        KinematicsError: a configuration that cannot be; `index` says where.
    """
    steps = np.diff(piece.nodes)
    g, path = _eased(mechanism, piece.curve, easing, nodes, steps, limits, VERIFIED)
    return Course(
        piece.curve, easing, nodes, *g, path, intervals_of(mechanism, path, limits, wrench, ends)
    )


def _eased(
    mechanism: Mechanism,
    curve: Curve,
    easing: Easing,
    nodes: FloatArray,
    steps: FloatArray,
    limits: Limits,
    places: FloatArray,
) -> tuple[tuple[FloatArray, FloatArray, FloatArray, FloatArray], Along]:
    """S = g(r) and its derivatives (N, M) at places (M,) between nodes r (N + 1,), and the path."""
    g = easing.at(nodes[:-1, None] + np.diff(nodes)[:, None] * places)
    tip = bool(np.isfinite(limits.tip_speed))
    return g, along_motion(mechanism, curve.sample(g[0]), steps, tip=tip)


def smooth_piece(
    mechanism: Mechanism,
    given: Piece,
    easing: Easing,
    limits: Limits,
    wrench: FloatArray | None,
    ends: tuple[float, float],
    whole: tuple[float, float],
    tell: Callable[[float], None],
) -> tuple[TimedSmoothly, list[Limited]]:
    """The fastest motion along a piece, and what limits it.

    Args:
        mechanism: what moves.
        given: the piece, with knots that are not too near to each other, see `Easing.nodes`.
        easing: how the motion leaves its ends.
        limits: its limits.
        wrench: (6,) on the body throughout.
        ends: squares of ds/dt at the ends.
        whole: from where to where on the path the piece is, for messages.
        tell: hears of progress from 0 to 1.

    Raises:
        InfeasibleTrajectory: there is none; with the limit, the place and the number.
        Unverified: on these intervals none keeps to its limits between the points.
    """
    nodes = easing.steps(given.nodes)
    knots = given.curve.knots
    piece = given
    try:
        curve = SmoothCurve(mechanism, given.nodes, knots.configuration, knots.velocity)
        s = easing.at(nodes)[0]
        curve.knots = curve.sample(s)
        piece = given._replace(curve=curve, nodes=s)
        course = course_of(mechanism, piece, easing, nodes, limits, wrench, ends)
        refuse_positions(mechanism, course.path, piece, whole)
        refuse_conditioning(mechanism, piece, limits, whole)
    except KinematicsError as error:
        raise cannot_be(error, piece, len(VERIFIED), whole) from error
    try:
        unverified(course.problem, ends)
    except Failed as failed:
        raise impossible(mechanism, piece, course.problem, limits, failed, ends, whole) from failed
    try:
        timed, used, middle = smoothly(mechanism, piece, easing, course, limits, wrench, ends, tell)
    except NoMotion as failed:
        raise _too_sudden(limits, ends, whole) from failed
    which = changing_of(limits)
    names = mechanism.joint_names
    changes = [f"jerk of {names[i]}" for i in which.jerk]
    changes += [f"effort rate of {names[i]}" for i in which.effort]
    why = limiting(
        mechanism, course.path, course.problem, limits, middle, timed.times, (changes, used)
    )
    return timed, why


def _too_sudden(
    limits: Limits, ends: tuple[float, float], whole: tuple[float, float]
) -> InfeasibleTrajectory:
    """The error where limits of change leave no motion."""
    which = changing_of(limits)
    names = [name for name, part in zip(which._fields, which, strict=False) if part.size][:2]
    asked = " and ".join(
        {"jerk": "jerk", "effort": "the efforts' rate"}[n] for n in names if n != "most"
    )
    least = float(which.most.min())
    where = f"from {100.0 * whole[0]:.4g} to {100.0 * whole[1]:.4g} % of the path"
    if max(ends) > 0.0:
        speed = float(np.sqrt(max(ends)))
        return InfeasibleTrajectory(
            f"no motion {where} was found that begins or ends at {speed:.4g} of it a second and "
            f"keeps to the limits of {asked}, {least:g} at the least",
            value=speed,
        )
    return InfeasibleTrajectory(
        f"no motion {where} was found that keeps to the limits of {asked}, {least:g} at the least",
        value=least,
    )


def programme_of(
    mechanism: Mechanism,
    course: Course,
    limits: Limits,
    wrench: FloatArray | None,
    ends: tuple[float, float],
) -> Programme:
    """What limits a motion along a piece, for `shortest`."""
    path, problem = course.path, course.problem
    g1, g2, g3 = (v[:, path.imposed, None] for v in (course.first, course.second, course.third))
    A, B, C, D, S, G, rate = np.moveaxis(problem.terms, -1, 0)
    values = Quantities(0.5 * A * g1, B * g1**2 + A * g2, C * g1, D, S, G * g1**2)
    which = changing_of(limits)
    jerked, rated = which.jerk, which.effort
    h = np.diff(course.nodes)[:, None, None]
    # a joint's acceleration is dp/ds s'' + d2p/ds2 s'^2, its effort A s'' + B s'^2 + C s' + weight
    rates, bends = (v[:, path.imposed][..., jerked] for v in (path.rates, path.bends))
    turns = (_derivatives(VERIFIED, VERIFIED)[path.imposed] @ path.bends)[..., jerked] / h
    q = path.motion.configuration[:, path.imposed]
    rest = np.zeros((*q.shape[:2], path.motion.velocity.shape[-1]))
    weight = without_friction(mechanism).inverse_dynamics(q, rest, rest, wrench)
    A, B, C, D = (v[..., rated] for v in (A, B, C, weight))
    by_r = _derivatives(IMPOSED, IMPOSED)
    dA, dB, dC, dD = (by_r @ v / h for v in (A, B, C, D))
    zero = np.zeros(rates.shape)
    of_jerk = Changes(
        0.5 * g1 * rates,
        1.5 * g2 * rates + 1.5 * g1**2 * bends,
        g3 * rates + 3.0 * g1 * g2 * bends + g1**2 * turns,
        zero,
        zero,
        zero,
    )
    of_effort = Changes(
        0.5 * g1 * A,
        1.5 * g2 * A + 0.5 * g1 * dA + g1**2 * B,
        g3 * A + g2 * dA + 2.0 * g1 * g2 * B + g1**2 * dB,
        g2 * C + g1 * dC,
        g1 * C,
        dD,
    )
    changes = Changes(*(np.concatenate(v, axis=-1) for v in zip(of_jerk, of_effort, strict=True)))
    with np.errstate(divide="ignore"):
        bounds = problem.bounds / course.first[:, path.imposed] ** 2
        y = tuple(
            end / float(first) ** 2 if end else np.nan
            for end, first in zip(ends, course.first[[0, -1], [0, -1]], strict=True)
        )
    return Programme(
        Spline(np.diff(course.nodes)),
        IMPOSED,
        values,
        problem.upper,
        problem.lower,
        rate * g1,
        problem.speeds,
        problem.efforts,
        problem.counts,
        bounds,
        changes,
        np.broadcast_to((1.0 - MARGIN) * which.most, (len(problem.steps), len(which.most))).copy(),
        (y[0], y[1]),
    )


def smoothly(
    mechanism: Mechanism,
    piece: Piece,
    easing: Easing,
    course: Course,
    limits: Limits,
    wrench: FloatArray | None,
    ends: tuple[float, float],
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
    p = programme_of(mechanism, course._replace(problem=problem), limits, wrench, ends)
    verification = Verification(mechanism, course.path, limits, wrench, _peak)
    closer: tuple[Verification, Course] | None = None
    c = initial_point(p)
    for attempt in range(ROUNDS):
        done = attempt / (attempt + 2.0)

        def further(share: float, done: float = done, attempt: int = attempt) -> None:
            tell(done + share * ((attempt + 1.0) / (attempt + 3.0) - done))

        c = shortest(p, c, AGAIN if attempt else None, further)
        y, slope = p.spline.at(c, VERIFIED)
        square, acceleration = course.speeds(y, slope)
        before = problem.upper.copy(), problem.lower.copy()
        exceeded = verification.tighten_at(problem, square, acceleration)
        if not exceeded:
            if closer is None:
                finer = course.at(mechanism, limits, CLOSER)
                closer = Verification(mechanism, finer.path, limits, wrench, _tops), finer
            at_closer = closer[1].speeds(*p.spline.at(c, CLOSER))
            exceeded = closer[0].tighten_at(problem, *at_closer)
        given = course.problem.upper, course.problem.lower
        for limit, old, first in zip((problem.upper, problem.lower), before, given, strict=True):
            # where it was tightened before, the motion answers to a part of it only
            moved = (limit != old) & (old != first)
            limit[moved] += AGAIN_MORE**attempt * (limit[moved] - old[moved])
        used = changes_used(mechanism, course, limits, wrench, p, c)
        excess = used - (1.0 - KEPT)
        if (excess > 0.0).any():
            exceeded = True
            p.most[:] *= 1.0 - MORE * np.stack([around(e) for e in excess.T], axis=1)
        if not exceeded:
            timed = _timed(piece, easing, course.nodes, p.spline, c)
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
    mechanism: Mechanism,
    course: Course,
    limits: Limits,
    wrench: FloatArray | None,
    p: Programme,
    c: FloatArray,
) -> FloatArray:
    """What jerks and efforts' rates reach (N, K) in intervals, as shares of their limits."""
    which = changing_of(limits)
    path, h = course.path, p.spline.steps
    every = np.arange(len(h))
    moved = path.motion, path.rates, path.bends
    value = _changing(mechanism, course, which, wrench, moved, p.spline, c, every, VERIFIED)
    scale = (np.sqrt(p.spline.at(c, RATED)[0]) / h[:, None])[..., None] / which.most
    found = _tops(np.abs(_derivatives(RATED, VERIFIED) @ value) * scale)
    # where the polynomial's last term counts, as at a narrow bend, it has to be looked at closely
    last = np.abs(np.einsum("m,nmk->nk", _LAST, value)) * scale.max(axis=1)
    steep = np.flatnonzero((0.5 * last > ROUGH).any(axis=1))
    if steep.size:
        at = course.easing.at(course.nodes[steep, None] + h[steep, None] * CLOSE)
        motion = course.curve.sample(at[0])
        moved = motion, *mechanism.driven_motion(*motion)[1:]
        value = _changing(mechanism, course, which, wrench, moved, p.spline, c, steep, CLOSE)
        middle = 0.5 * (CLOSE[1:] + CLOSE[:-1])
        speed = np.sqrt(p.spline.at(c, middle)[0][steep]) / h[steep, None]
        rates = np.diff(value, axis=1) / np.diff(CLOSE)[:, None] * speed[..., None]
        ends = np.abs(rates[:, [0, -1]] * 1.5 - rates[:, [1, -2]] * 0.5)
        rates = np.concatenate([ends[:, :1], np.abs(rates), ends[:, 1:]], axis=1)
        found[steep] = np.maximum(found[steep], _tops(rates / which.most))
    return found


def _changing(
    mechanism: Mechanism,
    course: Course,
    which: Changing,
    wrench: FloatArray | None,
    moved: tuple[Motion, FloatArray, FloatArray],
    spline: Spline,
    c: FloatArray,
    intervals: NDArray[np.intp],
    places: FloatArray,
) -> FloatArray:
    """Accelerations and efforts without dry friction (I, M, K), at places (M,) of intervals.

    `moved` is the motion there by s, with the joints' rates and second derivatives (I, M, n).
    """
    (q, u, w), rates, bends = moved
    y, slope = (v[intervals] for v in spline.at(c, places))
    h = spline.steps[intervals, None]
    _, first, second, _ = course.easing.at(course.nodes[intervals, None] + h * places)
    square = (first**2 * y)[..., None]
    acceleration = (second * y + 0.5 * first * slope)[..., None]
    values = [(rates * acceleration + bends * square)[..., which.jerk]]
    if which.effort.size:
        effort = without_friction(mechanism).inverse_dynamics(
            q, u * np.sqrt(square), u * acceleration + w * square, wrench
        )
        # viscous friction, by parabolas through the places where it is known
        known = course.problem.terms[intervals, :, : effort.shape[-1], 2]
        nodes = IMPOSED
        weights = np.vander(places, len(nodes)) @ np.linalg.inv(np.vander(nodes))
        values.append((effort + weights @ known * np.sqrt(square))[..., which.effort])
    return np.concatenate(values, axis=-1)


def _peak(values: FloatArray) -> FloatArray:
    """The largest (N, k) of polynomials through values (N, M, k) at the verified places."""
    return _tops(_CLOSELY @ values)


def _tops(used: FloatArray) -> FloatArray:
    """The largest (N, K) of (N, M, K) at equal distances, and of parabolas through neighbours."""
    rise = 0.5 * (used[:, 2:] - used[:, :-2])
    bend = used[:, 2:] - 2.0 * used[:, 1:-1] + used[:, :-2]
    with np.errstate(divide="ignore", invalid="ignore"):
        top = used[:, 1:-1] - 0.5 * rise**2 / bend
    inner = np.where((bend < 0.0) & (np.abs(rise) < -bend), top, 0.0)
    return np.asarray(np.maximum(used.max(axis=1), inner.max(axis=1)))
