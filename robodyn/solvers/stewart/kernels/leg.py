# SPDX-License-Identifier: Apache-2.0

"""One UPS leg: its geometry, its motion, and the force it requires from the platform.

Symbols as in Dasgupta and Mruthyunjaya (1998), section 2, all vectors in the base frame: b and p
are the leg's joint centers at base and platform, k is the fixed axis of the universal joint, q
leads from the platform's reference point to the tip, S = L s is the leg's vector with length L, W
and A are the leg's angular velocity and acceleration, rd and ru its parts' centers of mass; C, K
and D are explained in `LegLoad`. Two things differ from the paper, where it is in error: the
universal joint spins the leg about its own axis (its W obeys W.c = 0 with c = k x y, not
W.s = 0), and its constraint moment is along c, not along s. A spherical joint at the base has
neither (`spin` = 0): W.s = 0 as in the paper, and no moment.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from robodyn.dynamics.kernels.base_motion import absolute_angular_motion, transport_and_coriolis
from robodyn.dynamics.kernels.dry_friction import dry_friction, friction_rate, has_dry_friction
from robodyn.numerics.compiler import inner
from robodyn.numerics.simd.lanes import any_of, choose
from robodyn.numerics.vectors import (
    Vector,
    about_origin,
    add,
    axpy,
    combine,
    cross,
    dot,
    norm,
    scale,
    sub,
    turn_inertia,
    turn_symmetric,
    vector,
)
from robodyn.solvers.stewart.kernels import layout


class LegGeometry(NamedTuple):
    """Geometry of a leg for a pose of the platform; vectors in the base frame.

    `q` leads from the platform's reference point to the tip, `s` is the leg's direction, [s y z]
    the leg frame, and c = k x y with the fixed axis k of the universal joint.
    """

    q: Vector
    length: float
    s: Vector
    y: Vector
    z: Vector
    c: Vector
    sine: float  # |k x s| = -s.c
    spin: float  # 1 / sine, or 0 for a leg whose base joint does not constrain its spin


class LegVelocity(NamedTuple):
    """Velocities of a leg, base frame: of its tip, its length and its joints.

    `W` is the leg's angular velocity, `rate` the derivative of its length; `about_k` and `about_y`
    are the joint rates about the universal joint's fixed axis k and carried axis y.
    """

    tip: Vector
    rate: float
    W: Vector
    about_k: float
    about_y: float


class LegAcceleration(NamedTuple):
    """Second derivative of a leg's length, and its angular acceleration A, base frame."""

    rate: float
    A: Vector


class LegLoad(NamedTuple):
    """Forces and moments of a moving leg, base frame.

    The platform pushes on the leg's tip with `tip_force` - F s, with the actuator force F along the
    leg's direction s. `K` and `D` are the components of `tip_force` normal to the leg and along it.
    `C` is the moment that the leg requires about its base point. `moment` is the universal joint's
    constraint moment along c = k x y, `friction` that of the spherical joint's friction. `drive` is
    the part of F that moves the rotor and overcomes spring and friction along the leg.
    """

    C: Vector
    tip_force: Vector
    K: Vector
    D: float
    moment: float  # Mu
    friction: Vector
    drive: float


@inner
def leg_geometry(leg: Any, position: Vector, X: Vector, Y: Vector, Z: Vector) -> Any:
    """Compute the `LegGeometry` of a leg at a pose of the platform.

    The pose is `position`, and a rotation with the columns X, Y, Z.
    """
    k = vector(leg, layout.AXIS)
    q = combine(X, Y, Z, vector(leg, layout.TIP))
    S = sub(add(position, q), vector(leg, layout.BASE))
    length = norm(S)
    s = scale(1.0 / length, S)
    k_x_s = cross(k, s)
    sine = norm(k_x_s)
    spherical = leg[layout.BASE_JOINT] == layout.SPHERICAL
    frameless = sine <= choose(spherical, layout.SMALLEST_SINE, -1.0)
    if any_of(frameless):
        # a leg with a spherical joint is symmetric about s, so any frame around s is valid
        steep = abs(s[0]) > 0.7
        other = (choose(steep, 0.0, 1.0), choose(steep, 1.0, 0.0), 0.0)
        k = (
            choose(frameless, other[0], k[0]),
            choose(frameless, other[1], k[1]),
            choose(frameless, other[2], k[2]),
        )
        k_x_s = cross(k, s)
        sine = norm(k_x_s)
    y = scale(1.0 / sine, k_x_s)
    spin = choose(spherical, 0.0, 1.0 / sine)
    return LegGeometry(q, length, s, y, cross(s, y), cross(k, y), sine, spin)


