# SPDX-License-Identifier: Apache-2.0

"""Quaternions (x, y, z, w), rotation matrices and roll-pitch-yaw angles with their derivatives.

R = Rz(yaw) Ry(pitch) Rx(roll), as in Dasgupta and Mruthyunjaya (1998), eq. 38, and in ROS.
"""

from __future__ import annotations

import math
from typing import Any

from robodyn.numerics.compiler import inner
from robodyn.numerics.simd.lanes import choose
from robodyn.numerics.trigonometry import arctangent, sine_cosine
from robodyn.numerics.vectors import Vector, add, cross, norm, scale, store, vector

Quaternion = tuple[float, float, float, float]


@inner
def rotation_columns(pose: Any) -> tuple[Vector, Vector, Vector]:
    """Return the three columns of the rotation matrix of a pose x y z qx qy qz qw."""
    x, y, z, w = pose[3], pose[4], pose[5], pose[6]
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w), 2.0 * (x * z - y * w)),
        (2.0 * (x * y - z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + x * w)),
        (2.0 * (x * z + y * w), 2.0 * (y * z - x * w), 1.0 - 2.0 * (x * x + y * y)),
    )


@inner
def quaternion_product(a: Quaternion, b: Quaternion) -> Quaternion:
    """Return the quaternion product a b: the rotation b followed by the rotation a."""
    return (
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    )


@inner
def rotate(q: Quaternion, a: Vector) -> Vector:
    """Return the vector a rotated by a unit quaternion q = (u, w).

    It is a + 2 w (u x a) + 2 u x (u x a).
    """
    u = (q[0], q[1], q[2])
    doubled = scale(2.0, cross(u, a))
    return add(add(a, scale(q[3], doubled)), cross(u, doubled))


@inner
def quaternion_from_rpy(roll: float, pitch: float, yaw: float) -> Quaternion:
    """Return the quaternion (x, y, z, w) of Rz(yaw) Ry(pitch) Rx(roll)."""
    cr, sr = math.cos(0.5 * roll), math.sin(0.5 * roll)
    cp, sp = math.cos(0.5 * pitch), math.sin(0.5 * pitch)
    cy, sy = math.cos(0.5 * yaw), math.sin(0.5 * yaw)
    return (
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )


@inner
def quaternion_from_matrix(rows: tuple[Vector, Vector, Vector]) -> Quaternion:
    """Return the unit quaternion (x, y, z, w) of a rotation, w >= 0 (Shepperd, 1978)."""
    xx, yy, zz = rows[0][0], rows[1][1], rows[2][2]
    # the largest component first, as dividing by a small one loses digits
    if xx + yy + zz > 0.0:
        w = 0.5 * math.sqrt(1.0 + xx + yy + zz)
        f = 0.25 / w
        x = f * (rows[2][1] - rows[1][2])
        y = f * (rows[0][2] - rows[2][0])
        z = f * (rows[1][0] - rows[0][1])
    elif xx >= yy and xx >= zz:
        x = 0.5 * math.sqrt(1.0 + xx - yy - zz)
        f = 0.25 / x
        w = f * (rows[2][1] - rows[1][2])
        y = f * (rows[0][1] + rows[1][0])
        z = f * (rows[0][2] + rows[2][0])
    elif yy >= zz:
        y = 0.5 * math.sqrt(1.0 - xx + yy - zz)
        f = 0.25 / y
        w = f * (rows[0][2] - rows[2][0])
        x = f * (rows[0][1] + rows[1][0])
        z = f * (rows[1][2] + rows[2][1])
    else:
        z = 0.5 * math.sqrt(1.0 - xx - yy + zz)
        f = 0.25 / z
        w = f * (rows[1][0] - rows[0][1])
        x = f * (rows[0][2] + rows[2][0])
        y = f * (rows[1][2] + rows[2][1])
    if w < 0.0:
        return -x, -y, -z, -w
    return x, y, z, w


@inner
def store_pose(out: Any, origin: Vector, rows: tuple[Vector, Vector, Vector]) -> None:
    """Write a pose (7,) to `out`, from its origin and the rows of its rotation."""
    store(out, 0, origin)
    out[3], out[4], out[5], out[6] = quaternion_from_matrix(rows)


