# SPDX-License-Identifier: Apache-2.0

"""Regressor of a closed loop, for eight states at a time in SIMD lanes.

The columns of the open tree are projected with the twists of its bodies for a unit rate of each
independent coordinate, in one pass for all parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robodyn.dynamics.kernels.base_motion import BASE
from robodyn.dynamics.kernels.body_columns import write_body_columns
from robodyn.dynamics.kernels.dry_friction import DRY_FRICTION, dry_friction, friction_rate
from robodyn.dynamics.kernels.lanes import evaluate_lanes
from robodyn.dynamics.kernels.point_spring import POINT_SPRING, SLACK, spring_force
from robodyn.numerics.array_arguments import borrowed_array
from robodyn.numerics.compiler import batch_entry, inner
from robodyn.numerics.linear import LEAST_PIVOT, factor_positive, solve_by_factor
from robodyn.numerics.matrices import apply_transposed, matrix, turn_columns
from robodyn.numerics.simd.tables import as_table, new_tables
from robodyn.numerics.vectors import (
    add,
    axpy,
    cross,
    dot,
    resolve,
    scale,
    sub,
    vector,
)
from robodyn.solvers.tree.kernels import layout
from robodyn.solvers.tree.kernels.closures import reach_of, turn_of
from robodyn.solvers.tree.kernels.distribution import weigh_drives
from robodyn.solvers.tree.kernels.dynamics import joint_motion
from robodyn.solvers.tree.kernels.projection import tangent
from robodyn.solvers.tree.kernels.tree import inertial_wrenches, twists

# Data of a further parameter: 1 for a closure, 2 for a spring between points, else 0
# for a joint; the index of the closure, the spring or the joint's body; and its unit.
OF_CLOSURE, NUMBER, DAMPING, ARMATURE, SPIN, STIFFNESS, AT_ZERO, FRICTION = range(8)
FURTHER = FRICTION + DRY_FRICTION


def numbers_needed(head: Mapping[str, int], count: int) -> int:
    """Return the number of SIMD vectors of scratch memory for a regressor.

    Args:
        head: named entries at the start of the packed array `plan`, see `layout.PLAN`.
        count: entries of the regressor, the number of driven joints times that of parameters.
    """
    row = layout.BODY_SIZE + max(6 * head["free"], layout.COMPOSITE) + 7
    width = max(head["widest"], head["positions"], BASE)
    return (head["bodies"] + 1 + head["rates"]) * row + 12 * head["widest"] + 5 * width + count


@inner
def write_body(m: Any, i: int, frame: Any, s: Any, found: Any) -> None:
    """Write the ten regressor columns of body `i` to `found` (free, p).

    The inertial parameters are expressed in a frame that is fixed on the body: `frame` (12,)
    contains its axes and origin. The rows are those of the independent coordinates.
    """
    body = s.B[i]
    a, b, c = turn_columns(matrix(body, layout.X), matrix(frame, 0))
    arm = apply_transposed(matrix(body, layout.X), vector(frame, 9))
    omega = vector(body, layout.OMEGA)
    alpha = add(vector(body, layout.ALPHA), vector(body, layout.CHANGE))
    accel = add(vector(body, layout.ACCEL), vector(body, layout.CHANGE + 3))
    accel = add(accel, add(cross(alpha, arm), cross(omega, cross(omega, arm))))
    accel, omega = resolve(a, b, c, accel), resolve(a, b, c, omega)
    alpha = resolve(a, b, c, alpha)
    for k in range(m.free):
        turn = vector(s.T[i], 6 * k)
        shift = add(vector(s.T[i], 6 * k + 3), cross(turn, arm))
        turn, shift = resolve(a, b, c, turn), resolve(a, b, c, shift)
        write_body_columns(shift, turn, accel, omega, alpha, found[k], 10 * (i - 1))


@inner
def write_closure(m: Any, number: int, unit: Any, s: Any, found: Any, column: int) -> None:
    """Write the regressor column of a closure's damping or stiffness to `found`.

    `found` (free, p) has a row for each independent coordinate; `column` is the column's index.
    `unit` (FURTHER,) describes one unit of the parameter, see `regressor`.
    """
    closure = layout.closure_of(m, number)
    a, b = closure.parent, closure.child
    moment = scale(unit[DAMPING], sub(vector(s.B[b], layout.OMEGA), vector(s.B[a], layout.OMEGA)))
    if unit[STIFFNESS] != 0.0:
        moment = scale(unit[STIFFNESS], turn_of(closure, s.B[a], s.B[b]))
    for k in range(m.free):
        turn = sub(vector(s.T[b], 6 * k), vector(s.T[a], 6 * k))
        found[k, column] = dot(turn, moment)


@inner
def write_spring(m: Any, number: int, unit: Any, s: Any, found: Any, column: int) -> None:
    """Write the regressor column of a spring between points to `found`.

    `found` (free, p) has a row for each independent coordinate; `column` is the column's index.
    `unit` (FURTHER,) describes one unit of the spring's parameter, see `regressor`.
    """
    (i, j), (arm, child_arm), reach, rate = reach_of(m, number, s.B)
    slack = m.numbers[m.at_spring_numbers + POINT_SPRING * number + SLACK]
    law = unit[STIFFNESS], unit[AT_ZERO], unit[DAMPING], slack
    force = spring_force(law, 0, reach, rate)
    for k in range(m.free):
        apart = add(vector(s.T[j], 6 * k + 3), cross(vector(s.T[j], 6 * k), child_arm))
        apart = sub(apart, add(vector(s.T[i], 6 * k + 3), cross(vector(s.T[i], 6 * k), arm)))
        found[k, column] = dot(apart, force)


@inner
def write_joint(m: Any, i: int, unit: Any, q: Any, s: Any, found: Any, column: int) -> None:
    """Write the regressor column of a parameter of body i's joint to `found`.

    `found` (free, p) has a row for each independent coordinate; `column` is the column's index.
    `unit` (FURTHER,) describes one unit of the parameter, see `regressor`.
    """
    link, parent = layout.body_of(m, i), s.B[layout.body_of(m, i).parent]
    j, factor = link.rate, link.factor
    rate, change = factor * s.v[j], factor * s.a[j]
    side = friction_rate(rate, change)
    effort = unit[DAMPING] * rate + unit[ARMATURE] * change
    position = factor * q[link.position] + link.offset
    effort = effort + unit[STIFFNESS] * position + unit[AT_ZERO]
    effort = factor * (effort + dry_friction(unit, FRICTION, side, side))
    spin = unit[SPIN] * factor
    z, omega = vector(s.B[i], layout.Z), vector(parent, layout.OMEGA)
    alpha = add(vector(parent, layout.ALPHA), vector(parent, layout.CHANGE))
    effort = effort + spin * dot(z, alpha)
    moment = axpy(spin * s.a[j], z, scale(spin * s.v[j], cross(omega, z)))
    for k in range(m.free):
        turn = vector(s.T[link.parent], 6 * k)
        found[k, column] = s.S[j, k] * effort + dot(turn, moment)


@inner
def distribute(m: Any, s: Any, count: int, found: Any) -> int:
    """Convert a regressor of independent coordinates to one of the driven joints.

    `found` is changed in place from (free, p) to (driven, p), by the distribution with the least
    weighted sum of squares; `count` is p. Return OK, or SINGULAR if the drives do not determine the
    motion.
    """
    weigh_drives(m, s.S, s.M)
    if not factor_positive(s.M, m.free, LEAST_PIVOT, False):
        return layout.SINGULAR
    for column in range(count):
        for k in range(m.free):
            s.u[k] = found[k, column]
        solve_by_factor(s.M, m.free, s.u)
        for j in range(m.driven):
            total = 0.0 * s.u[0]
            for k in range(m.free):
                total = total + s.S[m.integers[m.at_driven + j], k] * s.u[k]
            found[j, column] = m.numbers[m.at_weights + j] * total
    return layout.OK


@inner
def find_regressor(m: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """Write the regressors of eight states to `found` (driven * p), one per SIMD lane.

    A regressor (driven, p) is stored row by row. Return one status for all eight states: OK, or the
    code of a failure.
    """
    frames, further = settings
    status = joint_motion(m, state, False, s)
    if status != layout.OK:
        return status
    inertial_wrenches(m, s.a, s.B)
    tangent(m, s.K, s.R, s.S)
    twists(m, s.S, m.free, s.B, s.T)
    first = 10 * m.bodies
    count = first + further.shape[0]
    table = as_table(found, count)
    for i in range(1, m.bodies + 1):
        write_body(m, i, frames[i - 1], s, table)
    for n in range(further.shape[0]):
        unit = further[n]
        number = int(unit[NUMBER])
        if unit[OF_CLOSURE] == 2.0:
            write_spring(m, number, unit, s, table, first + n)
        elif unit[OF_CLOSURE] != 0.0:
            write_closure(m, number, unit, s, table, first + n)
        else:
            write_joint(m, number, unit, state.q, s, table, first + n)
    return layout.OK if m.drives_free == 1 else distribute(m, s, count, table)


@batch_entry
def regressor(
    plan: Any, numbers: Any, q: Any, rates: Any, change: Any, frames: Any, further: Any, out: Any
) -> int:
    """Write the regressors of N states to `out` (N, driven * p).

    A regressor (driven, p) is stored row by row; it is NaN for a state without a result. Return the
    number of states, counted from the first, whose arguments are finite.

    Args:
        plan, numbers: packed arrays of the mechanism.
        q, rates, change: (N, positions) configurations, (N, free) velocities and accelerations of
            the independent joints.
        frames: (bodies, 12) axes and origin, on each body, of the frame of its parameters.
        further: (k, FURTHER) data for one unit of each parameter of a joint, closure or spring.
        out: the results.
    """
    m = layout.mechanism(plan, numbers)
    given = borrowed_array(q), borrowed_array(rates), borrowed_array(change)
    settings = borrowed_array(frames), borrowed_array(further)
    s, width = new_tables(layout.shapes(m)), max(m.widest, m.positions, BASE)
    return evaluate_lanes(find_regressor, m, given, width, settings, True, s, borrowed_array(out))
