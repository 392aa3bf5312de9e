# SPDX-License-Identifier: Apache-2.0

"""Closures: residuals, their Jacobian K, and their accelerations at constant rates.

Each equation is a wrench between body A and body B: a force along a direction at the child's point,
or a moment. Its row of K is the power of that wrench for each coordinate around the loop; rows and
entries are those of the plan. `m` is a mechanism of `layout`.
"""

from __future__ import annotations

from typing import Any

from robodyn.dynamics.kernels.point_spring import (
    ON_CHILD,
    POINT_SPRING,
    STIFFNESS,
    spring_force,
)
from robodyn.numerics.compiler import inner
from robodyn.numerics.rotations import rotation_vector
from robodyn.numerics.simd.lanes import any_of, choose
from robodyn.numerics.vectors import add, combine, cross, dot, scale, store, sub, vector
from robodyn.solvers.tree.kernels import layout
from robodyn.solvers.tree.kernels.tree import apply_wrench

AFTER, ENTRIES = layout.CLOSURE_NUMBERS.size, layout.STEP_PLAN.entries


@inner
def to_base(body: Any, a: Any) -> Any:
    """Rotate a vector from a body's frame to the base frame."""
    return combine(vector(body, layout.X), vector(body, layout.Y), vector(body, layout.Z), a)


@inner
def point_of(body: Any, place: Any) -> Any:
    """Return the position in the base frame of a point given in a body's frame."""
    return add(vector(body, layout.ORIGIN), to_base(body, place))


@inner
def residual(m: Any, B: Any, out: Any) -> None:
    """Write the residuals of the closure equations to `out` (rows,) [m or 1].

    `B` contains the frames of the bodies. The residuals are zero for idle degrees of freedom.
    """
    for k in range(m.closures):
        closure = layout.closure_of(m, k)
        a, b, row = B[closure.parent], B[closure.child], closure.row
        if closure.idle == 1:
            out[row] = 0.0
        elif closure.point == 1 or closure.across > 0:
            gap = sub(point_of(b, closure.in_child), point_of(a, closure.in_parent))
            if closure.point == 1:
                store(out, row, gap)
                row += 3
            for n in range(closure.across):
                out[row] = dot(to_base(a, direction(closure, n)), gap)
                row += 1
        for n in range(closure.angles):
            in_parent, in_child, cosine = pair(closure, n)
            out[row] = dot(to_base(a, in_parent), to_base(b, in_child)) - cosine
            row += 1


@inner
def direction(closure: Any, n: int) -> Any:
    """Return the closure's `n`-th blocked direction of translation, in a body frame.

    The frame is that of the parent's body.
    """
    return vector(closure.numbers, AFTER + 3 * n)


@inner
def pair(closure: Any, n: int) -> Any:
    """Return the closure's `n`-th pair of directions, and the cosine of their angle.

    The closure keeps this angle constant. The first direction is in the frame of the parent's body,
    the second in that of the child's body.
    """
    at = AFTER + 3 * closure.across + 7 * n
    return vector(closure.numbers, at), vector(closure.numbers, at + 3), closure.numbers[at + 6]


@inner
def fill(m: Any, B: Any, K: Any) -> None:
    """Write the nonzero entries of the closures' Jacobian to `K` (entries,).

    Their order is that of the packed arrays. `B` contains the frames of the bodies.
    """
    for k in range(m.entries):
        K[k] = 0.0
    for k in range(m.closures):
        closure = layout.closure_of(m, k)
        a, b, first = B[closure.parent], B[closure.child], 0
        place = point_of(b, closure.in_child)
        if closure.point == 1:
            _fill_point(m, closure, B, place, K)
            first = 3
        if closure.idle == 1:
            _fill_moment(m, closure, B, to_base(b, vector(closure.numbers, AFTER)), 0, K)
        for n in range(closure.across):
            _fill_force(m, closure, B, place, to_base(a, direction(closure, n)), first, K)
            first += 1
        for n in range(closure.angles):
            in_parent, in_child, _ = pair(closure, n)
            moment = cross(to_base(b, in_child), to_base(a, in_parent))
            _fill_moment(m, closure, B, moment, first, K)
            first += 1


@inner
def add_entry(step: Any, row: int, power: Any, K: Any) -> None:
    """Add `power` to the closure Jacobian's entry for one equation and one joint.

    `row` is the equation's index in its closure; `step` is the joint's step on the closure's path.
    """
    place = step.integers[ENTRIES + row]
    K[place] = K[place] + power


