# SPDX-License-Identifier: Apache-2.0

"""Time-optimal set-points of joints with limited rate, acceleration and jerk.

A joint that moves to a target has full jerk, within its limits, until the motion that brings it to
rest there has to start: the time-optimal law of a triple integrator (Zanasi and Morselli 2003;
Gerelli and Guarino Lo Bianco 2010). Switching instants lie between the ticks, so the set-points do
not chatter: at each tick, the remaining motion is the same, to rounding. For a moving target, the
law applies in the accelerated frame of the target.
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import Any, Final

from robodyn.numerics.compiler import batch_entry, inner, noinline

# Fraction of the acceleration limit that a target may use; the rest is for reaching it.
FRACTION: Final = 0.9
# Number of bisections of a tick after which the switching instant is exact to rounding.
HALVINGS: Final = 50
ROUNDING: Final = 1e-12
# Largest distance [m or rad] of a target. Targets farther away are moved to this distance, so that
# sums remain precise.
MOST_DISTANT: Final = 1e6


@inner
def _propagate(state: Any, jerk: float, time: float) -> Any:
    p, v, a = state
    t = time
    return (
        p + t * (v + t * (0.5 * a + t * jerk / 6.0)),
        v + t * (a + 0.5 * t * jerk),
        a + t * jerk,
    )


@inner
def _ramp(state: Any, goal: float, low: float, high: float, jerk: float) -> Any:
    """Compute the fastest jerk-limited motion to rate `goal` and zero acceleration.

    Returns: the durations [s] of its three phases, the jerks in the first and the last phase, and
    the constant acceleration in the middle phase, which is between `low` and `high`.
    """
    _, v, a = state
    sign = 1.0 if goal - v > 0.5 * a * abs(a) / jerk else -1.0
    limit = high if sign > 0.0 else -low
    change, now = sign * (goal - v), sign * a
    peak, held = sqrt(max(jerk * change + 0.5 * now * now, 0.0)), 0.0
    if peak > limit:
        peak = limit
        begun = 0.5 * (peak + now) * abs(peak - now) / jerk
        held = max((change - begun) / peak - 0.5 * peak / jerk, 0.0)
    first = sign * jerk if peak >= now else -sign * jerk
    return abs(peak - now) / jerk, held, peak / jerk, first, -sign * jerk, sign * peak


@inner
def _follow_ramp(state: Any, ramp: Any, goal: float, time: float) -> Any:
    """Return a joint's state `time` [s] after the start of a ramp to rate `goal`.

    After the end of the ramp, the rate stays constant.
    """
    first, held, last, begins, ends, peak = ramp
    state = _propagate(state, begins, min(time, first))
    if time > first:
        state = _propagate((state[0], state[1], peak), 0.0, min(time - first, held))
        if time > first + held:
            state = _propagate(state, ends, min(time - first - held, last))
            if time > first + held + last:
                state = state[0] + goal * (time - first - held - last), goal, 0.0
    return state


@noinline
def _at_rest(state: Any, low: float, high: float, jerk: float) -> Any:
    """Return the position at which a joint stops if it brakes as fast as possible."""
    ramp = _ramp(state, 0.0, low, high, jerk)
    return _follow_ramp(state, ramp, 0.0, ramp[0] + ramp[1] + ramp[2])[0]


@noinline
def _towards_zero(state: Any, rates: Any, low: float, high: float, jerk: float, dt: float) -> Any:
    """Compute a joint's state one tick later, on the fastest motion to rest at position 0.

    The state is the position, rate and acceleration of one joint.
    """
    up = _at_rest(state, low, high, jerk) < 0.0
    goal = rates[1] if up else rates[0]
    ramp = _ramp(state, goal, low, high, jerk)
    later = _follow_ramp(state, ramp, goal, dt)
    if (_at_rest(later, low, high, jerk) < 0.0) == up:
        return later
    before, after = 0.0, dt
    for _ in range(HALVINGS):
        middle = 0.5 * (before + after)
        if (_at_rest(_follow_ramp(state, ramp, goal, middle), low, high, jerk) < 0.0) == up:
            before = middle
        else:
            after = middle
    state = _follow_ramp(state, ramp, goal, before)
    return _follow_ramp(state, _ramp(state, 0.0, low, high, jerk), 0.0, dt - before)


@inner
def _brake_step(state: Any, change: float, jerk: float, dt: float) -> Any:
    """Return a joint's state one tick later, if it brakes as fast as possible."""
    return _follow_ramp(state, _ramp(state, 0.0, -change, change, jerk), 0.0, dt)


