# SPDX-License-Identifier: Apache-2.0

"""Inverse kinematics of a tip pose by Newton's method on closures and pose together.

A step v = p + S u of the tree's rates has two parts. Its part p closes the loops, with constant
independent coordinates. Its part S u, along the tangent S, moves the tip to its goal: u is the
least-squares solution of J u = gap - J p, with the components of a pose multiplied by `weights`
(6,), which are zero for components to ignore. `m` is a mechanism, `s` the `Scratch` of `layout`;
row 0 of s.T holds the weighted gap.
"""

from __future__ import annotations

import math
from typing import Any, Final

from robodyn.numerics.compiler import inner
from robodyn.numerics.linear import factor_positive, solve_by_factor
from robodyn.numerics.matrices import matrix, transpose, turn_columns
from robodyn.numerics.rotations import rotation_columns, store_pose
from robodyn.numerics.simd.lanes import any_of, choose
from robodyn.numerics.vectors import add, copy, cross, dot, scale, store, sub, vector
from robodyn.solvers.tree.kernels import dynamics
from robodyn.solvers.tree.kernels.closures import fill, to_base
from robodyn.solvers.tree.kernels.elimination import factor, solve
from robodyn.solvers.tree.kernels.layout import FLOATING, OK, ORIGIN, REVOLUTE, X, Z, body_of
from robodyn.solvers.tree.kernels.newton import MOST_STEPS, NEAR, close, gaps
from robodyn.solvers.tree.kernels.projection import tangent
from robodyn.solvers.tree.kernels.tree import advance, inertial_wrenches, place_base

# Largest step of a coordinate [rad or m], which keeps the branch.
LONGEST: Final = 0.2
# Relative damping after a step without progress, and the value at which the search ends.
FIRST_DAMPING: Final = 1e-3
LARGEST_DAMPING: Final = 1e8
LEAST_DAMPING: Final = 1e-9
# Number of steps for eight configurations together, which begin near their goals.
MOST_TOGETHER: Final = 7
# Gap of closed loops, relative to the size.
CLOSED: Final = 1e-13
# 2 + 2 cos of an angle beyond which its rotation vector would be too long.
OPPOSITE: Final = 1e-2


@inner
def tip_gap(m: Any, goal: Any, weights: Any, B: Any, out: Any) -> Any:
    """Write the weighted displacement from the tip to a goal (7,) to `out` (6,).

    It is in the base frame, linear over angular. A rotation by an angle t counts as the vector of
    length 2 tan(t / 2) along its axis. `B` contains the frames of the bodies. Return the largest
    absolute component.
    """
    body, at = B[m.tip], m.at_tip
    point = add(vector(body, ORIGIN), to_base(body, vector(m.numbers, at)))
    store(out, 0, sub(vector(goal, 0), point))
    a, b, c = rotation_columns(goal)
    x, y, z = turn_columns(matrix(body, X), matrix(m.numbers, at + 3))
    sine = add(add(cross(x, a), cross(y, b)), cross(z, c))
    half = 1.0 + dot(x, a) + dot(y, b) + dot(z, c)
    store(out, 3, scale(2.0 / choose(half > OPPOSITE, half, OPPOSITE), sine))
    largest = 0.0 * point[0]
    for k in range(6):
        out[k] = weights[k] * out[k]
        largest = choose(abs(out[k]) > largest, abs(out[k]), largest)
    return largest


@inner
def tip_pose(m: Any, B: Any, out: Any) -> None:
    """Write the tip's pose to `out` (7,), base frame, from the bodies' frames in `B`."""
    body, at = B[m.tip], m.at_tip
    origin = add(vector(body, ORIGIN), to_base(body, vector(m.numbers, at)))
    columns = turn_columns(matrix(body, X), matrix(m.numbers, at + 3))
    store_pose(out, origin, transpose(columns))