@inner
def _fill_point(m: Any, closure: Any, B: Any, place: Any, K: Any) -> None:
    for k in range(closure.path, closure.path + closure.path_length):
        step = layout.step_of(m, k)
        moves, body, sign = step.moves, B[step.body], step.sign
        if moves <= layout.SLIDE:
            column = vector(body, layout.Z)
            if moves == layout.TURN:
                column = cross(column, sub(place, vector(body, layout.ORIGIN)))
            for n in range(3):
                add_entry(step, n, sign * component(column, n), K)
        elif moves < layout.TURN_X:
            add_entry(step, moves - layout.SHIFT_X, sign, K)
        else:
            # e_n x arm, with e_n the axis of rotation
            n = moves - layout.TURN_X
            arm = sub(place, vector(body, layout.ORIGIN))
            second, third = (n + 1) % 3, (n + 2) % 3
            add_entry(step, second, -sign * component(arm, third), K)
            add_entry(step, third, sign * component(arm, second), K)


@inner
def component(a: Any, k: int) -> Any:
    """Return component `k` (0 to 2) of a vector."""
    if k == 0:
        return a[0]
    if k == 1:
        return a[1]
    return a[2]


@inner
def _fill_force(m: Any, closure: Any, B: Any, place: Any, n: Any, row: int, K: Any) -> None:
    for k in range(closure.path, closure.path + closure.path_length):
        step = layout.step_of(m, k)
        moves, body = step.moves, B[step.body]
        moment = cross(sub(place, vector(body, layout.ORIGIN)), n)
        if moves == layout.TURN:
            power = dot(vector(body, layout.Z), moment)
        elif moves == layout.SLIDE:
            power = dot(vector(body, layout.Z), n)
        elif moves < layout.TURN_X:
            power = component(n, moves - layout.SHIFT_X)
        else:
            power = component(moment, moves - layout.TURN_X)
        add_entry(step, row, step.sign * power, K)


@inner
def _fill_moment(m: Any, closure: Any, B: Any, n: Any, row: int, K: Any) -> None:
    for k in range(closure.path, closure.path + closure.path_length):
        step = layout.step_of(m, k)
        if step.moves == layout.TURN:
            add_entry(step, row, step.sign * dot(vector(B[step.body], layout.Z), n), K)
        elif step.moves >= layout.TURN_X:
            add_entry(step, row, step.sign * component(n, step.moves - layout.TURN_X), K)


@inner
def acceleration_of(body: Any, arm: Any) -> Any:
    """Return the acceleration of a body's point for constant joint rates, base frame.

    The point is at `arm` from the body's origin.
    """
    omega = vector(body, layout.OMEGA)
    turning = add(cross(vector(body, layout.ALPHA), arm), cross(omega, cross(omega, arm)))
    return add(vector(body, layout.ACCEL), turning)


@inner
def velocity_of(body: Any, arm: Any) -> Any:
    """Return the velocity of a body's point at `arm` from its origin, base frame."""
    return add(vector(body, layout.VELOCITY), cross(vector(body, layout.OMEGA), arm))


@inner
def second_derivative(body: Any, u: Any) -> Any:
    """Return the second time derivative of a body-fixed direction at constant rates.

    Both are in the base frame.
    """
    omega = vector(body, layout.OMEGA)
    return add(cross(vector(body, layout.ALPHA), u), cross(omega, cross(omega, u)))


@inner
def bias(m: Any, B: Any, out: Any) -> None:
    """Write the second time derivatives of the closure equations to `out` (rows,).

    They are those at constant joint rates, from the bodies' motion in `B`.
    """
    for k in range(m.closures):
        closure = layout.closure_of(m, k)
        a, b, row = B[closure.parent], B[closure.child], closure.row
        to_a, to_b = to_base(a, closure.in_parent), to_base(b, closure.in_child)
        accel = sub(acceleration_of(b, to_b), acceleration_of(a, to_a))
        if closure.point == 1:
            store(out, row, accel)
            row += 3
        if closure.idle == 1:
            out[row] = dot(to_base(b, vector(closure.numbers, AFTER)), vector(b, layout.ALPHA))
        for i in range(closure.across):
            n = to_base(a, direction(closure, i))
            gap = sub(add(vector(b, layout.ORIGIN), to_b), add(vector(a, layout.ORIGIN), to_a))
            rate = sub(velocity_of(b, to_b), velocity_of(a, to_a))
            turning = cross(vector(a, layout.OMEGA), n)
            total = dot(n, accel) + 2.0 * dot(turning, rate)
            out[row] = total + dot(second_derivative(a, n), gap)
            row += 1
        for i in range(closure.angles):
            in_parent, in_child, _ = pair(closure, i)
            u, w = to_base(a, in_parent), to_base(b, in_child)
            product = dot(cross(vector(a, layout.OMEGA), u), cross(vector(b, layout.OMEGA), w))
            turned_on = dot(second_derivative(a, u), w) + dot(u, second_derivative(b, w))
            out[row] = turned_on + 2.0 * product
            row += 1


