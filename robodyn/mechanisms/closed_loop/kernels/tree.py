# SPDX-License-Identifier: Apache-2.0

"""Any tree of joints: placements, velocities, accelerations, efforts, kinetic energy.

Vectors are in base axes, forces about each body's origin. A revolute or prismatic joint's axis is
z of its body. `plan` and `numbers` as in `layout`; a table `B` (bodies + 1, BODY_SIZE) of floats,
or of lanes, holds what is found. The recursions are those of Luh, Walker and Paul (1980).
"""

from __future__ import annotations

import math
from typing import Any

from robodyn.mechanisms.closed_loop.kernels.layout import (
    ACCEL,
    ALIGNED,
    ALPHA,
    ARM,
    ARMATURE,
    AT_BODIES,
    AT_NUMBERS,
    BODIES,
    BODY_NUMBERS,
    BODY_PLAN,
    CENTRED,
    CHANGE,
    COM,
    DAMPING,
    FACTOR,
    FLOATING,
    FORCE,
    FRAME,
    FRICTION_FORWARD,
    HEAVY,
    INERTIA,
    KIND,
    MASS,
    MOMENT,
    OFFSET,
    OMEGA,
    ORIGIN,
    OWN,
    PARENT,
    POSITION,
    PRISMATIC,
    RATE,
    RATES,
    REVOLUTE,
    SHIFT,
    SPIN,
    VELOCITY,
    X,
    Y,
    Z,
)
from robodyn.mechanisms.common.kernels.dry_friction import dry_friction, imminent
from robodyn.numerics.compiler import inner
from robodyn.numerics.rotations import displace_pose, rotation_columns
from robodyn.numerics.trigonometry import sine_cosine
from robodyn.numerics.vectors import (
    add,
    axpy,
    combine,
    cross,
    dot,
    scale,
    store,
    sub,
    symmetric,
    turn_inertia,
    vector,
)


@inner
def place_base(B: Any, gravity: Any) -> None:
    """The base stands still, accelerated against gravity."""
    base = B[0]
    for k in range(CHANGE + 6):
        base[k] = 0.0
    base[X], base[Y + 1], base[Z + 2] = 1.0, 1.0, 1.0
    for k in range(3):
        base[ACCEL + k] = -gravity[k]


@inner
def place(plan: Any, numbers: Any, q: Any, B: Any) -> None:
    """Frames and origins of all bodies."""
    at, f = plan[AT_BODIES], plan[AT_NUMBERS]
    for i in range(1, plan[BODIES] + 1):
        body, parent = B[i], B[plan[at + PARENT]]
        x, y, z = vector(parent, X), vector(parent, Y), vector(parent, Z)
        origin = vector(parent, ORIGIN)
        arm = vector(parent, 0)
        if plan[at + CENTRED] == 0:
            arm = combine(x, y, z, vector(numbers, f + SHIFT))
        if plan[at + ALIGNED] == 0:
            a = combine(x, y, z, vector(numbers, f + FRAME))
            b = combine(x, y, z, vector(numbers, f + FRAME + 3))
            z = combine(x, y, z, vector(numbers, f + FRAME + 6))
            x, y = a, b
        if plan[at + CENTRED] == 1:
            arm = scale(0.0, z)
        kind, first = plan[at + KIND], plan[at + POSITION]
        if kind == REVOLUTE:
            s, c = sine_cosine(numbers[f + FACTOR] * q[first] + numbers[f + OFFSET])
            a = axpy(s, y, scale(c, x))
            y = axpy(-s, x, scale(c, y))
            x = a
        elif kind == PRISMATIC:
            arm = axpy(numbers[f + FACTOR] * q[first] + numbers[f + OFFSET], z, arm)
        else:
            arm = add(arm, combine(x, y, z, (q[first], q[first + 1], q[first + 2])))
            zero = 0.0 * q[first]
            own = rotation_columns(
                (
                    zero,
                    zero,
                    zero,
                    q[first + 3],
                    q[first + 4],
                    q[first + 5],
                    q[first + 6],
                )
            )
            a = combine(x, y, z, own[0])
            b = combine(x, y, z, own[1])
            z = combine(x, y, z, own[2])
            x, y = a, b
        store(body, X, x)
        store(body, Y, y)
        store(body, Z, z)
        store(body, ARM, arm)
        store(body, ORIGIN, add(origin, arm))
        at += BODY_PLAN
        f += BODY_NUMBERS


