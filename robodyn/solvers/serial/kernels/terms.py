# SPDX-License-Identifier: Apache-2.0

"""Terms of the Newton-Euler equations of one link, each a row of the report's tables 3 and 4.

Turney, Mudge and Lee (1980), corrected as in docs/arms.md and extended to prismatic joints. Each
row is a function, so that operations can be counted row by row; the compiler inlines them.
"""

from __future__ import annotations

from typing import Any

from robodyn.dynamics.kernels.base_motion import transport_and_coriolis
from robodyn.dynamics.kernels.dry_friction import dry_friction, friction_rate
from robodyn.numerics.compiler import inner
from robodyn.numerics.matrices import Matrix, apply, apply_transposed, matrix
from robodyn.numerics.simd.lanes import any_of
from robodyn.numerics.vectors import Vector, add, cross, dot, scale, symmetric, vector
from robodyn.solvers.serial.kernels import layout


@inner
def base_motion(chain: Any, base: Any) -> tuple[Vector, Vector, Vector]:
    """Return angular velocity, angular and linear acceleration of frame 0, in frame 0.

    The linear acceleration includes that of gravity, as an upward acceleration of the base.
    """
    R = matrix(chain[0], layout.ROTATION)
    if base.moves:
        none = scale(0.0, base.force)
        a = add(base.force, transport_and_coriolis(base, vector(chain[0], layout.SHIFT), none))
        return (
            apply_transposed(R, base.omega),
            apply_transposed(R, base.alpha),
            apply_transposed(R, a),
        )
    return base.omega, base.alpha, apply_transposed(R, base.force)


@inner
def angular_velocity(row: Any, R: Matrix, omega: Vector, rate: float) -> Vector:
    """Return link i's angular velocity, in frame i, from that of link i-1.

    Turney, Mudge and Lee (1980), eq. 3.15.
    """
    if any_of(row[layout.PRISMATIC] > 0.0):
        return apply_transposed(R, omega)
    return apply_transposed(R, (omega[0], omega[1], omega[2] + rate))


@inner
def angular_acceleration(
    row: Any, R: Matrix, alpha: Vector, omega: Vector, rate: float, acceleration: float
) -> Vector:
    """Return link i's angular acceleration, in frame i, from the motion of link i-1.

    Eq. 3.16 of Turney, Mudge and Lee (1980); `omega` is the angular velocity of link i-1, while the
    report prints that of link i.
    """
    if any_of(row[layout.PRISMATIC] > 0.0):
        return apply_transposed(R, alpha)
    return apply_transposed(
        R,
        (alpha[0] + omega[1] * rate, alpha[1] - omega[0] * rate, alpha[2] + acceleration),
    )


@inner
def carried_acceleration(
    row: Any, R: Matrix, a: Vector, omega: Vector, rate: float, acceleration: float
) -> Vector:
    """Return the acceleration of frame i-1's origin, in frame i.

    For a prismatic joint with position d and axis z, d'' z + 2 d' omega x z is added. It is a term
    of eq. 3.17 of Turney, Mudge and Lee (1980).
    """
    if any_of(row[layout.PRISMATIC] > 0.0):
        twice = rate + rate
        a = (a[0] + omega[1] * twice, a[1] - omega[0] * twice, a[2] + acceleration)
    return apply_transposed(R, a)


@inner
def rotation_operator(omega: Vector, alpha: Vector) -> Matrix:
    """Return the matrix A that maps a body-fixed vector b to its second time derivative.

    A b = alpha x b + omega x (omega x b), with the body's angular acceleration alpha and angular
    velocity omega. Entry (3, 2) is omega_z omega_y + alpha_x.
    """
    x, y, z = omega
    xx, yy, zz = x * x, y * y, z * z
    xy, xz, yz = x * y, x * z, y * z
    return (
        (-(yy + zz), xy - alpha[2], xz + alpha[1]),
        (xy + alpha[2], -(zz + xx), yz - alpha[0]),
        (xz - alpha[1], yz + alpha[0], -(xx + yy)),
    )


@inner
def origin_acceleration(A: Matrix, r: Vector, carried: Vector) -> Vector:
    """Return the acceleration of link i's origin.

    It is A r + `carried`, with the `rotation_operator` A, the vector r from the previous origin and
    the previous origin's acceleration `carried`: Turney, Mudge and Lee (1980), eq. 3.17.
    """
    return add(apply(A, r), carried)


@inner
def com_acceleration(row: Any, A: Matrix, a: Vector) -> Vector:
    """Return the acceleration of a link's center of mass.

    It is A rbar + a, with the `rotation_operator` A, the center of mass rbar in the link's frame,
    and the acceleration a of the link's origin: Turney, Mudge and Lee (1980), eq. 3.18, corrected.
    """
    return add(apply(A, vector(row, layout.COM)), a)


