# SPDX-License-Identifier: Apache-2.0

"""Derivatives of an arm's dynamics by recursion, of floats or of lanes.

After Singh, Russell and Wensing (2022), "Efficient analytical derivatives of rigid-body dynamics
using spatial vector algebra". Spatial vectors are pairs of an angular and a linear part, of forces
moment and force, about the base's origin and in its axes. With Psi' = v x S and Psi'' = a x S +
v x Psi' of the link before a joint, and I, B, f of all that it carries, the derivatives of the
effort S_i f_i are, for j at or beyond i,

    by q_j: S_i (2 B_j Psi'_j + I_j Psi''_j + S_j x* f_j),   by q'_j: S_i 2 (B_j S_j + I_j Psi'_j)

and, for j before i, the same with I_i and B_i and without f. Of B m only the angular part of m
counts: with D = sum of dm u r' of the particles at r with velocity u, and their momentum p,
B m = (tr(D) w - D w, w x p).
"""

from __future__ import annotations

from typing import Any

from robodyn.mechanisms.common.kernels.dry_friction import dry_friction_slope, imminent
from robodyn.mechanisms.serial.kernels.layout import (
    ARMATURE,
    DAMPING,
    DRY_FRICTION,
    MASS,
    PRISMATIC,
)
from robodyn.mechanisms.serial.kernels.spatial import (
    Matrix,
    add_outer,
    add_point_mass,
    back,
    forth,
    joint_axis,
    joint_origin,
    link_com,
    link_inertia,
    plus,
)
from robodyn.numerics.compiler import inner
from robodyn.numerics.vectors import Vector, add, axpy, cross, dot, scale, store, vector

# Scratch, a row for each joint.
AXIS, ARM = 0, 3  # S
TURNING, MOVING = 6, 9  # Psi'
TURNED, MOVED = 12, 15  # Psi''
OMEGA, VELOCITY = 18, 21  # of the link
ALPHA, ACCELERATION = 24, 27
SLOPE_SIZE = 30


@inner
def outward(chain: Any, frames: Any, base: Any, qd: Any, qdd: Any, rows: Any) -> None:
    """Motion of the links, and S, Psi' and Psi'' of the joints."""
    omega, alpha, accel = base.omega, base.alpha, base.force
    none = scale(0.0, base.force)
    velocity = none
    for i in range(chain.shape[0] - 1):
        row, z = rows[i], joint_axis(frames, i)
        axis, arm = z, cross(joint_origin(frames, i), z)
        if chain[i + 1, PRISMATIC] != 0.0:
            axis, arm = none, z
        turning = cross(omega, axis)
        moving = add(cross(omega, arm), cross(velocity, axis))
        turned = add(cross(alpha, axis), cross(omega, turning))
        moved = add(cross(alpha, arm), cross(accel, axis))
        moved = add(moved, add(cross(omega, moving), cross(velocity, turning)))
        omega, velocity = axpy(qd[i], axis, omega), axpy(qd[i], arm, velocity)
        alpha = add(axpy(qdd[i], axis, alpha), scale(qd[i], turning))
        accel = add(axpy(qdd[i], arm, accel), scale(qd[i], moving))
        store(row, AXIS, axis)
        store(row, ARM, arm)
        store(row, TURNING, turning)
        store(row, MOVING, moving)
        store(row, TURNED, turned)
        store(row, MOVED, moved)
        store(row, OMEGA, omega)
        store(row, VELOCITY, velocity)
        store(row, ALPHA, alpha)
        store(row, ACCELERATION, accel)


@inner
def momentum(mass: Any, first: Vector, inertia: Matrix, w: Vector, v: Vector) -> Any:
    """I m: about the origin, and linear."""
    return add(forth(inertia, w), cross(first, v)), axpy(mass, v, cross(w, first))


@inner
def carried(chain: Any, frames: Any, row: Any, i: int) -> Any:
    """Of one link: mass, first moment, inertia, D, p, and the force and moment that it needs."""
    mass, com, inertia = (
        chain[i + 1, MASS],
        link_com(chain, frames, i),
        link_inertia(chain, frames, i),
    )
    first, inertia = scale(mass, com), add_point_mass(inertia, mass, com)
    w, v = vector(row, OMEGA), vector(row, VELOCITY)
    # integral of r r' dm
    half = 0.5 * (inertia[0][0] + inertia[1][1] + inertia[2][2])
    x, y, z = inertia
    spread = (
        (half - x[0], -x[1], -x[2]), (-y[0], half - y[1], -y[2]), (-z[0], -z[1], half - z[2]),
    )  # fmt: skip
    # columns of the symmetric `spread` are its rows
    a, b, c = cross(w, spread[0]), cross(w, spread[1]), cross(w, spread[2])
    D = add_outer(((a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2])), 1.0, v, first)
    turn, p = momentum(mass, first, inertia, w, v)
    moment, force = momentum(mass, first, inertia, vector(row, ALPHA), vector(row, ACCELERATION))
    moment = add(moment, add(cross(w, turn), cross(v, p)))
    return mass, first, inertia, D, p, moment, add(force, cross(w, p))