@inner
def store_quaternion_rate(out: Any, q: Any, at: int, omega: Vector) -> None:
    """Write the time derivative of the unit quaternion at index `at` of q to `out`.

    It is written at the same index. omega (3,) is the angular velocity of the rotated frame
    relative to its parent frame, in the axes of the parent.
    """
    x, y, z, w = q[at], q[at + 1], q[at + 2], q[at + 3]
    a, b, c = omega
    out[at] = 0.5 * (a * w + b * z - c * y)
    out[at + 1] = 0.5 * (b * w + c * x - a * z)
    out[at + 2] = 0.5 * (c * w + a * y - b * x)
    out[at + 3] = -0.5 * (a * x + b * y + c * z)


@inner
def angular_motion(rpy: Vector, rate: Vector, acceleration: Vector) -> tuple[Vector, Vector]:
    """Convert moving roll-pitch-yaw angles to angular velocity and acceleration.

    The results are in the base frame: omega = yaw' ez + pitch' ey' + roll' ex'' with the rotated
    axes ey' = Rz ey and ex'' = Rz Ry ex; the acceleration is the exact derivative of omega, which
    includes the motion of the axes.
    """
    pitch, yaw = rpy[1], rpy[2]
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    pitch_axis = (-sy, cy, 0.0)
    roll_axis = (cy * cp, sy * cp, -sp)
    yaw_velocity = (0.0, 0.0, rate[2])
    pitch_velocity = scale(rate[1], pitch_axis)
    roll_velocity = scale(rate[0], roll_axis)
    frame_velocity = add(yaw_velocity, pitch_velocity)
    omega = add(frame_velocity, roll_velocity)
    alpha = add(
        add((0.0, 0.0, acceleration[2]), scale(acceleration[1], pitch_axis)),
        scale(acceleration[0], roll_axis),
    )
    alpha = add(alpha, cross(yaw_velocity, pitch_velocity))
    alpha = add(alpha, cross(frame_velocity, roll_velocity))
    return omega, alpha


@inner
def quaternion_exp(rotation: Any) -> Any:
    """Return the quaternion of a rotation vector [rad]; for floats or SIMD vectors."""
    a, b, c = rotation
    squared = a * a + b * b + c * c
    half = 0.5 * math.sqrt(squared)
    sine, cosine = sine_cosine(half)
    # sin(x)/x by its series where the quotient loses precision
    factor = choose(half < 1e-4, 0.5 * (1.0 - squared / 24.0), 0.5 * sine / half)
    return a * factor, b * factor, c * factor, cosine


@inner
def quaternion_log(q: Quaternion) -> Vector:
    """Return the rotation vector [rad] of a unit quaternion, of length at most pi."""
    sign = 1.0 if q[3] >= 0.0 else -1.0
    sine = math.sqrt(q[0] ** 2 + q[1] ** 2 + q[2] ** 2)
    cosine = sign * q[3]
    factor = 2.0 / cosine if sine < 1e-9 else 2.0 * math.atan2(sine, cosine) / sine
    return sign * q[0] * factor, sign * q[1] * factor, sign * q[2] * factor


@inner
def rotation_vector(x: Vector, y: Vector, z: Vector) -> Vector:
    """Return the rotation vector (3,) [rad] of a rotation matrix, given by its columns.

    Its length is at most pi; at pi its direction loses precision. For floats or SIMD vectors.
    """
    axis = scale(0.5, (y[2] - z[1], z[0] - x[2], x[1] - y[0]))
    sine, cosine = norm(axis), 0.5 * (x[0] + y[1] + z[2] - 1.0)
    angle = 2.0 * arctangent(sine / (1.0 + abs(cosine)))
    angle = choose(cosine < 0.0, math.pi - angle, angle)
    return scale(choose(sine < 1e-9, 1.0, angle / sine), axis)


@inner
def pose_difference(start: Any, goal: Any, out: Any) -> None:
    """Write the displacement (6,) from one pose (7,) to another to `out`.

    It consists of a translation and a rotation vector in the base frame.
    """
    for j in range(3):
        out[j] = goal[j] - start[j]
    inverse = (-start[3], -start[4], -start[5], start[6])
    turn = quaternion_log(quaternion_product((goal[3], goal[4], goal[5], goal[6]), inverse))
    out[3], out[4], out[5] = turn


@inner
def advanced_pose(pose: Any, displacement: Any, out: Any) -> None:
    """Compute the pose (7,) that a displacement (6,) reaches from `pose`.

    It is the inverse of `pose_difference`. The result is written to `out`, which may share the
    memory of either argument.
    """
    shift, turn = vector(displacement, 0), vector(displacement, 3)
    for j in range(7):
        out[j] = pose[j]
    displace_pose(out, 0, shift, turn)