@inner
def tip_columns(m: Any, weights: Any, s: Any, twist: Any) -> None:
    """Write the tip's weighted Jacobian to `s.J`, and its weighted twist to `twist`.

    The Jacobian (6, free), with respect to the independent coordinates, is computed from the
    tangent `s.S`, the twist (6,) from the rates `s.v`. Both are in the base frame, about the tip,
    and have the components multiplied by `weights` (6,).
    """
    zero = 0.0 * s.K[0]
    for r in range(6):
        twist[r] = zero
        for k in range(m.free):
            s.J[r, k] = zero
    body = s.B[m.tip]
    point = add(vector(body, ORIGIN), to_base(body, vector(m.numbers, m.at_tip)))
    j = m.tip
    while j > 0:
        link, body = body_of(m, j), s.B[j]
        arm, i = sub(point, vector(body, ORIGIN)), link.rate
        if link.kind == FLOATING:
            for k in range(m.free):
                omega = (s.S[i + 3, k], s.S[i + 4, k], s.S[i + 5, k])
                linear = add((s.S[i, k], s.S[i + 1, k], s.S[i + 2, k]), cross(omega, arm))
                _add_column(s.J, k, 1.0 + zero, linear, omega)
            omega = (s.v[i + 3], s.v[i + 4], s.v[i + 5])
            linear = add((s.v[i], s.v[i + 1], s.v[i + 2]), cross(omega, arm))
            _add_twist(twist, 1.0 + zero, linear, omega)
        else:
            axis = scale(link.factor, vector(body, Z))
            linear, omega = axis, scale(0.0, axis)
            if link.kind == REVOLUTE:
                linear, omega = cross(axis, arm), axis
            for k in range(m.free):
                _add_column(s.J, k, s.S[i, k], linear, omega)
            _add_twist(twist, s.v[i], linear, omega)
        j = link.parent
    for r in range(6):
        twist[r] = weights[r] * twist[r]
        for k in range(m.free):
            s.J[r, k] = weights[r] * s.J[r, k]


@inner
def _add_column(J: Any, k: int, rate: Any, linear: Any, omega: Any) -> None:
    J[0, k] = J[0, k] + rate * linear[0]
    J[1, k] = J[1, k] + rate * linear[1]
    J[2, k] = J[2, k] + rate * linear[2]
    J[3, k] = J[3, k] + rate * omega[0]
    J[4, k] = J[4, k] + rate * omega[1]
    J[5, k] = J[5, k] + rate * omega[2]


@inner
def _add_twist(twist: Any, rate: Any, linear: Any, omega: Any) -> None:
    store(twist, 0, add(vector(twist, 0), scale(rate, linear)))
    store(twist, 3, add(vector(twist, 3), scale(rate, omega)))


@inner
def normal_equations(m: Any, damping: float, s: Any) -> None:
    """Write the Cholesky factor of the tip's normal matrix J'J to `s.M`; J is `s.J`.

    Before, the diagonal is multiplied by 1 + `damping`.
    """
    for i in range(m.free):
        for k in range(i + 1):
            total = s.J[0, i] * s.J[0, k]
            for r in range(1, 6):
                total = total + s.J[r, i] * s.J[r, k]
            s.M[i, k] = total
        s.M[i, i] = s.M[i, i] * (1.0 + damping)
    factor_positive(s.M, m.free, 0.0, True)


@inner
def least_squares(m: Any, gap: Any, s: Any) -> None:
    """Write the step of the independent coordinates that best closes a gap to `s.u`.

    It is the least-squares solution of J u = `gap` (6,), with the tip's weighted Jacobian J. Call
    it after `normal_equations`.
    """
    for k in range(m.free):
        total = s.J[0, k] * gap[0]
        for r in range(1, 6):
            total = total + s.J[r, k] * gap[r]
        s.u[k] = total
    solve_by_factor(s.M, m.free, s.u)


@inner
def body_step(m: Any, weights: Any, damping: float, s: Any) -> bool:
    """Write a step of all joints that moves the tip towards its goal to `s.v`.

    The step also closes the loops. Call it after `gaps` and `tip_gap`. Return False if the
    elimination of the closure equations fails.
    """
    fill(m, s.B, s.K)
    if not factor(m, s.K):
        return False
    for k in range(m.free):
        s.v[m.integers[m.at_free + k]] = 0.0 * s.K[0]
    solve(m, s.K, s.y, s.v)
    tangent(m, s.K, s.R, s.S)
    gap, twist = s.T[0], s.T[1]
    tip_columns(m, weights, s, twist)
    normal_equations(m, damping, s)
    for r in range(6):
        gap[r] = gap[r] - twist[r]
    least_squares(m, gap, s)
    longest = 0.0 * s.K[0]
    for j in range(m.rates):
        value = coordinate_rate(m, s, j)
        longest = choose(abs(value) > longest, abs(value), longest)
    fraction = LONGEST / choose(longest > LONGEST, longest, LONGEST)
    for j in range(m.rates):
        s.v[j] = s.v[j] + fraction * coordinate_rate(m, s, j)
    return True


@inner
def coordinate_rate(m: Any, s: Any, j: int) -> Any:
    """Return the step of a tree coordinate due to a step of the independent ones.

    `j` is the coordinate's rate index, `s.u` (free,) the step of the independent coordinates.
    """
    value = s.S[j, 0] * s.u[0]
    for k in range(1, m.free):
        value = value + s.S[j, k] * s.u[k]
    return value