@inner
def twice_coupling(D: Matrix, p: Vector, w: Vector) -> tuple[Vector, Vector]:
    """2 B m for an angular part w."""
    trace = 2.0 * (D[0][0] + D[1][1] + D[2][2])
    return axpy(trace, w, scale(-2.0, forth(D, w))), scale(2.0, cross(w, p))


@inner
def effort_slopes(
    chain: Any, frames: Any, base: Any, state: Any, planned: bool, rows: Any, out: Any
) -> None:
    """Slopes of the efforts by q, qd and qdd, out (3 n n), each by rows; rotors and friction too.

    The third of the `state` is the acceleration; dry friction is that of the planned motion, or of
    the rates alone.
    """
    n = chain.shape[0] - 1
    qd, qdd = state.rates, state.third
    outward(chain, frames, base, qd, qdd, rows)
    none = scale(0.0, base.force)
    mass, first, inertia = 0.0, none, (none, none, none)
    D, p, moment, force = (none, none, none), none, none, none
    by_rate, by_change = n * n, 2 * n * n
    for j in range(n - 1, -1, -1):
        row = rows[j]
        own = carried(chain, frames, row, j)
        mass, first, inertia = mass + own[0], add(first, own[1]), plus(inertia, own[2])
        D, p, moment, force = (
            plus(D, own[3]),
            add(p, own[4]),
            add(moment, own[5]),
            add(force, own[6]),
        )
        axis, arm = vector(row, AXIS), vector(row, ARM)
        turning, moving = vector(row, TURNING), vector(row, MOVING)
        change = momentum(mass, first, inertia, axis, arm)
        coupled, inert = twice_coupling(D, p, axis), momentum(mass, first, inertia, turning, moving)
        rate = axpy(2.0, inert[0], coupled[0]), axpy(2.0, inert[1], coupled[1])
        coupled = twice_coupling(D, p, turning)
        inert = momentum(mass, first, inertia, vector(row, TURNED), vector(row, MOVED))
        place = add(coupled[0], inert[0]), add(coupled[1], inert[1])
        place = (
            add(place[0], add(cross(axis, moment), cross(arm, force))),
            add(place[1], cross(axis, force)),
        )
        # of what is before: S_j 2 B as a factor of angular parts
        trace = 2.0 * (D[0][0] + D[1][1] + D[2][2])
        factor = axpy(trace, axis, scale(-2.0, back(D, axis)))
        factor = axpy(2.0, cross(p, arm), factor)
        for i in range(j + 1):
            other = rows[i]
            z, arm_of = vector(other, AXIS), vector(other, ARM)
            entry = dot(z, change[0]) + dot(arm_of, change[1])
            out[by_change + i * n + j] = entry
            out[by_change + j * n + i] = entry
            out[i * n + j] = dot(z, place[0]) + dot(arm_of, place[1])
            out[by_rate + i * n + j] = dot(z, rate[0]) + dot(arm_of, rate[1])
            if i < j:
                w, u = vector(other, TURNING), vector(other, MOVING)
                mixed = dot(change[0], w) + dot(change[1], u)
                out[by_rate + j * n + i] = dot(factor, z) + 2.0 * mixed
                mixed = dot(change[0], vector(other, TURNED)) + dot(change[1], vector(other, MOVED))
                out[j * n + i] = dot(factor, w) + mixed
        side = imminent(qd[j], qdd[j]) if planned else qd[j]
        slope = chain[j + 1, DAMPING] + dry_friction_slope(chain[j + 1], DRY_FRICTION, side)
        at = j * n + j
        out[by_rate + at] = out[by_rate + at] + slope
        out[by_change + at] = out[by_change + at] + chain[j + 1, ARMATURE]
    if state.contact:
        add_wrench_slopes(chain, frames, state.wrench, rows, out)


@inner
def add_wrench_slopes(chain: Any, frames: Any, wrench: Any, rows: Any, out: Any) -> None:
    """What a wrench about the tip, its numbers kept in the base frame, adds to the slopes by q."""
    n = chain.shape[0] - 1
    tip, force = joint_origin(frames, n), vector(wrench, 0)
    moment = add(vector(wrench, 3), cross(tip, force))
    for j in range(n):
        z, arm_of = vector(rows[j], AXIS), vector(rows[j], ARM)
        moved = cross(add(cross(z, tip), arm_of), force)
        for i in range(n):
            axis, arm = vector(rows[i], AXIS), vector(rows[i], ARM)
            total = dot(axis, moved)
            if j < i:
                arm = add(cross(z, arm), cross(arm_of, axis))
                total = total + dot(cross(z, axis), moment) + dot(arm, force)
            out[i * n + j] = out[i * n + j] - total
