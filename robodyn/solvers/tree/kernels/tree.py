# SPDX-License-Identifier: Apache-2.0

"""Recursions for any tree of joints: placements, velocities, accelerations, efforts.

Vectors are in base axes, forces about each body's origin. The axis of a revolute or prismatic joint
is z of its body. `m` is a mechanism of `layout`; a table `B` (bodies + 1, BODY_SIZE) of floats or
lanes contains the results. The recursions are those of Luh, Walker and Paul (1980).
"""

from __future__ import annotations

import math
from typing import Any

from robodyn.dynamics.kernels.dry_friction import dry_friction, friction_rate
from robodyn.numerics.compiler import inner
from robodyn.numerics.matrices import apply_transposed, matrix, store_matrix, turn_columns
from robodyn.numerics.rotations import displace_pose, rotation_columns, store_quaternion_rate
from robodyn.numerics.simd.lanes import any_of
from robodyn.numerics.trigonometry import sine_cosine
from robodyn.numerics.vectors import (
    add,
    axpy,
    combine,
    cross,
    dot,
    resolve,
    scale,
    store,
    sub,
    symmetric,
    vector,
)
from robodyn.solvers.tree.kernels import layout

DRY_FRICTION_AT = layout.BODY_NUMBERS.dry_friction


@inner
def place_base(m: Any, B: Any) -> None:
    """Initialize the base in row 0 of `B`: at rest, in a field of gravity.

    Gravity is represented by an acceleration of the base with -g.
    """
    base = B[0]
    for k in range(layout.CHANGE + 6):
        base[k] = 0.0
    base[layout.X], base[layout.Y + 1], base[layout.Z + 2] = 1.0, 1.0, 1.0
    for k in range(3):
        base[layout.ACCEL + k] = -m.gravity[k]


@inner
def move_base(base: Any, B: Any) -> None:
    """Set the motion of the base in row 0 of `B`; its origin has no velocity.

    The components of `base` (9,) are those of `dynamics.kernels.base_motion`.
    """
    store(B[0], layout.ACCEL, vector(base, 0))
    store(B[0], layout.OMEGA, vector(base, 3))
    store(B[0], layout.ALPHA, vector(base, 6))


@inner
def place(m: Any, q: Any, B: Any) -> None:
    """Write axes and origins of all bodies at `q` (positions,) to `B`, base frame.

    Call it after `place_base`.
    """
    for i in range(1, m.bodies + 1):
        link = layout.body_of(m, i)
        body, parent = B[i], B[link.parent]
        x, y, z = joint_axes(link, parent)
        origin, arm = vector(parent, layout.ORIGIN), scale(0.0, z)
        if link.centered == 0:
            arm = apply_transposed(matrix(parent, layout.X), link.shift)
        kind, first = link.kind, link.position
        if kind == layout.REVOLUTE:
            s, c = sine_cosine(link.factor * q[first] + link.offset)
            a = axpy(s, y, scale(c, x))
            y = axpy(-s, x, scale(c, y))
            x = a
        elif kind == layout.PRISMATIC:
            arm = axpy(link.factor * q[first] + link.offset, z, arm)
        else:
            arm = add(arm, combine(x, y, z, (q[first], q[first + 1], q[first + 2])))
            zero = 0.0 * q[first]
            qx, qy, qz, qw = q[first + 3], q[first + 4], q[first + 5], q[first + 6]
            own = rotation_columns((zero, zero, zero, qx, qy, qz, qw))
            x, y, z = turn_columns((x, y, z), own)
        store_matrix(body, layout.X, (x, y, z))
        store(body, layout.ARM, arm)
        store(body, layout.ORIGIN, add(origin, arm))


@inner
def velocity_pass(m: Any, v: Any, points: bool, B: Any) -> None:
    """Write the bodies' velocities, and accelerations at constant rates `v`, to `B`.

    They are angular velocities, angular accelerations and accelerations of the bodies' origins,
    base frame; if `points`, velocities of the origins are also written. Call it after `place`.
    """
    spin = vector(B[0], layout.OMEGA)
    for i in range(1, m.bodies + 1):
        link = layout.body_of(m, i)
        body, parent = B[i], B[link.parent]
        omega, alpha = vector(parent, layout.OMEGA), vector(parent, layout.ALPHA)
        arm, z, j = vector(body, layout.ARM), vector(body, layout.Z), link.rate
        carried = cross(omega, arm)
        accel = add(vector(parent, layout.ACCEL), add(cross(alpha, arm), cross(omega, carried)))
        velocity = carried
        if points:
            velocity = add(vector(parent, layout.VELOCITY), carried)
        kind = link.kind
        if kind == layout.REVOLUTE:
            turn = scale(link.factor * v[j], z)
            alpha = add(alpha, cross(omega, turn))
            omega = add(omega, turn)
        elif kind == layout.PRISMATIC:
            slide = scale(link.factor * v[j], z)
            accel = axpy(2.0, cross(omega, slide), accel)
            velocity = add(velocity, slide)
        else:  # relative to the parent, in base axes, which rotate with the base
            slide, turn = (v[j], v[j + 1], v[j + 2]), (v[j + 3], v[j + 4], v[j + 5])
            accel = add(accel, cross(add(omega, spin), slide))
            velocity = add(velocity, slide)
            alpha = add(alpha, cross(spin, turn))
            omega = add(omega, turn)
        store(body, layout.OMEGA, omega)
        store(body, layout.ALPHA, alpha)
        store(body, layout.ACCEL, accel)
        if points:
            store(body, layout.VELOCITY, velocity)


