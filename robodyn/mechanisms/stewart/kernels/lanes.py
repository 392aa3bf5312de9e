# SPDX-License-Identifier: Apache-2.0

"""Many states of a 6-UPS Stewart platform, eight at a time in the lanes of vectors.

The equations are those of `kernels.leg` and `kernels.dynamics`, called with eight states as if
they were one. Arrays are borrowed for the call, (N, k) with any strides. Every function returns how
many states, from the first, it has solved: N or, if one of a group of eight is not finite or has no
solution, the number of states before that group. Kernels release the interpreter lock, so several
threads can share a batch.
"""

from __future__ import annotations

import math
from typing import Any

from robodyn.mechanisms.stewart.kernels.dynamics import (
    platform_inertia,
    platform_wrench,
    tip_share,
    unit_motion,
)
from robodyn.mechanisms.stewart.kernels.layout import GRAVITY, SMALLEST_LENGTH
from robodyn.mechanisms.stewart.kernels.leg import leg_geometry, leg_tip_inertia, leg_wrench
from robodyn.mechanisms.stewart.kernels.single import QUATERNION_TOLERANCE, lacks_frame
from robodyn.numerics.array_arguments import ABSENT, borrowed_array
from robodyn.numerics.compiler import batch_entry, inner
from robodyn.numerics.jacobi import condition_of_lanes
from robodyn.numerics.rotations import rotation_columns
from robodyn.numerics.simd.access import lane, new_rows, rows_from
from robodyn.numerics.simd.lanes import WIDTH, any_of
from robodyn.numerics.simd.linear_systems import solve_lanes
from robodyn.numerics.simd.states import all_finite, read, write
from robodyn.numerics.vectors import add, cross, vector


@inner
def normalize(pose: Any) -> bool:
    """Normalise eight quaternions; False if one was too far from unit length."""
    square = 0.0 * pose[3]
    for j in range(3, 7):
        square = square + pose[j] * pose[j]
    if any_of(~(abs(square - 1.0) <= QUATERNION_TOLERANCE)):
        return False
    factor = 1.0 / math.sqrt(square)
    for j in range(3, 7):
        pose[j] = factor * pose[j]
    return True


@inner
def write_column(H: Any, i: int, upper: Any, lower: Any) -> None:
    """Column i of eight matrices (6, 6), entry (r, c) of each in row 6 r + c."""
    for j in range(3):
        H[6 * j + i] = upper[j]
        H[6 * j + 18 + i] = lower[j]


@inner
def required_wrench(
    legs: Any, platform: Any, pose: Any, twist: Any, accel: Any, with_legs: bool, H: Any, out: Any
) -> bool:
    """H and the wrench (6 rows) for which H F + external wrench = out."""
    position = vector(pose, 0)
    X, Y, Z = rotation_columns(pose)
    v, w = vector(twist, 0), vector(twist, 3)
    a, alpha = vector(accel, 0), vector(accel, 3)
    gravity = vector(platform, GRAVITY)
    force, moment = platform_wrench(platform, X, Y, Z, w, a, alpha)
    for i in range(6):
        leg = legs[i]
        g = leg_geometry(leg, position, X, Y, Z)
        if lacks_frame(g):
            return False
        write_column(H, i, g.s, cross(g.q, g.s))
        if with_legs:
            leg_force, leg_moment = leg_wrench(leg, g, v, w, a, alpha, gravity)
            force = add(force, leg_force)
            moment = add(moment, leg_moment)
    for j in range(3):
        out[j] = force[j]
        out[j + 3] = moment[j]
    return True


@batch_entry
def inverse_dynamics(
    legs: Any,
    platform: Any,
    pose: Any,
    twist: Any,
    accel: Any,
    wrench: Any,
    with_legs: bool,
    out: Any,
) -> int:
    """Actuator forces out (N, 6)."""
    legs, platform, pose, twist = (
        borrowed_array(legs),
        borrowed_array(platform),
        borrowed_array(pose),
        borrowed_array(twist),
    )
    accel, wrench, out = borrowed_array(accel), borrowed_array(wrench), borrowed_array(out)
    contact = wrench.shape[0] != ABSENT
    inputs, H, b = new_rows(25), new_rows(36), new_rows(6)
    q, v, a, f = inputs, rows_from(inputs, 7), rows_from(inputs, 13), rows_from(inputs, 19)
    last: int = pose.shape[0]
    for n in range(0, last, WIDTH):
        read(pose, n, last, q)
        read(twist, n, last, v)
        read(accel, n, last, a)
        if contact:
            read(wrench, n, last, f)
        if not (all_finite(inputs, 25 if contact else 19) and normalize(q)):
            return n
        if not required_wrench(legs, platform, q, v, a, with_legs, H, b):
            return n
        if contact:
            for j in range(6):
                b[j] = b[j] - f[j]
        if not solve_lanes(H, b, False):
            return n
        write(b, n, last, out)
    return last


@inner
def mass_lanes(legs: Any, platform: Any, pose: Any, M: Any) -> bool:
    """Mass matrices of eight poses, entry (i, j) of each in row 6 i + j."""
    position = vector(pose, 0)
    X, Y, Z = rotation_columns(pose)
    for j in range(6):
        linear, angular = unit_motion(j)
        force, moment = platform_inertia(platform, X, Y, Z, linear, angular)
        write_column(M, j, force, moment)
    for i in range(6):
        leg = legs[i]
        g = leg_geometry(leg, position, X, Y, Z)
        if lacks_frame(g):
            return False
        t0 = leg_tip_inertia(leg, g, (1.0, 0.0, 0.0))
        t1 = leg_tip_inertia(leg, g, (0.0, 1.0, 0.0))
        t2 = leg_tip_inertia(leg, g, (0.0, 0.0, 1.0))
        for j in range(6):
            linear, angular = unit_motion(j)
            force, moment = tip_share(g, t0, t1, t2, linear, angular)
            for k in range(3):
                M[6 * k + j] = M[6 * k + j] + force[k]
                M[6 * k + 18 + j] = M[6 * k + 18 + j] + moment[k]
    return True