@inner
def move(plan: Any, numbers: Any, v: Any, points: bool, B: Any) -> None:
    """Angular velocities, and accelerations at constant rates v; of origins if `points`."""
    at, f = plan[AT_BODIES], plan[AT_NUMBERS]
    for i in range(1, plan[BODIES] + 1):
        body, parent = B[i], B[plan[at + PARENT]]
        omega, alpha = vector(parent, OMEGA), vector(parent, ALPHA)
        arm, z, j = vector(body, ARM), vector(body, Z), plan[at + RATE]
        carried = cross(omega, arm)
        accel = add(vector(parent, ACCEL), add(cross(alpha, arm), cross(omega, carried)))
        velocity = carried
        if points:
            velocity = add(vector(parent, VELOCITY), carried)
        kind = plan[at + KIND]
        if kind == REVOLUTE:
            turn = scale(numbers[f + FACTOR] * v[j], z)
            alpha = add(alpha, cross(omega, turn))
            omega = add(omega, turn)
        elif kind == PRISMATIC:
            slide = scale(numbers[f + FACTOR] * v[j], z)
            accel = axpy(2.0, cross(omega, slide), accel)
            velocity = add(velocity, slide)
        else:  # relative to the parent, but in base axes
            slide, turn = (v[j], v[j + 1], v[j + 2]), (v[j + 3], v[j + 4], v[j + 5])
            accel = add(accel, cross(omega, slide))
            velocity = add(velocity, slide)
            omega = add(omega, turn)
        store(body, OMEGA, omega)
        store(body, ALPHA, alpha)
        store(body, ACCEL, accel)
        if points:
            store(body, VELOCITY, velocity)
        at += BODY_PLAN
        f += BODY_NUMBERS


@inner
def load(plan: Any, numbers: Any, a: Any, B: Any) -> None:
    """Forces and moments that the bodies need, each for itself, where the rates change by a."""
    at, f = plan[AT_BODIES], plan[AT_NUMBERS]
    for k in range(6):
        B[0][FORCE + k] = 0.0
    for i in range(1, plan[BODIES] + 1):
        body, parent, j = B[i], B[plan[at + PARENT]], plan[at + RATE]
        alpha, accel = vector(parent, CHANGE), vector(parent, CHANGE + 3)
        accel = add(accel, cross(alpha, vector(body, ARM)))
        kind = plan[at + KIND]
        if kind == REVOLUTE:
            alpha = axpy(numbers[f + FACTOR] * a[j], vector(body, Z), alpha)
        elif kind == PRISMATIC:
            accel = axpy(numbers[f + FACTOR] * a[j], vector(body, Z), accel)
        else:
            accel = add(accel, (a[j], a[j + 1], a[j + 2]))
            alpha = add(alpha, (a[j + 3], a[j + 4], a[j + 5]))
        store(body, CHANGE, alpha)
        store(body, CHANGE + 3, accel)
        if plan[at + HEAVY] == 1:
            omega = vector(body, OMEGA)
            alpha = add(alpha, vector(body, ALPHA))
            accel = add(accel, vector(body, ACCEL))
            x, y, z = vector(body, X), vector(body, Y), vector(body, Z)
            com = combine(x, y, z, vector(numbers, f + COM))
            accel = add(accel, add(cross(alpha, com), cross(omega, cross(omega, com))))
            force = scale(numbers[f + MASS], accel)
            own = vector_in(x, y, z, omega)
            spin = symmetric(numbers, f + INERTIA, own)
            change = symmetric(numbers, f + INERTIA, vector_in(x, y, z, alpha))
            moment = combine(x, y, z, add(change, cross(own, spin)))
            store(body, FORCE, force)
            store(body, MOMENT, add(moment, cross(com, force)))
        else:
            for k in range(6):
                body[FORCE + k] = 0.0
        at += BODY_PLAN
        f += BODY_NUMBERS


@inner
def vector_in(x: Any, y: Any, z: Any, a: Any) -> Any:
    """Components of a vector along three axes."""
    return dot(x, a), dot(y, a), dot(z, a)


@inner
def push(B: Any, i: int, arm: Any, force: Any, moment: Any) -> None:
    """The surroundings push body i: force at `arm` from its origin, and moment."""
    body = B[i]
    store(body, FORCE, sub(vector(body, FORCE), force))
    store(body, MOMENT, sub(vector(body, MOMENT), add(moment, cross(arm, force))))


