# SPDX-License-Identifier: Apache-2.0

"""Dynamics of one state of the 6-UPS Stewart platform: inverse, forward, mass matrix.

Dasgupta and Mruthyunjaya (1998), section 3, in the form  H F + wrench = M accel + h  with the force
Jacobian H, the leg forces F, the mass matrix M and the bias h: the wrench that a motion requires at
the platform is summed first, then solved for either six forces or the acceleration. Status codes
are those of `kernels.layout`.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels import point_spring
from robodyn.dynamics.kernels.base_motion import absolute_angular_motion, transport_and_coriolis
from robodyn.numerics.compiler import inner
from robodyn.numerics.linear import solve
from robodyn.numerics.rotations import rotation_columns
from robodyn.numerics.simd.lanes import any_of
from robodyn.numerics.vectors import (
    Vector,
    about_origin,
    add,
    axpy,
    combine,
    cross,
    scale,
    store,
    sub,
    turn_inertia,
    turn_symmetric,
    vector,
)
from robodyn.solvers.stewart.kernels import layout
from robodyn.solvers.stewart.kernels.kinematics import geometry_status
from robodyn.solvers.stewart.kernels.leg import (
    leg_acceleration,
    leg_geometry,
    leg_tip_inertia,
    leg_velocity,
    leg_wrench,
)


@inner
def platform_wrench(
    platform: Any, axes: Any, moving: Any, accel: Any, base: Any
) -> tuple[Vector, Vector]:
    """Compute the force and moment that the motion of the platform requires.

    They include its springs, but not the legs: eq. 33 and 34 of Dasgupta and Mruthyunjaya (1998).
    The moment is about the platform's reference point; both are in the base frame. `axes` are the
    columns of the platform's rotation, `moving` contains its position, velocity and angular
    velocity, and `accel` its linear and angular acceleration.
    """
    X, Y, Z = axes
    position, v, w = moving
    a, alpha = accel
    r = combine(X, Y, Z, vector(platform, layout.COM))
    ag = add(add(a, cross(alpha, r)), cross(w, cross(w, r)))
    ag = add(ag, base.force)
    if base.moves:
        ag = add(ag, transport_and_coriolis(base, add(position, r), add(v, cross(w, r))))
    force = scale(platform[layout.MASS], ag)
    omega, change = absolute_angular_motion(base, w, alpha)
    moment = add(cross(r, force), turn_inertia(X, Y, Z, platform, layout.INERTIA, change))
    moment = add(moment, cross(omega, turn_inertia(X, Y, Z, platform, layout.INERTIA, omega)))
    k = 0
    while any_of(platform[layout.SPRINGS] > float(k)):
        at = layout.PLATFORM_SIZE + point_spring.POINT_SPRING * k
        q = combine(X, Y, Z, vector(platform, at + point_spring.ON_CHILD))
        reach = sub(add(position, q), vector(platform, at + point_spring.ON_PARENT))
        pull = point_spring.spring_force(
            platform, at + point_spring.STIFFNESS, reach, add(v, cross(w, q))
        )
        force, moment = add(force, pull), add(moment, cross(q, pull))
        k += 1
    return force, moment


@inner
def platform_inertia(platform: Any, X: Vector, Y: Vector, Z: Vector) -> Any:
    """Return the mass matrix of the platform without legs, as three blocks.

    The blocks, from linear and angular acceleration to force and moment, are those of
    `at_reference`.
    """
    r = combine(X, Y, Z, vector(platform, layout.COM))
    none = 0.0 * r[0]
    mass = platform[layout.MASS] + none
    first, second = vector(platform, layout.INERTIA), vector(platform, layout.INERTIA + 3)
    own = turn_symmetric(X, Y, Z, first, second)
    own = about_origin(mass, r, own[0], own[1])
    x, y, z = scale(mass, r)
    return (
        ((mass, none, none), (mass, none, mass)),
        ((none, -z, y), (z, none, -x), (-y, x, none)),
        own,
    )


@inner
def at_reference(inertia: Any, q: Vector) -> Any:
    """Transform an inertia at a point to a mass matrix about the reference point.

    The inertia, six entries of a symmetric matrix (3, 3), relates force and acceleration at the
    point; `q` leads from the platform's reference point to the point.

    Returns:
        Three blocks of the symmetric mass matrix (6, 6): from acceleration to force, as (xx xy xz),
        (yy yz zz); the columns of the block from angular acceleration to force; from angular
        acceleration to moment, as (xx xy xz), (yy yz zz).
    """
    (xx, xy, xz), (yy, yz, zz) = inertia
    a, b, c = (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)
    x = sub(scale(q[1], c), scale(q[2], b))
    y = sub(scale(q[2], a), scale(q[0], c))
    z = sub(scale(q[0], b), scale(q[1], a))
    first = cross(q, x)
    second = (
        q[2] * y[0] - q[0] * y[2],
        q[0] * y[1] - q[1] * y[0],
        q[0] * z[1] - q[1] * z[0],
    )
    return inertia, (x, y, z), (first, second)


@inner
def no_blocks(zero: Any) -> Any:
    """Return a zero mass matrix in the blocks of `at_reference`, with entries `zero`."""
    none = (zero, zero, zero)
    return (none, none), (none, none, none), (none, none)


@inner
def add_blocks(a: Any, b: Any) -> Any:
    """Return the sum of two mass matrices, each in the blocks of `at_reference`."""
    (f, s), (x, y, z), (p, q) = a
    (g, t), (u, v, w), (r, o) = b
    return (add(f, g), add(s, t)), (add(x, u), add(y, v), add(z, w)), (add(p, r), add(q, o))


@inner
def damping_blocks(leg: Any, g: Any) -> Any:
    """Return the viscous damping matrix of a leg, in the blocks of `at_reference`.

    Its quadratic form is the dissipated power: with the angular velocities W of the leg and w of
    the platform, the leg's rate L' and the dampings of its three joints,
    universal W.W + spherical (W - w).(W - w) + prismatic L'^2.
    """
    inverse = 1.0 / g.length
    u, slip = cross(g.c, g.s), leg[layout.SPHERICAL_DAMPING] * inverse
    # W = (s x tip + spin (u.tip) s) / L
    all_ways = inverse * (leg[layout.UNIVERSAL_DAMPING] * inverse + slip)
    along, about = leg[layout.PRISMATIC_DAMPING] - all_ways, all_ways * g.spin * g.spin
    x, y, z = (all_ways, 0.0, 0.0), (0.0, all_ways, 0.0), (0.0, 0.0, all_ways)
    x = axpy(about * u[0], u, axpy(along * g.s[0], g.s, x))
    y = axpy(about * u[1], u, axpy(along * g.s[1], g.s, y))
    z = axpy(about * u[2], u, axpy(along * g.s[2], g.s, z))
    tip, coupling, (first, second) = at_reference(((x[0], x[1], x[2]), (y[1], y[2], z[2])), g.q)
    # columns of the force of the relative rotation in the spherical joint, by w
    a = scale(-slip, axpy(g.spin * g.s[0], u, (0.0, -g.s[2], g.s[1])))
    b = scale(-slip, axpy(g.spin * g.s[1], u, (g.s[2], 0.0, -g.s[0])))
    c = scale(-slip, axpy(g.spin * g.s[2], u, (-g.s[1], g.s[0], 0.0)))
    xx, yy, zz = cross(g.q, a), cross(g.q, b), cross(g.q, c)
    own = leg[layout.SPHERICAL_DAMPING]
    first = add(first, (own + 2.0 * xx[0], xx[1] + yy[0], xx[2] + zz[0]))
    second = add(second, (own + 2.0 * yy[1], yy[2] + zz[1], own + 2.0 * zz[2]))
    x, y, z = coupling
    return tip, (add(x, a), add(y, b), add(z, c)), (first, second)


@inner
def write_mass_matrix(blocks: Any, out: Any) -> None:
    """Write a mass matrix, given in the blocks of `at_reference`, to a matrix (6, 6)."""
    (first, second), coupling, (third, fourth) = blocks
    upper = first, (first[1], second[0], second[1]), (first[2], second[1], second[2])
    lower = third, (third[1], fourth[0], fourth[1]), (third[2], fourth[1], fourth[2])
    for i in range(3):
        for j in range(3):
            out[i, j] = upper[i][j]
            out[i, j + 3] = coupling[j][i]
            out[j + 3, i] = coupling[j][i]
            out[i + 3, j + 3] = lower[i][j]


@inner
def required_wrench(
    legs: Any, platform: Any, pose: Any, twist: Any, accel: Any, base: Any, with_legs: bool,
    H: Any, out: Any,
) -> int:  # fmt: skip
    """Write the force Jacobian to `H`, and the wrench that a motion requires to `out`.

    The wrench (6,) is about the platform's reference point, base frame. With the leg forces F, H F
    + external wrench = `out`. The legs' contribution (mass, friction, rotors, springs) is included
    if `with_legs`. Return OK, or the status code of a failure.
    """
    position = vector(pose, 0)
    X, Y, Z = rotation_columns(pose)
    v, w = vector(twist, 0), vector(twist, 3)
    a, alpha = vector(accel, 0), vector(accel, 3)
    force, moment = platform_wrench(platform, (X, Y, Z), (position, v, w), (a, alpha), base)
    for i in range(6):
        g = leg_geometry(legs[i], position, X, Y, Z)
        status = geometry_status(g, i)
        if status != layout.OK:
            return status
        write_column(H, i, g.s, cross(g.q, g.s))
        if with_legs:
            leg_force, leg_moment = leg_wrench(legs[i], g, v, w, a, alpha, base)
            force = add(force, leg_force)
            moment = add(moment, leg_moment)
    store(out, 0, force)
    store(out, 3, moment)
    return layout.OK


@inner
def write_column(H: Any, i: int, upper: Any, lower: Any) -> None:
    """Write two vectors (3,), one below the other, to column i of a matrix (6, 6)."""
    for j in range(3):
        H[j, i] = upper[j]
        H[j + 3, i] = lower[j]


@inner
def inverse_dynamics(legs: Any, platform: Any, state: Any, base: Any, H: Any, out: Any) -> int:
    """Write the actuator forces (6,) of one state, under its wrench, to `out`.

    `H` (6, 6) is scratch. Return OK, or the status code of a failure.
    """
    pose, twist, accel, wrench = state.q, state.rates, state.acceleration_or_effort, state.wrench
    status = required_wrench(legs, platform, pose, twist, accel, base, True, H, out)
    if status != layout.OK:
        return status
    for j in range(6):
        out[j] -= wrench[j]
    return layout.OK if solve(H, out) else layout.SINGULAR


@inner
def mass_matrix(legs: Any, platform: Any, pose: Any, out: Any) -> int:
    """Write the mass matrix (6, 6) of platform and legs at one pose to `out`.

    A leg with the inertia m at its tip contributes J' m J, with J = [E, -q x] and the vector q from
    the reference point to the tip. Return OK, or the status code of a failure.
    """
    position = vector(pose, 0)
    X, Y, Z = rotation_columns(pose)
    blocks = platform_inertia(platform, X, Y, Z)
    for i in range(6):
        g = leg_geometry(legs[i], position, X, Y, Z)
        status = geometry_status(g, i)
        if status != layout.OK:
            return status
        blocks = add_blocks(blocks, at_reference(leg_tip_inertia(legs[i], g), g.q))
    write_mass_matrix(blocks, out)
    return layout.OK


class MotionEquations(NamedTuple):
    """Terms of the equations of motion M accel + bias = H F + external wrench.

    F are the leg forces; moments are about the platform's reference point, base frame.

    Attributes:
        M: (6, 6) mass matrix of platform and legs.
        H: (6, 6) force Jacobian.
        bias: (6,) wrench of gravity, velocity terms and friction.
        lengths, rates: (6,) lengths and rates of the legs.
        drift: (6,) second derivatives of the leg lengths without acceleration of the platform.
        D: (6, 6) viscous damping matrix, from twist to wrench.
    """

    M: Any
    H: Any
    bias: Any
    lengths: Any
    rates: Any
    drift: Any
    D: Any


MOTION_EQUATIONS: Final = MotionEquations((6, 6), (6, 6), 6, 6, 6, 6, (6, 6))


@inner
def motion_equations(
    legs: Any, platform: Any, pose: Any, twist: Any, base: Any, with_damping: bool, e: Any
) -> int:
    """Write the terms of the equations of motion of one state to `e`, a `MotionEquations`.

    The damping matrix D is computed only if `with_damping`. Return OK, or the status code of a
    failure.
    """
    position = vector(pose, 0)
    X, Y, Z = rotation_columns(pose)
    v, w = vector(twist, 0), vector(twist, 3)
    none = (0.0, 0.0, 0.0)
    force, moment = platform_wrench(platform, (X, Y, Z), (position, v, w), (none, none), base)
    blocks = platform_inertia(platform, X, Y, Z)
    damping = no_blocks(0.0 * position[0])
    for i in range(6):
        g = leg_geometry(legs[i], position, X, Y, Z)
        status = geometry_status(g, i)
        if status != layout.OK:
            return status
        write_column(e.H, i, g.s, cross(g.q, g.s))
        leg_force, leg_moment = leg_wrench(legs[i], g, v, w, none, none, base)
        force = add(force, leg_force)
        moment = add(moment, leg_moment)
        blocks = add_blocks(blocks, at_reference(leg_tip_inertia(legs[i], g), g.q))
        if with_damping:
            damping = add_blocks(damping, damping_blocks(legs[i], g))
        e.lengths[i] = g.length
        moving = leg_velocity(g, v, w)
        e.rates[i] = moving.rate
        e.drift[i] = leg_acceleration(g, moving, none, none, w).rate
    store(e.bias, 0, force)
    store(e.bias, 3, moment)
    write_mass_matrix(blocks, e.M)
    if with_damping:
        write_mass_matrix(damping, e.D)
    return layout.OK
