# SPDX-License-Identifier: Apache-2.0

"""Closures: how far open they are, their Jacobian K, and what they demand of accelerations.

Each equation is a wrench that body A and body B exert on each other: a force along a direction at
the child's point, or a moment. Its row of K is the power of that wrench, coordinate by coordinate
on the way round the loop; rows and entries are those of the plan.
"""

from __future__ import annotations

from typing import Any

from robodyn.mechanisms.closed_loop.kernels.layout import (
    ACCEL,
    ACROSS,
    ALPHA,
    ANGLES,
    AT_CLOSURES,
    AT_PATHS,
    AT_ROWS,
    AT_SIGNS,
    CHILD_BODY,
    CLOSURE_AT,
    CLOSURE_DAMPING,
    CLOSURE_NUMBERS,
    CLOSURE_PLAN,
    CLOSURES,
    ENTRIES,
    ENTRY,
    EQUATIONS,
    IDLE,
    MOMENT,
    MOVED_BY,
    MOVES,
    OMEGA,
    ORIGIN,
    PARENT_BODY,
    PATH,
    PATH_LENGTH,
    PATH_PLAN,
    POINT,
    ROW,
    SHIFT_X,
    SLIDE,
    TURN,
    TURN_X,
    VELOCITY,
    X,
    Y,
    Z,
)
from robodyn.numerics.compiler import inner
from robodyn.numerics.simd.lanes import choose
from robodyn.numerics.vectors import add, combine, cross, dot, scale, store, sub, vector


@inner
def turned(body: Any, a: Any) -> Any:
    """A vector of a body's frame in base axes."""
    return combine(vector(body, X), vector(body, Y), vector(body, Z), a)


@inner
def point_of(body: Any, numbers: Any, at: int) -> Any:
    """A point of a body in the base frame."""
    return add(vector(body, ORIGIN), turned(body, vector(numbers, at)))


@inner
def residual(plan: Any, numbers: Any, B: Any, out: Any) -> None:
    """How far each equation (rows,) is from closed [m or 1]; nothing for idle freedoms."""
    at = plan[AT_CLOSURES]
    for _ in range(plan[CLOSURES]):
        a, b = B[plan[at + PARENT_BODY]], B[plan[at + CHILD_BODY]]
        f, row = plan[at + CLOSURE_AT], plan[at + ROW]
        if plan[at + IDLE] == 1:
            out[row] = 0.0
        elif plan[at + POINT] == 1 or plan[at + ACROSS] > 0:
            gap = sub(point_of(b, numbers, f + 3), point_of(a, numbers, f))
            if plan[at + POINT] == 1:
                store(out, row, gap)
                row += 3
        f += CLOSURE_NUMBERS
        for _ in range(plan[at + ACROSS]):
            gap = sub(
                point_of(b, numbers, plan[at + CLOSURE_AT] + 3),
                point_of(a, numbers, plan[at + CLOSURE_AT]),
            )
            out[row] = dot(turned(a, vector(numbers, f)), gap)
            row += 1
            f += 3
        for _ in range(plan[at + ANGLES]):
            u, w = turned(a, vector(numbers, f)), turned(b, vector(numbers, f + 3))
            out[row] = dot(u, w) - numbers[f + 6]
            row += 1
            f += 7
        at += CLOSURE_PLAN


@inner
def fill(plan: Any, numbers: Any, B: Any, K: Any) -> None:
    """Entries of K (ENTRIES,) as the plan places them."""
    for k in range(plan[ENTRIES]):
        K[k] = 0.0
    at = plan[AT_CLOSURES]
    for _ in range(plan[CLOSURES]):
        a, b = B[plan[at + PARENT_BODY]], B[plan[at + CHILD_BODY]]
        f, first = plan[at + CLOSURE_AT], 0
        place = point_of(b, numbers, f + 3)
        if plan[at + POINT] == 1:
            _fill_point(plan, numbers, B, at, place, K)
            first = 3
        f += CLOSURE_NUMBERS
        if plan[at + IDLE] == 1:
            _fill_moment(plan, numbers, B, at, turned(b, vector(numbers, f)), 0, K)
        for _ in range(plan[at + ACROSS]):
            _fill_force(plan, numbers, B, at, place, turned(a, vector(numbers, f)), first, K)
            first += 1
            f += 3
        for _ in range(plan[at + ANGLES]):
            u, w = turned(a, vector(numbers, f)), turned(b, vector(numbers, f + 3))
            _fill_moment(plan, numbers, B, at, cross(w, u), first, K)
            first += 1
            f += 7
        at += CLOSURE_PLAN