@inner
def gather(plan: Any, numbers: Any, v: Any, a: Any, rubs: bool, B: Any, tau: Any) -> None:
    """Efforts (rates,) at all joints from the forces on the bodies, friction and motors too."""
    for j in range(plan[RATES]):
        tau[j] = 0.0 * v[j]
    n = plan[BODIES]
    at, f = plan[AT_BODIES] + n * BODY_PLAN, plan[AT_NUMBERS] + n * BODY_NUMBERS
    for i in range(n, 0, -1):
        at -= BODY_PLAN
        f -= BODY_NUMBERS
        body, parent, j = B[i], B[plan[at + PARENT]], plan[at + RATE]
        force, moment = vector(body, FORCE), vector(body, MOMENT)
        kind = plan[at + KIND]
        if kind == FLOATING:
            for k in range(3):
                tau[j + k] = force[k]
                tau[j + 3 + k] = moment[k]
        else:
            z, factor = vector(body, Z), numbers[f + FACTOR]
            effort = dot(z, moment)
            if kind == PRISMATIC:
                effort = dot(z, force)
            rate = factor * v[j]
            effort = effort + numbers[f + DAMPING] * rate + numbers[f + ARMATURE] * (factor * a[j])
            if rubs:
                side = imminent(rate, factor * a[j])
                effort = effort + dry_friction(numbers, f + FRICTION_FORWARD, side, side)
            tau[j] = tau[j] + factor * effort
        store(parent, FORCE, add(vector(parent, FORCE), force))
        carried = add(moment, cross(vector(body, ARM), force))
        if numbers[f + SPIN] != 0.0:
            # the spin momentum of a rotor in the parent, SPIN rate z, beside what it has locked
            z, spin = vector(body, Z), numbers[f + FACTOR] * numbers[f + SPIN]
            alpha, omega = add(vector(parent, ALPHA), vector(parent, CHANGE)), vector(parent, OMEGA)
            tau[j] = tau[j] + spin * dot(z, alpha)
            carried = add(carried, axpy(spin * a[j], z, scale(spin * v[j], cross(omega, z))))
        store(parent, MOMENT, add(vector(parent, MOMENT), carried))


@inner
def twists(plan: Any, numbers: Any, S: Any, count: int, B: Any, T: Any) -> None:
    """Twists of all bodies for each column of the tangent S (rates, count), angular first.

    T is (bodies + 1, 6 count), of floats or of lanes.
    """
    at, f = plan[AT_BODIES], plan[AT_NUMBERS]
    for k in range(6 * count):
        T[0, k] = 0.0
    for i in range(1, plan[BODIES] + 1):
        body, j = B[i], plan[at + RATE]
        above, own = T[plan[at + PARENT]], T[i]
        arm, z, kind = vector(body, ARM), vector(body, Z), plan[at + KIND]
        for k in range(count):
            omega = vector(above, 6 * k)
            velocity = add(vector(above, 6 * k + 3), cross(omega, arm))
            if kind == REVOLUTE:
                omega = axpy(numbers[f + FACTOR] * S[j, k], z, omega)
            elif kind == PRISMATIC:
                velocity = axpy(numbers[f + FACTOR] * S[j, k], z, velocity)
            else:
                velocity = add(velocity, (S[j, k], S[j + 1, k], S[j + 2, k]))
                omega = add(omega, (S[j + 3, k], S[j + 4, k], S[j + 5, k]))
            store(own, 6 * k, omega)
            store(own, 6 * k + 3, velocity)
        at += BODY_PLAN
        f += BODY_NUMBERS


@inner
def advance(plan: Any, numbers: Any, B: Any, step: Any, q: Any) -> None:
    """Displace q (positions,), where the bodies of B are, by a step (rates,), in place."""
    at, f = plan[AT_BODIES], plan[AT_NUMBERS]
    for i in range(1, plan[BODIES] + 1):
        first, j = plan[at + POSITION], plan[at + RATE]
        if plan[at + KIND] == FLOATING:
            x, y, z = joint_axes(plan, numbers, B, i)
            shift = vector_in(x, y, z, (step[j], step[j + 1], step[j + 2]))
            turn = vector_in(x, y, z, (step[j + 3], step[j + 4], step[j + 5]))
            displace_pose(q, first, shift, turn)
        elif plan[at + OWN] == first:
            q[first] = q[first] + step[j]
        at += BODY_PLAN
        f += BODY_NUMBERS
    follow(plan, numbers, q)