@inner
def _crossed_bound(state: Any, bounds: Any, change: float, jerk: float) -> int:
    """Return which position limit a joint crosses if it brakes as fast as possible.

    The result is 1 for the upper limit, -1 for the lower one, and 0 for none.

    If a joint already decelerates so hard that it cannot stop without overshoot, it reverses
    first. Its furthest position is then the point of reversal, not the point of rest.
    """
    p, v, a = state
    turn, end = p, _at_rest(state, -change, change, jerk)
    if a * v < 0.0 and a * a > 2.0 * jerk * abs(v):
        time = (abs(a) - sqrt(a * a - 2.0 * jerk * abs(v))) / jerk
        turn = _propagate(state, jerk if v > 0.0 else -jerk, time)[0]
    lower, upper = bounds
    if max(p, turn, end) > upper + ROUNDING * (1.0 + abs(upper)):
        return 1
    return -1 if min(p, turn, end) < lower - ROUNDING * (1.0 + abs(lower)) else 0


@inner
def _next_state(state: Any, target: Any, bounds: Any, own: Any, limits: Any, dt: float) -> Any:
    """Compute the position, rate and acceleration of one joint one tick later.

    The arguments are those of `advance`, for a single joint.
    """
    lower, upper = bounds
    rate, change, jerk = limits
    p, v, a = target
    if not (isfinite(p) and isfinite(v) and isfinite(a)):
        return _brake_step(state, change, jerk, dt)
    p, v, a = (
        min(max(p, lower, state[0] - MOST_DISTANT), upper, state[0] + MOST_DISTANT),
        min(max(v, -rate), rate),
        min(max(a, -FRACTION * own[1]), FRACTION * own[1]),
    )
    if (p >= upper and v > 0.0) or (p <= lower and v < 0.0):
        v, a = 0.0, 0.0
    # the target a tick ago, with constant acceleration
    before = _propagate((p, v, a), 0.0, -dt)
    relative = state[0] - before[0], state[1] - before[1], state[2] - a
    rates = min(-own[0] - before[1], 0.0), max(own[0] - before[1], 0.0)
    x = _towards_zero(relative, rates, -own[1] - a, own[1] - a, own[2], dt)
    later = x[0] + p, x[1] + v, x[2] + a
    # the rate is limited in the frame of the base: now, between the ticks, and at the end of
    # the acceleration
    now, mean = later[1], (later[0] - state[0]) / dt
    peak = now + 0.5 * later[2] * abs(later[2]) / jerk
    bound = rate * (1.0 + ROUNDING)
    if max(now, mean, peak) > bound or min(now, mean, peak) < -bound:
        goal = rate if now > 0.0 else -rate
        later = _follow_ramp(state, _ramp(state, goal, -change, change, jerk), goal, dt)
    end = _crossed_bound(later, bounds, change, jerk)
    if end != 0:
        wall = upper if end > 0 else lower
        inside = state[0] - wall, state[1], state[2]
        x = _towards_zero(inside, (-rate, rate), -change, change, jerk, dt)
        later = x[0] + wall, x[1], x[2]
        # braking is always possible, as the motion started inside the limits
        if (
            _crossed_bound(later, bounds, change, jerk) != 0
            and _crossed_bound(state, bounds, change, jerk) == 0
        ):
            later = _brake_step(state, change, jerk, dt)
    return later


@batch_entry
def advance(
    state: Any, target: Any, bounds: Any, own: Any, limits: Any, dt: float, out: Any, rest: Any
) -> None:
    """Compute the joints' set-points a tick later, within limits, toward targets.

    Args:
        state: (3, n) current position [m or rad], rate, acceleration of each joint.
        target: (3, n) position, rate and acceleration of each target a tick later; a joint whose
            target is not finite brakes.
        bounds: (2, n) least and largest position; a joint outside returns.
        own: (3, n) rate, acceleration and jerk that each joint may use now, at most `limits`.
        limits: (3, n) limits of rate, acceleration and jerk.
        dt: [s] duration of a tick.
        out: (3, n) output: position, rate and acceleration of each joint a tick later.
        rest: (n,) output: positions at which the joints can come to rest earliest after that tick.
    """
    for i in range(state.shape[1]):
        later = _next_state(
            (state[0, i], state[1, i], state[2, i]),
            (target[0, i], target[1, i], target[2, i]),
            (bounds[0, i], bounds[1, i]),
            (own[0, i], own[1, i], own[2, i]),
            (limits[0, i], limits[1, i], limits[2, i]),
            dt,
        )
        out[0, i], out[1, i], out[2, i] = later
        rest[i] = _at_rest(later, -limits[1, i], limits[1, i], limits[2, i])


@batch_entry
def brake(state: Any, limits: Any, dt: float, out: Any) -> None:
    """Compute the joints' set-points one tick later on their fastest motion to rest.

    Args:
        state: (3, n) current position, rate and acceleration of each joint.
        limits: (3, n) limits of rate, acceleration and jerk.
        dt: [s] duration of a tick.
        out: (3, n) output: position, rate and acceleration of each joint a tick later.
    """
    for i in range(state.shape[1]):
        now = state[0, i], state[1, i], state[2, i]
        out[0, i], out[1, i], out[2, i] = _brake_step(now, limits[1, i], limits[2, i], dt)