@inner
def inertial_force(row: Any, acceleration: Vector) -> Vector:
    """Return a link's inertial force in its frame: mass times acceleration.

    The acceleration is that of the center of mass: Turney, Mudge and Lee (1980), eq. 3.19.
    """
    return scale(row[layout.MASS], acceleration)


@inner
def levered_force(row: Any, A: Matrix, lever: Vector, carried: Vector) -> Vector:
    """Return a link's inertial force for the modified recursion.

    It is m (A lever + carried), with the `rotation_operator` A and the vector `lever` from the
    previous origin, whose acceleration is `carried`, to the center of mass: Turney, Mudge and Lee
    (1980), eq. 5.1.
    """
    return scale(row[layout.MASS], add(apply(A, lever), carried))


@inner
def angular_inertia(row: Any, alpha: Vector) -> Vector:
    """Return a link's inertia tensor times its angular acceleration, in its frame."""
    return symmetric(row, layout.INERTIA, alpha)


@inner
def gyroscopic_moment(row: Any, omega: Vector) -> Vector:
    """Return a link's gyroscopic moment omega x (I omega), with its inertia tensor I."""
    return cross(omega, symmetric(row, layout.INERTIA, omega))


@inner
def spread_moment(row: Any, A: Matrix) -> Vector:
    """Return the moment that a link's rotation requires, about its center of mass.

    It is Tr(A K sigma') in eq. 5.2 of Turney, Mudge and Lee (1980), with the `rotation_operator` A
    and the link's second moments K about its center of mass. Its x component is
    (AK)_zy - (AK)_yz, and so on. In principal axes, as the report writes K, two thirds of the
    products vanish.
    """
    xx, xy, xz = vector(row, layout.SPREAD)
    yy, yz, zz = vector(row, layout.SPREAD + 3)
    if xy == 0.0 and xz == 0.0 and yz == 0.0:
        return (
            A[2][1] * yy - A[1][2] * zz,
            A[0][2] * zz - A[2][0] * xx,
            A[1][0] * xx - A[0][1] * yy,
        )
    x, y, z = (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)
    return (
        dot(A[2], y) - dot(A[1], z),
        dot(A[0], z) - dot(A[2], x),
        dot(A[1], x) - dot(A[0], y),
    )


@inner
def lever_moment(lever: Vector, force: Vector) -> Vector:
    """Return the moment of a link's inertial force about the previous link's origin.

    `lever` leads from that origin to the link's center of mass, in the link's frame.
    """
    return cross(lever, force)


@inner
def passed_moment(r: Vector, force: Vector) -> Vector:
    """Return the moment r x f of the next link's force f about the previous origin.

    The force acts at the link's own origin; r leads there from the previous link's origin.
    """
    return cross(r, force)


@inner
def turned_force(R: Matrix, force: Vector) -> Vector:
    """Return a link's force, rotated from its frame to that of the previous link.

    Term of eq. 3.19 of Turney, Mudge and Lee (1980).
    """
    return apply(R, force)


@inner
def turned_moment(R: Matrix, moment: Vector) -> Vector:
    """Return a link's moment, rotated from its frame to that of the previous link.

    Term of eq. 3.20 of Turney, Mudge and Lee (1980).
    """
    return apply(R, moment)


@inner
def add_force(a: Vector, b: Vector) -> Vector:
    """Return the sum of two forces in a link's force balance.

    Eq. 3.19 of Turney, Mudge and Lee (1980).
    """
    return add(a, b)


@inner
def add_moment(a: Vector, b: Vector) -> Vector:
    """Return the sum of two moments in a link's moment balance.

    Eq. 3.20 of Turney, Mudge and Lee (1980).
    """
    return add(a, b)


@inner
def along_axis(row: Any, force: Vector, moment: Vector) -> float:
    """Return the effort of a joint: the component of force or moment along its axis.

    It is the moment for a revolute, the force for a prismatic joint: Turney, Mudge and Lee (1980),
    eq. 3.21.
    """
    if any_of(row[layout.PRISMATIC] > 0.0):
        return dot(vector(row, layout.AXIS), force)
    return dot(vector(row, layout.AXIS), moment)


@inner
def add_motor(row: Any, effort: float, position: float, rate: float, acceleration: float) -> float:
    """Return a joint's effort with reflected inertia, spring and friction added.

    At rest, a joint's dry friction opposes the direction in which it accelerates.
    """
    side = friction_rate(rate, acceleration)
    passive = passive_effort(row, position, rate, side)
    total: float = effort + (row[layout.ARMATURE] * acceleration + passive)
    return total


@inner
def passive_effort(row: Any, position: Any, rate: Any, side: Any) -> Any:
    """Return the effort that overcomes a joint's friction and spring.

    `row` is the link's row of the packed chain.
    """
    friction = row[layout.DAMPING] * rate + dry_friction(row, layout.DRY_FRICTION, side, rate)
    return friction + (row[layout.STIFFNESS] * position + row[layout.AT_ZERO])