@inner
def follow(plan: Any, numbers: Any, q: Any) -> None:
    """Bring the positions of mimic joints in q to those of the joints they follow."""
    at, f = plan[AT_BODIES], plan[AT_NUMBERS]
    for _ in range(plan[BODIES]):
        if plan[at + KIND] != FLOATING and plan[at + OWN] != plan[at + POSITION]:
            q[plan[at + OWN]] = numbers[f + FACTOR] * q[plan[at + POSITION]] + numbers[f + OFFSET]
        at += BODY_PLAN
        f += BODY_NUMBERS


@inner
def energy(plan: Any, numbers: Any, gravity: Any, v: Any, B: Any) -> Any:
    """Kinetic and potential energy [J] of bodies that `move` has told the velocities of."""
    kinetic, potential = 0.0 * v[0], 0.0 * v[0]
    at, f = plan[AT_BODIES], plan[AT_NUMBERS]
    for i in range(1, plan[BODIES] + 1):
        body, mass = B[i], numbers[f + MASS]
        if plan[at + HEAVY] == 1:
            x, y, z = vector(body, X), vector(body, Y), vector(body, Z)
            com = combine(x, y, z, vector(numbers, f + COM))
            omega = vector(body, OMEGA)
            velocity = add(vector(body, VELOCITY), cross(omega, com))
            spin = turn_inertia(x, y, z, numbers, f + INERTIA, omega)
            kinetic = kinetic + 0.5 * (mass * dot(velocity, velocity) + dot(omega, spin))
            place = add(vector(body, ORIGIN), com)
            potential = potential - mass * dot(vector(gravity, 0), place)
        if plan[at + KIND] != FLOATING:
            rate = numbers[f + FACTOR] * v[plan[at + RATE]]
            carried = dot(vector(body, Z), vector(B[plan[at + PARENT]], OMEGA))
            momentum = 0.5 * numbers[f + ARMATURE] * rate + numbers[f + SPIN] * carried
            kinetic = kinetic + momentum * rate
        at += BODY_PLAN
        f += BODY_NUMBERS
    return kinetic, potential


@inner
def configuration_rate(plan: Any, numbers: Any, q: Any, B: Any, v: Any, out: Any) -> None:
    """Time derivative out (positions,) of a configuration at rates v (rates,) of the tree."""
    at, f = plan[AT_BODIES], plan[AT_NUMBERS]
    for i in range(1, plan[BODIES] + 1):
        own, j = plan[at + OWN], plan[at + RATE]
        if plan[at + KIND] == FLOATING:
            x, y, z = joint_axes(plan, numbers, B, i)
            shift = vector_in(x, y, z, (v[j], v[j + 1], v[j + 2]))
            a, b, c = vector_in(x, y, z, (v[j + 3], v[j + 4], v[j + 5]))
            qx, qy, qz, qw = q[own + 3], q[own + 4], q[own + 5], q[own + 6]
            store(out, own, shift)
            out[own + 3] = 0.5 * (a * qw + b * qz - c * qy)
            out[own + 4] = 0.5 * (b * qw + c * qx - a * qz)
            out[own + 5] = 0.5 * (c * qw + a * qy - b * qx)
            out[own + 6] = -0.5 * (a * qx + b * qy + c * qz)
        elif own == plan[at + POSITION]:
            out[own] = v[j]
        else:
            out[own] = numbers[f + FACTOR] * v[j]
        at += BODY_PLAN
        f += BODY_NUMBERS


@inner
def joint_axes(plan: Any, numbers: Any, B: Any, i: int) -> Any:
    """The axes of the frame that a joint starts from."""
    at = plan[AT_BODIES] + (i - 1) * BODY_PLAN
    f = plan[AT_NUMBERS] + (i - 1) * BODY_NUMBERS
    parent = B[plan[at + PARENT]]
    x, y, z = vector(parent, X), vector(parent, Y), vector(parent, Z)
    if plan[at + ALIGNED] == 0:
        a = combine(x, y, z, vector(numbers, f + FRAME))
        b = combine(x, y, z, vector(numbers, f + FRAME + 3))
        z = combine(x, y, z, vector(numbers, f + FRAME + 6))
        x, y = a, b
    return x, y, z


@inner
def normalize(plan: Any, q: Any) -> None:
    """Bring the quaternions of floating joints in q (positions,) to unit length."""
    at = plan[AT_BODIES]
    for _ in range(plan[BODIES]):
        if plan[at + KIND] == FLOATING:
            p = plan[at + OWN] + 3
            square = q[p] ** 2 + q[p + 1] ** 2 + q[p + 2] ** 2 + q[p + 3] ** 2
            inverse = 1.0 / math.sqrt(square)
            for k in range(4):
                q[p + k] *= inverse
        at += BODY_PLAN
