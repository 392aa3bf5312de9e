# SPDX-License-Identifier: Apache-2.0

"""Lengths, Jacobian and leg motion of the whole 6-UPS Stewart platform, one state a call.

Every function returns a status code of `kernels.layout`.
"""

from __future__ import annotations

from typing import Any

from robodyn.mechanisms.stewart.kernels.layout import (
    ALONG_UNIVERSAL_AXIS,
    OK,
    SMALLEST_LENGTH,
    SMALLEST_SINE,
    ZERO_LENGTH,
)
from robodyn.mechanisms.stewart.kernels.leg import leg_acceleration, leg_geometry, leg_velocity
from robodyn.numerics.compiler import kernel
from robodyn.numerics.rotations import rotation_columns
from robodyn.numerics.vectors import cross, store, vector


@kernel
def geometry_status(g: Any, i: int) -> int:
    """Whether leg i has a length and a frame; NaN counts as neither."""
    if not g.length > SMALLEST_LENGTH:
        return ZERO_LENGTH + i + 1
    if not g.sine > SMALLEST_SINE:
        return ALONG_UNIVERSAL_AXIS + i + 1
    return OK


@kernel
def leg_lengths(legs: Any, pose: Any, out: Any) -> int:
    """Leg lengths (6,) of pose (7,): eq. 1, 2."""
    position = vector(pose, 0)
    X, Y, Z = rotation_columns(pose)
    for i in range(6):
        g = leg_geometry(legs[i], position, X, Y, Z)
        if not g.length > SMALLEST_LENGTH:
            return ZERO_LENGTH + i + 1
        out[i] = g.length
    return OK


@kernel
def jacobian(legs: Any, pose: Any, H: Any) -> int:
    """H (6, 6) of pose (7,), columns [s; q x s]: eq. 35."""
    position = vector(pose, 0)
    X, Y, Z = rotation_columns(pose)
    for i in range(6):
        g = leg_geometry(legs[i], position, X, Y, Z)
        if not g.length > SMALLEST_LENGTH:
            return ZERO_LENGTH + i + 1
        store(H[:, i], 0, g.s)
        store(H[:, i], 3, cross(g.q, g.s))
    return OK


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
) -> int:
    """L, L', L'' (6,), s, W, A (6, 3) and the rates about k and y (6, 2): eq. 2 to 9."""
    position, v, w = vector(pose, 0), vector(twist, 0), vector(twist, 3)
    X, Y, Z = rotation_columns(pose)
    for i in range(6):
        g = leg_geometry(legs[i], position, X, Y, Z)
        status = geometry_status(g, i)
        if status != OK:
            return status
        m = leg_velocity(g, v, w)
        n = leg_acceleration(g, m, vector(accel, 0), vector(accel, 3), w)
        length[i] = g.length
        rate[i] = m.rate
        acceleration[i] = n.rate
        universal_rates[i, 0] = m.about_k
        universal_rates[i, 1] = m.about_y
        store(direction[i], 0, g.s)
        store(W[i], 0, m.W)
        store(A[i], 0, n.A)
    return OK