@batch_entry
def mass_matrix(legs: Any, platform: Any, pose: Any, out: Any) -> int:
    """Mass matrices out (N, 36), row by row."""
    legs, platform, pose, out = (
        borrowed_array(legs),
        borrowed_array(platform),
        borrowed_array(pose),
        borrowed_array(out),
    )
    q, M = new_rows(7), new_rows(36)
    last: int = pose.shape[0]
    for n in range(0, last, WIDTH):
        read(pose, n, last, q)
        if not (all_finite(q, 7) and normalize(q)):
            return n
        if not mass_lanes(legs, platform, q, M):
            return n
        write(M, n, last, out)
    return last


@batch_entry
def forward_dynamics(
    legs: Any,
    platform: Any,
    pose: Any,
    twist: Any,
    forces: Any,
    wrench: Any,
    out: Any,
) -> int:
    """Platform accelerations out (N, 6)."""
    legs, platform, pose, twist = (
        borrowed_array(legs),
        borrowed_array(platform),
        borrowed_array(pose),
        borrowed_array(twist),
    )
    forces, wrench, out = borrowed_array(forces), borrowed_array(wrench), borrowed_array(out)
    contact = wrench.shape[0] != ABSENT
    inputs, rest = new_rows(25), new_rows(6)
    H, M, b = new_rows(36), new_rows(36), new_rows(6)
    q, v, F, f = inputs, rows_from(inputs, 7), rows_from(inputs, 13), rows_from(inputs, 19)
    for j in range(6):
        rest[j] = 0.0
    last: int = pose.shape[0]
    for n in range(0, last, WIDTH):
        read(pose, n, last, q)
        read(twist, n, last, v)
        read(forces, n, last, F)
        if contact:
            read(wrench, n, last, f)
        if not (all_finite(inputs, 25 if contact else 19) and normalize(q)):
            return n
        if not required_wrench(legs, platform, q, v, rest, True, H, b):
            return n
        if not mass_lanes(legs, platform, q, M):
            return n
        for i in range(6):
            total = -b[i]
            if contact:
                total = total + f[i]
            for j in range(6):
                total = total + H[6 * i + j] * F[j]
            b[i] = total
        if not solve_lanes(M, b, True):
            return n
        write(b, n, last, out)
    return last


@batch_entry
def bias(legs: Any, platform: Any, pose: Any, twist: Any, out: Any) -> int:
    """Gravity, velocity terms and friction, out (N, 6)."""
    legs, platform, pose = borrowed_array(legs), borrowed_array(platform), borrowed_array(pose)
    twist, out = borrowed_array(twist), borrowed_array(out)
    inputs, rest, H, b = new_rows(13), new_rows(6), new_rows(36), new_rows(6)
    q, v = inputs, rows_from(inputs, 7)
    for j in range(6):
        rest[j] = 0.0
    last: int = pose.shape[0]
    for n in range(0, last, WIDTH):
        read(pose, n, last, q)
        read(twist, n, last, v)
        if not (all_finite(inputs, 13) and normalize(q)):
            return n
        if not required_wrench(legs, platform, q, v, rest, True, H, b):
            return n
        write(b, n, last, out)
    return last


@inner
def columns(legs: Any, pose: Any, length: float, H: Any) -> bool:
    """H of eight poses, its moments divided by `length`."""
    position = vector(pose, 0)
    X, Y, Z = rotation_columns(pose)
    inverse = 1.0 / length
    for i in range(6):
        g = leg_geometry(legs[i], position, X, Y, Z)
        if any_of(~(g.length > SMALLEST_LENGTH)):
            return False
        arm = cross(g.q, g.s)
        write_column(H, i, g.s, (inverse * arm[0], inverse * arm[1], inverse * arm[2]))
    return True


@batch_entry
def jacobian(legs: Any, platform: Any, pose: Any, out: Any) -> int:
    """H out (N, 36), row by row."""
    legs, pose, out = borrowed_array(legs), borrowed_array(pose), borrowed_array(out)
    q, H = new_rows(7), new_rows(36)
    last: int = pose.shape[0]
    for n in range(0, last, WIDTH):
        read(pose, n, last, q)
        if not (all_finite(q, 7) and normalize(q) and columns(legs, q, 1.0, H)):
            return n
        write(H, n, last, out)
    return last


@batch_entry
def condition_number(legs: Any, platform: Any, pose: Any, length: float, out: Any) -> int:
    """Ratios out (N, 1) of the extreme singular values of H, moments divided by `length`."""
    legs, pose, out = borrowed_array(legs), borrowed_array(pose), borrowed_array(out)
    q, H = new_rows(7), new_rows(36)
    last: int = pose.shape[0]
    for n in range(0, last, WIDTH):
        read(pose, n, last, q)
        if not (all_finite(q, 7) and normalize(q) and columns(legs, q, length, H)):
            return n
        ratio = condition_of_lanes(H)
        if any_of(~(ratio >= 0.0)):
            return n
        for column in range(min(WIDTH, last - n)):
            out[n + column, 0] = lane(ratio, column)
    return last