@inner
def leg_velocity(g: Any, v: Vector, w: Vector) -> Any:
    """Compute the `LegVelocity` of a leg for the platform twist (v, w)."""
    tip = add(v, cross(w, g.q))
    rate = dot(g.s, tip)
    Wp = scale(1.0 / g.length, cross(g.s, tip))
    # the spin imposed by the universal joint, so that W has no component along c; s.c = -sine
    W = axpy(dot(Wp, g.c) * g.spin, g.s, Wp)
    about_k = dot(tip, g.y) / (g.length * g.sine)
    return LegVelocity(tip, rate, W, about_k, dot(Wp, g.y))


@inner
def leg_acceleration(g: Any, m: Any, a: Vector, alpha: Vector, w: Vector) -> Any:
    """Compute the `LegAcceleration` of a leg for the platform acceleration (a, alpha)."""
    tip = add(add(a, cross(alpha, g.q)), cross(w, cross(w, g.q)))
    W_x_s = cross(m.W, g.s)
    # W x s depends only on the part of W normal to the leg, so the axial spin drops out here
    rate = dot(g.s, tip) + g.length * dot(W_x_s, W_x_s)
    rest = axpy(-2.0 * m.rate, W_x_s, tip)
    rest = axpy(-g.length, cross(m.W, W_x_s), rest)
    Ap = scale(1.0 / g.length, cross(g.s, rest))
    # A.c = w1 w2: the first axis of the joint carries the second
    A = axpy((dot(Ap, g.c) - m.about_k * m.about_y) * g.spin, g.s, Ap)
    return LegAcceleration(rate, A)


@inner
def centers(leg: Any, g: Any) -> tuple[Vector, Vector]:
    """Return the centers of mass of a leg's two parts, relative to its base point.

    The vectors, first that of the lower part, are in the base frame.
    """
    rd = combine(g.s, g.y, g.z, vector(leg, layout.LOWER_COM))
    return rd, axpy(g.length, g.s, combine(g.s, g.y, g.z, vector(leg, layout.UPPER_COM)))


@inner
def center_forces(
    leg: Any, g: Any, m: Any, n: Any, places: Any, base: Any
) -> tuple[Vector, Vector]:
    """Return the forces that accelerate and support a leg's lower and upper part.

    They act at the parts' centers of mass and are in the base frame: eq. 13 and 14 of Dasgupta and
    Mruthyunjaya (1998).
    """
    rd, ru = places
    ad = add(cross(n.A, rd), cross(m.W, cross(m.W, rd)))
    au = add(cross(n.A, ru), cross(m.W, cross(m.W, ru)))
    au = axpy(2.0 * m.rate, cross(m.W, g.s), axpy(n.rate, g.s, au))
    ad, au = add(ad, base.force), add(au, base.force)
    if base.moves:
        start = vector(leg, layout.BASE)
        ad = add(ad, transport_and_coriolis(base, add(start, rd), cross(m.W, rd)))
        au = add(
            au, transport_and_coriolis(base, add(start, ru), axpy(m.rate, g.s, cross(m.W, ru)))
        )
    return scale(leg[layout.LOWER_MASS], ad), scale(leg[layout.UPPER_MASS], au)


