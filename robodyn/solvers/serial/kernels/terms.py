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
    """Return omega_0, alpha_0 and a_0 in frame 0; gravity is an upward acceleration of the base."""
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
    """Compute omega_i from omega_{i-1} (eq. 3.15)."""
    if any_of(row[layout.PRISMATIC] > 0.0):
        return apply_transposed(R, omega)
    return apply_transposed(R, (omega[0], omega[1], omega[2] + rate))


@inner
def angular_acceleration(
    row: Any, R: Matrix, alpha: Vector, omega: Vector, rate: float, acceleration: float
) -> Vector:
    """Compute alpha_i from alpha_{i-1} and omega_{i-1} (eq. 3.16; the report prints omega_i)."""
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
    """Compute R_i^{i-1} a_{i-1} of eq. 3.17, plus d'' z + 2 d' omega x z if prismatic."""
    if any_of(row[layout.PRISMATIC] > 0.0):
        twice = rate + rate
        a = (a[0] + omega[1] * twice, a[1] - omega[0] * twice, a[2] + acceleration)
    return apply_transposed(R, a)


@inner
def rotation_operator(omega: Vector, alpha: Vector) -> Matrix:
    """Compute A_i with A b = alpha x b + omega x (omega x b); (3,2) is w_z w_y + alpha_x."""
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
    """Compute the acceleration of a link's origin, a_i = A_i r_i + R_i^{i-1} a_{i-1} (eq. 3.17)."""
    return add(apply(A, r), carried)


@inner
def com_acceleration(row: Any, A: Matrix, a: Vector) -> Vector:
    """Compute the acceleration of the center of mass (eq. 3.18, rbar_i in both terms)."""
    return add(apply(A, vector(row, layout.COM)), a)


@inner
def inertial_force(row: Any, acceleration: Vector) -> Vector:
    """Compute the inertial force m_i abar_i of eq. 3.19."""
    return scale(row[layout.MASS], acceleration)


@inner
def levered_force(row: Any, A: Matrix, lever: Vector, carried: Vector) -> Vector:
    """Compute m_i abar_i of eq. 5.1, m_i (A_i (rbar_i + r_i) + R_i^{i-1} a_{i-1})."""
    return scale(row[layout.MASS], add(apply(A, lever), carried))


@inner
def angular_inertia(row: Any, alpha: Vector) -> Vector:
    """Compute the moment I_i alpha_i."""
    return symmetric(row, layout.INERTIA, alpha)


@inner
def gyroscopic_moment(row: Any, omega: Vector) -> Vector:
    """Compute the gyroscopic moment omega_i x (I_i omega_i)."""
    return cross(omega, symmetric(row, layout.INERTIA, omega))


@inner
def spread_moment(row: Any, A: Matrix) -> Vector:
    """Compute Tr(A K sigma') of eq. 5.2, whose x component is (AK)_zy - (AK)_yz and so on.

    In principal axes, as the report writes K, two thirds of the products vanish.
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
    """Compute the moment (rbar_i + r_i) x m_i abar_i."""
    return cross(lever, force)


@inner
def passed_moment(r: Vector, force: Vector) -> Vector:
    """Compute the moment r_i x R_i^{i+1} f_{i+1}."""
    return cross(r, force)


@inner
def turned_force(R: Matrix, force: Vector) -> Vector:
    """Compute the force R_i^{i+1} f_{i+1} of eq. 3.19."""
    return apply(R, force)


@inner
def turned_moment(R: Matrix, moment: Vector) -> Vector:
    """Compute the moment R_i^{i+1} n_{i+1} of eq. 3.20."""
    return apply(R, moment)


@inner
def add_force(a: Vector, b: Vector) -> Vector:
    """Add a force to the sum of eq. 3.19."""
    return add(a, b)


@inner
def add_moment(a: Vector, b: Vector) -> Vector:
    """Add a moment to the sum of eq. 3.20."""
    return add(a, b)


@inner
def along_axis(row: Any, force: Vector, moment: Vector) -> float:
    """Return the component of the moment, or force, along the joint's axis (eq. 3.21)."""
    if any_of(row[layout.PRISMATIC] > 0.0):
        return dot(vector(row, layout.AXIS), force)
    return dot(vector(row, layout.AXIS), moment)


@inner
def add_motor(row: Any, effort: float, position: float, rate: float, acceleration: float) -> float:
    """Add reflected inertia, spring and friction to a joint's effort.

    At rest, a joint's dry friction opposes the direction in which it accelerates.
    """
    side = friction_rate(rate, acceleration)
    passive = passive_effort(row, position, rate, side)
    total: float = effort + (row[layout.ARMATURE] * acceleration + passive)
    return total


@inner
def passive_effort(row: Any, position: Any, rate: Any, side: Any) -> Any:
    """Compute the effort that overcomes a joint's friction and spring."""
    friction = row[layout.DAMPING] * rate + dry_friction(row, layout.DRY_FRICTION, side, rate)
    return friction + (row[layout.STIFFNESS] * position + row[layout.AT_ZERO])