@inner
def _fill_point(plan: Any, numbers: Any, B: Any, at: int, place: Any, K: Any) -> None:
    p, s = plan[AT_PATHS] + PATH_PLAN * plan[at + PATH], plan[AT_SIGNS] + plan[at + PATH]
    for _ in range(plan[at + PATH_LENGTH]):
        moves, body, sign = plan[p + MOVES], B[plan[p + MOVED_BY]], numbers[s]
        i, j, k = plan[p + ENTRY], plan[p + ENTRY + 1], plan[p + ENTRY + 2]
        if moves == TURN:
            column = cross(vector(body, Z), sub(place, vector(body, ORIGIN)))
            K[i] = K[i] + sign * column[0]
            K[j] = K[j] + sign * column[1]
            K[k] = K[k] + sign * column[2]
        elif moves == SLIDE:
            column = vector(body, Z)
            K[i] = K[i] + sign * column[0]
            K[j] = K[j] + sign * column[1]
            K[k] = K[k] + sign * column[2]
        elif moves < TURN_X:
            q = plan[p + ENTRY + moves - SHIFT_X]
            K[q] = K[q] + sign
        else:
            arm = sub(place, vector(body, ORIGIN))
            if moves == TURN_X:
                K[j] = K[j] - sign * arm[2]
                K[k] = K[k] + sign * arm[1]
            elif moves == TURN_X + 1:
                K[i] = K[i] + sign * arm[2]
                K[k] = K[k] - sign * arm[0]
            else:
                K[i] = K[i] - sign * arm[1]
                K[j] = K[j] + sign * arm[0]
        p += PATH_PLAN
        s += 1


@inner
def component(a: Any, k: int) -> Any:
    """One of three."""
    if k == 0:
        return a[0]
    if k == 1:
        return a[1]
    return a[2]


@inner
def _fill_force(
    plan: Any, numbers: Any, B: Any, at: int, place: Any, n: Any, row: int, K: Any
) -> None:
    p, s = plan[AT_PATHS] + PATH_PLAN * plan[at + PATH], plan[AT_SIGNS] + plan[at + PATH]
    for _ in range(plan[at + PATH_LENGTH]):
        moves, body, sign = plan[p + MOVES], B[plan[p + MOVED_BY]], numbers[s]
        entry = plan[p + ENTRY + row]
        moment = cross(sub(place, vector(body, ORIGIN)), n)
        if moves == TURN:
            power = dot(vector(body, Z), moment)
        elif moves == SLIDE:
            power = dot(vector(body, Z), n)
        elif moves < TURN_X:
            power = component(n, moves - SHIFT_X)
        else:
            power = component(moment, moves - TURN_X)
        K[entry] = K[entry] + sign * power
        p += PATH_PLAN
        s += 1


@inner
def _fill_moment(plan: Any, numbers: Any, B: Any, at: int, n: Any, row: int, K: Any) -> None:
    p, s = plan[AT_PATHS] + PATH_PLAN * plan[at + PATH], plan[AT_SIGNS] + plan[at + PATH]
    for _ in range(plan[at + PATH_LENGTH]):
        moves, body, sign = plan[p + MOVES], B[plan[p + MOVED_BY]], numbers[s]
        entry = plan[p + ENTRY + row]
        if moves == TURN:
            K[entry] = K[entry] + sign * dot(vector(body, Z), n)
        elif moves >= TURN_X:
            K[entry] = K[entry] + sign * component(n, moves - TURN_X)
        p += PATH_PLAN
        s += 1