@inner
def inertial_wrenches(m: Any, a: Any, B: Any) -> None:
    """Write inertial forces and moments of the bodies to `B`, for accelerations `a`.

    The moments are about the bodies' origins. Call it after `velocity_pass`, whose accelerations at
    constant rates are added to those due to `a` (rates,).
    """
    for k in range(6):
        B[0][layout.FORCE + k] = 0.0
    for i in range(1, m.bodies + 1):
        link = layout.body_of(m, i)
        body, parent, j = B[i], B[link.parent], link.rate
        alpha, accel = vector(parent, layout.CHANGE), vector(parent, layout.CHANGE + 3)
        accel = add(accel, cross(alpha, vector(body, layout.ARM)))
        kind = link.kind
        if kind == layout.REVOLUTE:
            alpha = axpy(link.factor * a[j], vector(body, layout.Z), alpha)
        elif kind == layout.PRISMATIC:
            accel = axpy(link.factor * a[j], vector(body, layout.Z), accel)
        else:
            accel = add(accel, (a[j], a[j + 1], a[j + 2]))
            alpha = add(alpha, (a[j + 3], a[j + 4], a[j + 5]))
        store(body, layout.CHANGE, alpha)
        store(body, layout.CHANGE + 3, accel)
        if link.has_inertia == 1:
            omega = vector(body, layout.OMEGA)
            alpha = add(alpha, vector(body, layout.ALPHA))
            accel = add(accel, vector(body, layout.ACCEL))
            x, y, z = vector(body, layout.X), vector(body, layout.Y), vector(body, layout.Z)
            com = combine(x, y, z, link.com)
            accel = add(accel, add(cross(alpha, com), cross(omega, cross(omega, com))))
            force = scale(link.mass, accel)
            own = resolve(x, y, z, omega)
            spin = symmetric(link.inertia, 0, own)
            change = symmetric(link.inertia, 0, resolve(x, y, z, alpha))
            moment = combine(x, y, z, add(change, cross(own, spin)))
            store(body, layout.FORCE, force)
            store(body, layout.MOMENT, add(moment, cross(com, force)))
        else:
            for k in range(6):
                body[layout.FORCE + k] = 0.0


@inner
def apply_wrench(B: Any, i: int, arm: Any, force: Any, moment: Any) -> None:
    """Apply an external force and moment, base frame, to body `i`.

    The force acts at the point at `arm` from the body's origin. They are subtracted from the wrench
    that the body's motion requires, in `B`.
    """
    body = B[i]
    store(body, layout.FORCE, sub(vector(body, layout.FORCE), force))
    store(body, layout.MOMENT, sub(vector(body, layout.MOMENT), add(moment, cross(arm, force))))


@inner
def backward_pass(m: Any, q: Any, v: Any, a: Any, B: Any, tau: Any) -> None:
    """Write the efforts at all joints to `tau`, from the bodies' forces in `B`.

    Friction, springs and motor inertia are included. The forces and moments in `B` become those
    that the joints transmit.
    """
    for j in range(m.rates):
        tau[j] = 0.0 * v[j]
    for i in range(m.bodies, 0, -1):
        link = layout.body_of(m, i)
        body, parent, j = B[i], B[link.parent], link.rate
        force, moment = vector(body, layout.FORCE), vector(body, layout.MOMENT)
        kind = link.kind
        if kind == layout.FLOATING:
            for k in range(3):
                tau[j + k] = force[k]
                tau[j + 3 + k] = moment[k]
        else:
            z, factor = vector(body, layout.Z), link.factor
            effort = dot(z, moment)
            if kind == layout.PRISMATIC:
                effort = dot(z, force)
            rate = factor * v[j]
            effort = effort + link.damping * rate + link.armature * (factor * a[j])
            position = factor * q[link.position] + link.offset
            effort = effort + (link.stiffness * position + link.at_zero)
            if m.has_dry_friction == 1:
                side = friction_rate(rate, factor * a[j])
                effort = effort + dry_friction(link.numbers, DRY_FRICTION_AT, side, side)
            tau[j] = tau[j] + factor * effort
        store(parent, layout.FORCE, add(vector(parent, layout.FORCE), force))
        carried = add(moment, cross(vector(body, layout.ARM), force))
        if any_of(abs(link.spin) > 0.0):
            # the spin momentum of a rotor in the parent, SPIN rate z, in addition to the locked
            # rotor's
            z, spin = vector(body, layout.Z), link.factor * link.spin
            alpha, omega = (
                add(vector(parent, layout.ALPHA), vector(parent, layout.CHANGE)),
                vector(parent, layout.OMEGA),
            )
            tau[j] = tau[j] + spin * dot(z, alpha)
            carried = add(carried, axpy(spin * a[j], z, scale(spin * v[j], cross(omega, z))))
        store(parent, layout.MOMENT, add(vector(parent, layout.MOMENT), carried))