@inner
def displace_pose(q: Any, first: int, shift: Any, turn: Any) -> None:
    """Displace a pose by a translation and a rotation vector, in place.

    The pose is q[first:first + 7]; both vectors are in the base frame. For floats or SIMD vectors.
    """
    own = q[first + 3], q[first + 4], q[first + 5], q[first + 6]
    x, y, z, w = quaternion_product(quaternion_exp(turn), own)
    length = math.sqrt(x * x + y * y + z * z + w * w)
    for k in range(3):
        q[first + k] = q[first + k] + shift[k]
    q[first + 3], q[first + 4], q[first + 5] = x / length, y / length, z / length
    q[first + 6] = w / length


@inner
def rotation_vector_motion(x: Vector, rate: Vector, acceleration: Vector) -> tuple[Vector, Vector]:
    """Compute angular velocity and acceleration from a rotation vector's derivatives.

    Both are in the base frame. For the rotation exp(x(t)) R0 with constant R0, the left Jacobian of
    the rotation group gives omega = x' + A cross(x, x') + B cross(x, cross(x, x')), with A = (1 -
    cos t)/t^2, B = (t - sin t)/t^3 and t = |x|; alpha is the exact derivative of omega.
    """
    squared = x[0] ** 2 + x[1] ** 2 + x[2] ** 2
    angle = math.sqrt(squared)
    if angle < 0.02:  # the quotients lose precision; the next terms of the series are below 1e-12
        A = 0.5 - squared / 24.0 + squared**2 / 720.0
        B = 1.0 / 6.0 - squared / 120.0 + squared**2 / 5040.0
        dA = -1.0 / 12.0 + squared / 180.0 - squared**2 / 6720.0
        dB = -1.0 / 60.0 + squared / 1260.0 - squared**2 / 60480.0
    else:
        sine, cosine = math.sin(angle), math.cos(angle)
        A = (1.0 - cosine) / squared
        B = (angle - sine) / (squared * angle)
        dA = (angle * sine - 2.0 * (1.0 - cosine)) / squared**2
        dB = (3.0 * sine - 2.0 * angle - angle * cosine) / (squared**2 * angle)
    along = x[0] * rate[0] + x[1] * rate[1] + x[2] * rate[2]
    x_rate = cross(x, rate)
    x_acceleration = cross(x, acceleration)
    omega = add(rate, add(scale(A, x_rate), scale(B, cross(x, x_rate))))
    alpha = add(acceleration, add(scale(A, x_acceleration), scale(B, cross(x, x_acceleration))))
    alpha = add(alpha, scale(B, cross(rate, x_rate)))
    alpha = add(alpha, scale(along * dA, x_rate))
    return omega, add(alpha, scale(along * dB, cross(x, x_rate)))


@inner
def rotation_vector_rate(x: Vector, omega: Vector) -> Vector:
    """Compute the rate (3,) of a rotation vector x from an angular velocity.

    The angular velocity, in the base frame, is that of the rotation exp(x) R0 with constant R0. The
    length of x must be below 2 pi.
    """
    squared = x[0] ** 2 + x[1] ** 2 + x[2] ** 2
    angle = math.sqrt(squared)
    if angle < 0.02:
        C = 1.0 / 12.0 + squared / 720.0 + squared**2 / 30240.0
    else:
        half = 0.5 * angle
        C = (1.0 - half * math.cos(half) / math.sin(half)) / squared
    x_omega = cross(x, omega)
    return add(omega, add(scale(-0.5, x_omega), scale(C, cross(x, x_omega))))


@inner
def composed_motion(
    x: Vector, omega: Vector, alpha: Vector, inner_omega: Vector, inner_alpha: Vector
) -> tuple[Vector, Vector]:
    """Compute angular velocity and acceleration of a product of two moving rotations.

    Both are in the base frame. For the product exp(x) R, they are omega + E omega_R and alpha +
    omega x (E omega_R) + E alpha_R, with E = exp(x), which itself rotates with omega and alpha.
    omega_R and alpha_R, the arguments `inner_omega` and `inner_alpha`, are those of R.
    """
    q = quaternion_exp(x)
    carried = rotate(q, inner_omega)
    total = add(alpha, add(cross(omega, carried), rotate(q, inner_alpha)))
    return add(omega, carried), total