@inner
def acceleration_of(body: Any, arm: Any) -> Any:
    """Acceleration of a body's point at constant rates."""
    omega = vector(body, OMEGA)
    turning = add(cross(vector(body, ALPHA), arm), cross(omega, cross(omega, arm)))
    return add(vector(body, ACCEL), turning)


@inner
def velocity_of(body: Any, arm: Any) -> Any:
    """Velocity of a body's point."""
    return add(vector(body, VELOCITY), cross(vector(body, OMEGA), arm))


@inner
def second_derivative(body: Any, u: Any) -> Any:
    """Second time derivative, at constant rates, of a direction fixed in a body."""
    omega = vector(body, OMEGA)
    return add(cross(vector(body, ALPHA), u), cross(omega, cross(omega, u)))


@inner
def bias(plan: Any, numbers: Any, B: Any, out: Any) -> None:
    """Second time derivative (rows,) of the equations at constant rates, K' v."""
    at = plan[AT_CLOSURES]
    for _ in range(plan[CLOSURES]):
        a, b = B[plan[at + PARENT_BODY]], B[plan[at + CHILD_BODY]]
        f, row = plan[at + CLOSURE_AT], plan[at + ROW]
        to_a, to_b = turned(a, vector(numbers, f)), turned(b, vector(numbers, f + 3))
        accel = sub(acceleration_of(b, to_b), acceleration_of(a, to_a))
        if plan[at + POINT] == 1:
            store(out, row, accel)
            row += 3
        f += CLOSURE_NUMBERS
        if plan[at + IDLE] == 1:
            out[row] = dot(turned(b, vector(numbers, f)), vector(b, ALPHA))
        for _ in range(plan[at + ACROSS]):
            n = turned(a, vector(numbers, f))
            gap = sub(add(vector(b, ORIGIN), to_b), add(vector(a, ORIGIN), to_a))
            rate = sub(velocity_of(b, to_b), velocity_of(a, to_a))
            turning = cross(vector(a, OMEGA), n)
            total = dot(n, accel) + 2.0 * dot(turning, rate)
            out[row] = total + dot(second_derivative(a, n), gap)
            row += 1
            f += 3
        for _ in range(plan[at + ANGLES]):
            u, w = turned(a, vector(numbers, f)), turned(b, vector(numbers, f + 3))
            product = dot(cross(vector(a, OMEGA), u), cross(vector(b, OMEGA), w))
            turned_on = dot(second_derivative(a, u), w) + dot(u, second_derivative(b, w))
            out[row] = turned_on + 2.0 * product
            row += 1
            f += 7
        at += CLOSURE_PLAN


@inner
def damp(plan: Any, numbers: Any, B: Any) -> None:
    """Moments of the closures' dampers, taken off what their bodies need."""
    at = plan[AT_CLOSURES]
    for _ in range(plan[CLOSURES]):
        a, b = B[plan[at + PARENT_BODY]], B[plan[at + CHILD_BODY]]
        damping = numbers[plan[at + CLOSURE_AT] + CLOSURE_DAMPING]
        if damping > 0.0:
            moment = scale(damping, sub(vector(b, OMEGA), vector(a, OMEGA)))
            store(b, MOMENT, add(vector(b, MOMENT), moment))
            store(a, MOMENT, sub(vector(a, MOMENT), moment))
        at += CLOSURE_PLAN


@inner
def is_open(plan: Any, numbers: Any, B: Any, limit: float, y: Any) -> Any:
    """Whether an equation is open by more than a part of the mechanism's size; scratch y."""
    residual(plan, numbers, B, y)
    at, largest = plan[AT_ROWS], 0.0 * B[0][X]
    for n in range(plan[EQUATIONS]):
        gap = abs(y[n]) * numbers[at + n]
        largest = choose(gap > largest, gap, largest)
    return largest > limit