@inner
def damp(m: Any, B: Any) -> None:
    """Apply the moments of the closures' dampers and torsion springs to the bodies.

    The moments are subtracted from the wrenches that the bodies' motion requires, in `B`.
    """
    for k in range(m.closures):
        closure = layout.closure_of(m, k)
        a, b = B[closure.parent], B[closure.child]
        if any_of(closure.damping > 0.0):
            moment = scale(closure.damping, sub(vector(b, layout.OMEGA), vector(a, layout.OMEGA)))
            store(b, layout.MOMENT, add(vector(b, layout.MOMENT), moment))
            store(a, layout.MOMENT, sub(vector(a, layout.MOMENT), moment))
        if any_of(closure.stiffness > 0.0):
            moment = scale(closure.stiffness, turn_of(closure, a, b))
            store(b, layout.MOMENT, add(vector(b, layout.MOMENT), moment))
            store(a, layout.MOMENT, sub(vector(a, layout.MOMENT), moment))


@inner
def turn_of(closure: Any, a: Any, b: Any) -> Any:
    """Return the rotation vector [rad] of a closure's child from its rest orientation.

    The rotation is relative to the parent; the vector is in the base frame. `a` and `b` are the
    bodies of parent and child.
    """
    return rotation_vector(
        rotated_axis(closure, a, b, 0),
        rotated_axis(closure, a, b, 1),
        rotated_axis(closure, a, b, 2),
    )


@inner
def rotated_axis(closure: Any, a: Any, b: Any, k: int) -> Any:
    """Rotate axis `k` of the base frame as the child is rotated from its rest orientation.

    `a` and `b` are the bodies of parent and child; the result is in the base frame.
    """
    own = a[layout.X + k], a[layout.Y + k], a[layout.Z + k]
    own = combine(closure.turn_x, closure.turn_y, closure.turn_z, own)
    return combine(vector(b, layout.X), vector(b, layout.Y), vector(b, layout.Z), own)


@inner
def reach_of(m: Any, k: int, B: Any) -> Any:
    """Return the geometry of spring `k`, which connects points of two bodies.

    Returns:
        The indices of the two bodies; the arms from their origins to the spring's ends; the vector
        from the first end to the second; and its time derivative. All vectors are in the base
        frame.
    """
    i, j = m.integers[m.at_springs + 2 * k], m.integers[m.at_springs + 2 * k + 1]
    at = m.at_spring_numbers + POINT_SPRING * k
    a, b, spin = B[i], B[j], vector(B[0], layout.OMEGA)
    arm, child_arm = to_base(a, vector(m.numbers, at)), to_base(b, vector(m.numbers, at + ON_CHILD))
    reach = sub(add(vector(b, layout.ORIGIN), child_arm), add(vector(a, layout.ORIGIN), arm))
    # velocities are those on a fixed base, angular velocities include the base's
    rate = add(vector(b, layout.VELOCITY), cross(sub(vector(b, layout.OMEGA), spin), child_arm))
    rate = sub(
        rate, add(vector(a, layout.VELOCITY), cross(sub(vector(a, layout.OMEGA), spin), arm))
    )
    return (i, j), (arm, child_arm), reach, rate


@inner
def subtract_spring_forces(m: Any, B: Any) -> None:
    """Apply the forces of springs between points to the bodies.

    They are subtracted from the wrenches that the bodies' motion requires, in `B`.
    """
    for k in range(m.springs):
        (i, j), (arm, child_arm), reach, rate = reach_of(m, k, B)
        law = m.at_spring_numbers + POINT_SPRING * k + STIFFNESS
        force = spring_force(m.numbers, law, reach, rate)
        none = scale(0.0, force)
        apply_wrench(B, i, arm, force, none)
        apply_wrench(B, j, child_arm, scale(-1.0, force), none)


@inner
def largest_gap(m: Any, zero: Any, y: Any) -> Any:
    """Return the largest closure residual in `y`, relative to the mechanism's size."""
    largest = zero
    for n in range(m.equations):
        gap = abs(y[n]) * m.numbers[m.at_rows + n]
        largest = choose(gap > largest, gap, largest)
    return largest
