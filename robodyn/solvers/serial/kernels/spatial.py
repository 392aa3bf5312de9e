# SPDX-License-Identifier: Apache-2.0

"""Frames of a serial chain, and its links in base axes."""

from __future__ import annotations

from typing import Any

from robodyn.numerics.compiler import inner
from robodyn.numerics.matrices import (
    Matrix,
    add_point_mass,
    apply,
    column,
    matrix,
    product,
    store_matrix,
)
from robodyn.numerics.rotations import store_pose
from robodyn.numerics.simd.lanes import any_of
from robodyn.numerics.trigonometry import sine_cosine
from robodyn.numerics.vectors import Vector, add, axpy, dot, store, symmetric, vector
from robodyn.solvers.serial.kernels import layout


@inner
def link_rotation(row: Any, q: float) -> Matrix:
    """Return the rotation matrix (3, 3) from the frame of link i to that of link i-1."""
    x, y, z = matrix(row, layout.ROTATION)
    if any_of(row[layout.PRISMATIC] > 0.0):
        return x, y, z
    s, c = sine_cosine(q)
    return (
        (c * x[0] - s * y[0], c * x[1] - s * y[1], c * x[2] - s * y[2]),
        (s * x[0] + c * y[0], s * x[1] + c * y[1], s * x[2] + c * y[2]),
        z,
    )


@inner
def link_reach(row: Any, q: float) -> Vector:
    """Return the vector [m] from the origin of frame i-1 to that of frame i, in frame i."""
    if any_of(row[layout.PRISMATIC] > 0.0):
        return axpy(q, vector(row, layout.AXIS), vector(row, layout.REACH))
    return vector(row, layout.REACH)


@inner
def link_lever(row: Any, q: float) -> Vector:
    """Return the vector [m] from origin i-1 to link i's center of mass, in frame i."""
    if any_of(row[layout.PRISMATIC] > 0.0):
        return axpy(q, vector(row, layout.AXIS), vector(row, layout.LEVER))
    return vector(row, layout.LEVER)


@inner
def place(chain: Any, q: Any, frames: Any) -> None:
    """Write rotations and origins of frames 0 to n to `frames` (n + 1, FRAME_SIZE).

    They are in the base frame, at joint positions `q` (n,).
    """
    R = matrix(chain[0], layout.ROTATION)
    origin = apply(R, vector(chain[0], layout.REACH))
    store_matrix(frames[0], 0, R)
    store(frames[0], layout.FRAME_ORIGIN, origin)
    for i in range(chain.shape[0] - 1):
        row = chain[i + 1]
        R = product(R, link_rotation(row, q[i]))
        origin = add(origin, apply(R, link_reach(row, q[i])))
        store_matrix(frames[i + 1], 0, R)
        store(frames[i + 1], layout.FRAME_ORIGIN, origin)


@inner
def write_pose(frame: Any, out: Any) -> None:
    """Write the pose of a frame (FRAME_SIZE,) to `out` (7,)."""
    store_pose(out, vector(frame, layout.FRAME_ORIGIN), matrix(frame, 0))


@inner
def joint_axis(frames: Any, i: int) -> Vector:
    """Return the unit axis of joint i (0..n-1), base frame."""
    return column(matrix(frames[i], 0), 2)


@inner
def joint_origin(frames: Any, i: int) -> Vector:
    """Return the origin [m] of joint i (0..n-1), or of the tip (i = n), base frame."""
    return vector(frames[i], layout.FRAME_ORIGIN)


@inner
def link_com(chain: Any, frames: Any, i: int) -> Vector:
    """Return the center of mass [m] of link i (0..n-1), base frame."""
    R = matrix(frames[i + 1], 0)
    return add(
        vector(frames[i + 1], layout.FRAME_ORIGIN), apply(R, vector(chain[i + 1], layout.COM))
    )


@inner
def link_inertia(chain: Any, frames: Any, i: int) -> Matrix:
    """Return link i's inertia (3, 3) [kg m^2] about its center of mass, in base axes."""
    x, y, z = matrix(frames[i + 1], 0)
    row = chain[i + 1]
    Ix, Iy, Iz = (
        symmetric(row, layout.INERTIA, x),
        symmetric(row, layout.INERTIA, y),
        symmetric(row, layout.INERTIA, z),
    )
    xy, xz, yz = dot(x, Iy), dot(x, Iz), dot(y, Iz)
    return (dot(x, Ix), xy, xz), (xy, dot(y, Iy), yz), (xz, yz, dot(z, Iz))


@inner
def link_about(chain: Any, frames: Any, i: int) -> tuple[float, Vector, Matrix]:
    """Return link i's mass, first moment and inertia about its joint's origin.

    The first moment [kg m] and the inertia [kg m^2] are in base axes.
    """
    mass = chain[i + 1, layout.MASS]
    com = link_com(chain, frames, i)
    origin = joint_origin(frames, i)
    c = (com[0] - origin[0], com[1] - origin[1], com[2] - origin[2])
    first = (mass * c[0], mass * c[1], mass * c[2])
    return mass, first, add_point_mass(link_inertia(chain, frames, i), mass, c)
