# SPDX-License-Identifier: Apache-2.0

"""Positions and rates of the legs' eighteen URDF joints and of the platform's floating joint.

`readings` (6, 15) has a row for each leg: sign and offset of its three joints, and the axes h, u, k
of its universal joint at zero. The coordinates of the tree are three for each leg, then the twist.
A leg with a spherical joint has the readings of the universal joint in its drawing.
"""

from __future__ import annotations

import math
from typing import Any

from robodyn.numerics.array_arguments import borrowed_array
from robodyn.numerics.compiler import batch_entry, inner
from robodyn.numerics.rotations import rotation_columns
from robodyn.numerics.vectors import along, cross, dot, vector
from robodyn.solvers.stewart.kernels import leg
from robodyn.solvers.stewart.kernels.kinematics import geometry_status
from robodyn.solvers.stewart.kernels.layout import OK

SIGN, OFFSET, AXES = 0, 3, 6
RATES = 24


@inner
def universal_leg(g: Any) -> Any:
    """Return the geometry `g` of a leg as if its base joint were universal.

    It differs from `g` only for a leg with a spherical base joint.
    """
    return leg.LegGeometry(g.q, g.length, g.s, g.y, g.z, g.c, g.sine, 1.0 / g.sine)


@inner
def write_positions(g: Any, reading: Any, out: Any, at: int) -> None:
    """Write positions of a leg's three URDF joints to `out`, from index `at`.

    They are the readings, with the signs and offsets of `reading` (15,), of the universal joint's
    angles q1, q2 and of the leg's length. The angles follow from the leg frame [h u k] Rz(q1)
    Ry(q2), with the axes h, u, k of the universal joint at zero.
    """
    along_h = dot(g.s, vector(reading, AXES))
    along_u = dot(g.s, vector(reading, AXES + 3))
    along_k = dot(g.s, vector(reading, AXES + 6))
    first = math.atan2(along_u, along_h)
    second = math.atan2(-along_k, math.sqrt(along_u * along_u + along_h * along_h))
    values = (first, second, g.length)
    for k in range(3):
        out[at + k] = reading[SIGN + k] * (values[k] - reading[OFFSET + k])


@inner
def write_rates(reading: Any, about_k: float, about_y: float, rate: float, out: Any, at: int,
                step: int) -> None:  # fmt: skip
    """Write rates or accelerations of a leg's three URDF joints to `out`, from index `at`.

    `about_k` and `about_y` are the values about the axes of the universal joint, `rate` is that of
    the length; the three results are `step` entries apart in `out`.
    """
    out[at] = reading[SIGN] * about_k
    out[at + step] = reading[SIGN + 1] * about_y
    out[at + 2 * step] = reading[SIGN + 2] * rate


@batch_entry
def tangents(legs: Any, readings: Any, pose: Any, p: Any, S: Any) -> int:
    """Compute URDF joint positions at poses (N, 7), and their rates per unit of twist.

    The positions of the 18 leg joints, then of the floating joint, are written to `p` (N, 25). The
    Jacobians (24, 6) from the platform's twist to the rates of these joints are written to `S` (N,
    24 * 6), row by row. Poses must be normalized. Return the number of states, counted from the
    first, for which the results exist.
    """
    legs, readings, pose = borrowed_array(legs), borrowed_array(readings), borrowed_array(pose)
    p, S = borrowed_array(p), borrowed_array(S)
    zero = (0.0, 0.0, 0.0)
    for n in range(pose.shape[0]):
        X, Y, Z = rotation_columns(pose[n])
        for i in range(6):
            g = leg.leg_geometry(legs[i], vector(pose[n], 0), X, Y, Z)
            if geometry_status(g, i) != OK:
                return n
            g = universal_leg(g)
            write_positions(g, readings[i], p[n], 3 * i)
            for k in range(6):
                one = along(k % 3, 1.0)
                v = leg.leg_velocity(g, one if k < 3 else zero, zero if k < 3 else one)
                write_rates(readings[i], v.about_k, v.about_y, v.rate, S[n], 18 * i + k, 6)
        for k in range(7):
            p[n, 18 + k] = pose[n, k]
        for j in range(6):
            for k in range(6):
                S[n, 6 * (18 + j) + k] = 1.0 if j == k else 0.0
    return int(pose.shape[0])


@batch_entry
def motions(
    legs: Any, readings: Any, pose: Any, twist: Any, accel: Any, p: Any, r: Any, c: Any
) -> int:
    """Compute positions, rates and accelerations of a platform's URDF joints.

    The motion of the platform is given by poses (N, 7), twists and accelerations (N, 6). The
    results are written to `p` (N, 25), `r` (N, 24) and `c` (N, 24): first those of the 18 leg
    joints, then those of the floating joint. Return the number of states, counted from the first,
    for which the results exist.
    """
    legs, readings, pose = borrowed_array(legs), borrowed_array(readings), borrowed_array(pose)
    twist, accel = borrowed_array(twist), borrowed_array(accel)
    p, r, c = borrowed_array(p), borrowed_array(r), borrowed_array(c)
    for n in range(pose.shape[0]):
        X, Y, Z = rotation_columns(pose[n])
        w = vector(twist[n], 3)
        for i in range(6):
            g = leg.leg_geometry(legs[i], vector(pose[n], 0), X, Y, Z)
            if geometry_status(g, i) != OK:
                return n
            g = universal_leg(g)
            write_positions(g, readings[i], p[n], 3 * i)
            v = leg.leg_velocity(g, vector(twist[n], 0), w)
            a = leg.leg_acceleration(g, v, vector(accel[n], 0), vector(accel[n], 3), w)
            write_rates(readings[i], v.about_k, v.about_y, v.rate, r[n], 3 * i, 1)
            # A = q1'' k + q2'' y + q1' q2' k x y, and k = y x c
            about_k, about_y = dot(a.A, cross(g.y, g.c)), dot(a.A, g.y)
            write_rates(readings[i], about_k, about_y, a.rate, c[n], 3 * i, 1)
        for k in range(7):
            p[n, 18 + k] = pose[n, k]
        for k in range(6):
            r[n, 18 + k], c[n, 18 + k] = twist[n, k], accel[n, k]
    return int(pose.shape[0])