@inner
def twists(m: Any, S: Any, count: int, B: Any, T: Any) -> None:
    """Write the bodies' twists for each column of a tangent (rates, count) to `T`.

    `T` is (bodies + 1, 6 count), a twist the angular velocity and then the velocity of the body's
    origin, base frame. `B` contains the frames of the bodies. Floats and SIMD lanes are supported.
    """
    for k in range(6 * count):
        T[0, k] = 0.0
    for i in range(1, m.bodies + 1):
        link = layout.body_of(m, i)
        body, j = B[i], link.rate
        above, own = T[link.parent], T[i]
        arm, z, kind = vector(body, layout.ARM), vector(body, layout.Z), link.kind
        for k in range(count):
            omega = vector(above, 6 * k)
            velocity = add(vector(above, 6 * k + 3), cross(omega, arm))
            if kind == layout.REVOLUTE:
                omega = axpy(link.factor * S[j, k], z, omega)
            elif kind == layout.PRISMATIC:
                velocity = axpy(link.factor * S[j, k], z, velocity)
            else:
                velocity = add(velocity, (S[j, k], S[j + 1, k], S[j + 2, k]))
                omega = add(omega, (S[j + 3, k], S[j + 4, k], S[j + 5, k]))
            store(own, 6 * k, omega)
            store(own, 6 * k + 3, velocity)


@inner
def advance(m: Any, B: Any, step: Any, q: Any) -> None:
    """Displace `q` (positions,) in place by a step (rates,) of all joints.

    `B` contains the frames of the bodies at `q`. The loops are not closed.
    """
    for i in range(1, m.bodies + 1):
        link = layout.body_of(m, i)
        first, j = link.position, link.rate
        if link.kind == layout.FLOATING:
            x, y, z = joint_axes(link, B[link.parent])
            shift = resolve(x, y, z, (step[j], step[j + 1], step[j + 2]))
            turn = resolve(x, y, z, (step[j + 3], step[j + 4], step[j + 5]))
            displace_pose(q, first, shift, turn)
        elif link.own == first:
            q[first] = q[first] + step[j]
    follow(m, q)


@inner
def follow(m: Any, q: Any) -> None:
    """Set the positions of mimic joints in `q` from those of the joints they follow."""
    for i in range(1, m.bodies + 1):
        link = layout.body_of(m, i)
        if link.kind != layout.FLOATING and link.own != link.position:
            q[link.own] = link.factor * q[link.position] + link.offset


@inner
def configuration_rate(m: Any, q: Any, B: Any, v: Any, out: Any) -> None:
    """Write the time derivative of a configuration `q` to `out` (positions,).

    `v` (rates,) contains the rates of all joints, `B` the frames of the bodies at `q`.
    """
    for i in range(1, m.bodies + 1):
        link = layout.body_of(m, i)
        own, j = link.own, link.rate
        if link.kind == layout.FLOATING:
            x, y, z = joint_axes(link, B[link.parent])
            shift = resolve(x, y, z, (v[j], v[j + 1], v[j + 2]))
            turn = resolve(x, y, z, (v[j + 3], v[j + 4], v[j + 5]))
            store(out, own, shift)
            store_quaternion_rate(out, q, own + 3, turn)
        elif own == link.position:
            out[own] = v[j]
        else:
            out[own] = link.factor * v[j]


@inner
def joint_axes(link: Any, parent: Any) -> Any:
    """Return the axes of a joint's frame at position 0, in the base frame."""
    axes = matrix(parent, layout.X)
    if link.aligned == 0:
        axes = turn_columns(axes, (link.frame_x, link.frame_y, link.frame_z))
    return axes


@inner
def normalize(m: Any, q: Any) -> None:
    """Normalize the quaternions of all floating joints in a configuration, in place."""
    for i in range(1, m.bodies + 1):
        link = layout.body_of(m, i)
        if link.kind == layout.FLOATING:
            p = link.own + 3
            square = q[p] * q[p] + q[p + 1] * q[p + 1]
            square = square + q[p + 2] * q[p + 2] + q[p + 3] * q[p + 3]
            inverse = 1.0 / math.sqrt(square)
            for k in range(4):
                q[p + k] = q[p + k] * inverse