@inner
def leg_load(leg: Any, g: Any, m: Any, n: Any, w: Vector, base: Any) -> Any:
    """Compute the `LegLoad` of a moving leg.

    The forces and moments are those of eq. 17 to 24 of Dasgupta and Mruthyunjaya (1998), corrected:
    the universal joint's moment is along c = k x y, normal to both of its axes. `g`, `m` and `n`
    are the leg's geometry, velocity and acceleration, `w` is the platform's angular velocity.
    """
    rd, ru = centers(leg, g)
    lower_force, upper_force = center_forces(leg, g, m, n, (rd, ru), base)
    omega, alpha = absolute_angular_motion(base, m.W, n.A)

    friction = scale(leg[layout.SPHERICAL_DAMPING], sub(m.W, w))
    C = add(cross(rd, lower_force), cross(ru, upper_force))
    C = add(C, turn_inertia(g.s, g.y, g.z, leg, layout.LEG_INERTIA, alpha))
    C = add(C, cross(omega, turn_inertia(g.s, g.y, g.z, leg, layout.LEG_INERTIA, omega)))
    C = add(axpy(leg[layout.UNIVERSAL_DAMPING], m.W, C), friction)
    spring = leg[layout.STIFFNESS] * g.length + leg[layout.AT_ZERO]
    drive = leg[layout.PRISMATIC_DAMPING] * m.rate + spring
    if any_of(leg[layout.REFLECTED] > 0.0):
        C = add(C, spin_up(leg, g, m, n, omega))
        drive = drive + leg[layout.REFLECTED] * n.rate + leg[layout.SPIN_INERTIA] * dot(alpha, g.s)
    if has_dry_friction(leg, layout.DRY_FRICTION):
        side = friction_rate(m.rate, n.rate)
        drive = drive + dry_friction(leg, layout.DRY_FRICTION, side, side)

    moment = -dot(g.s, C) * g.spin
    K = scale(1.0 / g.length, cross(axpy(-moment, g.c, C), g.s))
    D = dot(g.s, upper_force) + drive
    return LegLoad(C, axpy(D, g.s, K), K, D, moment, friction, drive)


@inner
def spin_up(leg: Any, g: Any, m: Any, n: Any, omega: Vector) -> Vector:
    """Return the moment on a leg that changes the spin momentum of its rotor.

    The moment is in the base frame. With the rotor's inertia J, its transmission `ratio`, the leg's
    rate L' and direction s, the spin momentum is J ratio L' s. The moment consists of the spin-up
    and the gyroscopic moment. The rotor's mass and inertia, as far as they belong to the lower
    part, are not included.
    """
    momentum = leg[layout.SPIN_INERTIA] * m.rate
    return axpy(leg[layout.SPIN_INERTIA] * n.rate, g.s, scale(momentum, cross(omega, g.s)))


@inner
def leg_wrench(
    leg: Any, g: Any, v: Vector, w: Vector, a: Vector, alpha: Vector, base: Any
) -> tuple[Vector, Vector]:
    """Return the force and moment on the platform that a moving leg requires.

    Both are in the base frame, the moment is about the platform's reference point. The platform's
    twist is (v, w), its acceleration (a, alpha). The actuator force is not included.
    """
    m = leg_velocity(g, v, w)
    n = leg_acceleration(g, m, a, alpha, w)
    load = leg_load(leg, g, m, n, w, base)
    return load.tip_force, sub(cross(g.q, load.tip_force), load.friction)


@inner
def leg_tip_inertia(leg: Any, g: Any) -> Any:
    """Compute a leg's inertia at its tip: tip force per tip acceleration at rest.

    The result is a symmetric matrix, as (xx xy xz), (yy yz zz), whose quadratic form is twice the
    kinetic energy for a tip velocity S'. In the leg frame the leg rotates at (spin S'y, -S'z / L,
    S'y / L) and its length L changes at S'x. The inertia about the base point is that of both
    parts.
    """
    upper, inverse = leg[layout.UPPER_MASS], 1.0 / g.length
    x, y, z = vector(leg, layout.UPPER_COM)
    inertia = vector(leg, layout.LEG_INERTIA), vector(leg, layout.LEG_INERTIA + 3)
    inertia = about_origin(
        leg[layout.LOWER_MASS], vector(leg, layout.LOWER_COM), inertia[0], inertia[1]
    )
    inertia = about_origin(upper, (x + g.length, y, z), inertia[0], inertia[1])
    (xx, xy, xz), (yy, yz, zz) = inertia
    spin = dot(g.z, g.c) * g.spin * inverse
    along = upper + leg[layout.REFLECTED]
    across = leg[layout.SPIN_INERTIA] * spin - upper * y * inverse
    first = (along, across, -upper * z * inverse)
    second = (
        spin * (spin * xx + 2.0 * inverse * xz) + inverse * inverse * zz,
        -inverse * (spin * xy + inverse * yz),
        inverse * inverse * yy,
    )
    return turn_symmetric(g.s, g.y, g.z, first, second)
