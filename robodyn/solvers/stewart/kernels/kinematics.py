# SPDX-License-Identifier: Apache-2.0

"""Lengths and motions of all legs of the 6-UPS Stewart platform.

The functions compute N states, and write a code of `kernels.layout` for each to `status` (N,).
"""

from __future__ import annotations

from typing import Any

from robodyn.numerics.compiler import inner, kernel
from robodyn.numerics.rotations import rotation_columns
from robodyn.numerics.simd.lanes import any_of
from robodyn.numerics.vectors import store, vector
from robodyn.solvers.stewart.kernels import layout
from robodyn.solvers.stewart.kernels.leg import leg_acceleration, leg_geometry, leg_velocity


@inner
def geometry_status(g: Any, i: int) -> int:
    """Return the status code of leg `i`, whose geometry is `g`.

    The code is OK, or ZERO_LENGTH or ALONG_UNIVERSAL_AXIS plus the leg's number from 1. For eight
    states in SIMD lanes, it is a failure if any of them fails.
    """
    if any_of(~(g.length > layout.SMALLEST_LENGTH)):
        return layout.ZERO_LENGTH + i + 1
    if any_of(~(g.sine > layout.SMALLEST_SINE)):
        return layout.ALONG_UNIVERSAL_AXIS + i + 1
    return layout.OK


@kernel
def leg_lengths(legs: Any, pose: Any, out: Any, status: Any) -> None:
    """Write the leg lengths [m] at `pose` (N, 7) to `out` (N, 6).

    They are computed by eq. 1 and 2 of Dasgupta and Mruthyunjaya (1998). Status codes are written
    to `status` (N,): OK, or the code of a leg with zero length.
    """
    for n in range(pose.shape[0]):
        X, Y, Z = rotation_columns(pose[n])
        status[n] = layout.OK
        for i in range(6):
            g = leg_geometry(legs[i], vector(pose[n], 0), X, Y, Z)
            if not g.length > layout.SMALLEST_LENGTH:
                status[n] = layout.ZERO_LENGTH + i + 1
                break
            out[n, i] = g.length


@kernel
def leg_motion(
    legs: Any,
    pose: Any,
    twist: Any,
    accel: Any,
    length: Any,
    rate: Any,
    acceleration: Any,
    direction: Any,
    W: Any,
    A: Any,
    universal_rates: Any,
    status: Any,
) -> None:
    """Compute the legs' motion from poses (N, 7), twists and accelerations (N, 6).

    It is written to the arrays after `accel`: lengths, their first and second derivatives are (N,
    6); directions, angular velocities W and angular accelerations A (N, 6, 3), base frame; rates
    about the axes of the universal joints (N, 6, 2): eq. 2 to 9 of Dasgupta and Mruthyunjaya
    (1998). Status codes are written to `status` (N,).
    """
    for n in range(pose.shape[0]):
        X, Y, Z = rotation_columns(pose[n])
        w = vector(twist[n], 3)
        for i in range(6):
            g = leg_geometry(legs[i], vector(pose[n], 0), X, Y, Z)
            status[n] = geometry_status(g, i)
            if status[n] != layout.OK:
                break
            velocity = leg_velocity(g, vector(twist[n], 0), w)
            motion = leg_acceleration(g, velocity, vector(accel[n], 0), vector(accel[n], 3), w)
            length[n, i] = g.length
            rate[n, i] = velocity.rate
            acceleration[n, i] = motion.rate
            universal_rates[n, i, 0] = velocity.about_k
            universal_rates[n, i, 1] = velocity.about_y
            store(direction[n, i], 0, g.s)
            store(W[n, i], 0, velocity.W)
            store(A[n, i], 0, motion.A)