@inner
def reach(
    m: Any, q: Any, goal: Any, weights: Any, target: float, most: int, before: Any, s: Any
) -> float:
    """Move `q` in place to a configuration with the tip at, or near, a goal pose (7,).

    Steps without progress are damped (Levenberg-Marquardt). `before` (positions,) is scratch.

    Returns:
        The largest weighted tip error or closure residual that remains; -1, with `q` undefined, if
        the loops cannot be closed.
    """
    place_base(m, s.B)
    best, left, damping, gap = 1e300, 1e300, 0.0, s.T[0]
    copy(q, before)
    for _ in range(most):
        largest = max(gaps(m, q, s), tip_gap(m, goal, weights, s.B, gap))
        merit = 0.0
        for n in range(m.equations):
            merit += (s.y[n] * m.numbers[m.at_rows + n]) ** 2
        for k in range(6):
            merit += gap[k] * gap[k]
        if merit < best:
            rests = largest <= NEAR and largest > 0.5 * left  # as close as rounding permits
            best, left = merit, largest
            copy(q, before)
            if left <= target or rests:
                return float(left)
            damping = 0.1 * damping if damping > LEAST_DAMPING else 0.0
        else:
            copy(before, q)
            damping = max(10.0 * damping, FIRST_DAMPING)
            if left <= NEAR or not damping < LARGEST_DAMPING:
                break
            gaps(m, q, s)
            tip_gap(m, goal, weights, s.B, gap)
        if not body_step(m, weights, damping, s):
            return -1.0
        advance(m, s.B, s.v, q)
    copy(before, q)
    if not 0.0 <= close(m, q, CLOSED, MOST_STEPS, 0.0, s) <= NEAR:
        return -1.0
    return float(tip_gap(m, goal, weights, s.B, gap))


@inner
def reach_in_lanes(m: Any, q: Any, goal: Any, weights: Any, target: float, s: Any) -> Any:
    """Move eight configurations to nearby goals in SIMD lanes, by undamped steps.

    The arguments are those of `reach`.

    Returns:
        The error that remains for each state; a large number for all eight if the elimination of
        the closure equations fails for any of them.
    """
    place_base(m, s.B)
    left = 1e300 + 0.0 * q[0]
    for _ in range(MOST_TOGETHER):
        left = gaps(m, q, s)
        missing = tip_gap(m, goal, weights, s.B, s.T[0])
        left = choose(missing > left, missing, left)
        moves = ~(left <= target)
        if not any_of(moves):
            return left
        if not body_step(m, weights, 0.0, s):
            return 1e300 + 0.0 * q[0]
        for k in range(m.rates):
            s.v[k] = choose(moves, s.v[k], 0.0)
        advance(m, s.B, s.v, q)
    return left


@inner
def find_body_motion(m: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """Write configurations, rates and accelerations for eight tip motions to `found`.

    They are (positions + 2 free,), rates and accelerations of the independent coordinates, one
    state per SIMD lane. `state` contains a nearby configuration, the tip's pose in place of rates,
    its twist in place of accelerations, and its acceleration in place of a wrench. Results are NaN
    for states whose pose is not reached, and for all eight if the elimination of the closure
    equations fails for any of them. The returned status is always OK.
    """
    weights, target, accepted = settings
    left = reach_in_lanes(m, state.q, state.rates, weights, target, s)
    serves = any_of(left <= accepted)
    if serves:
        fill(m, s.B, s.K)
        serves = factor(m, s.K)
    if serves:
        zero, required, drift = 0.0 * s.K[0], s.T[0], s.T[1]
        for j in range(m.rates):
            s.v[j] = zero
        tangent(m, s.K, s.R, s.S)
        tip_columns(m, weights, s, drift)
        normal_equations(m, 0.0, s)
        for r in range(6):
            required[r] = weights[r] * state.acceleration_or_effort[r]
        least_squares(m, required, s)
        for k in range(m.free):
            found[m.positions + k] = s.u[k]
        dynamics.dependent_rates(m, s.u, s)
        dynamics.accelerations(m, s.u, True, s)
        inertial_wrenches(m, s.a, s.B)
        accel, alpha = dynamics.tip_acceleration(m, s.B)
        store(drift, 0, accel)
        store(drift, 3, alpha)
        for r in range(6):
            required[r] = weights[r] * (state.wrench[r] - drift[r])
        least_squares(m, required, s)
        for k in range(m.free):
            found[m.positions + m.free + k] = s.u[k]
    for k in range(m.positions):
        found[k] = state.q[k]
    for k in range(m.positions + 2 * m.free):
        found[k] = choose(left <= accepted, found[k], math.nan) if serves else math.nan + 0.0 * left
    return OK
