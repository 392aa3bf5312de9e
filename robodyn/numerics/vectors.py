# SPDX-License-Identifier: Apache-2.0

"""Three-vectors as tuples of numbers, which stay in registers and are inlined."""

from __future__ import annotations

import math
from typing import Any

from robodyn.numerics.compiler import inner

Vector = tuple[float, float, float]


@inner
def vector(array: Any, start: int) -> Vector:
    """Return the vector in three consecutive entries of an array, from `start` on."""
    return array[start], array[start + 1], array[start + 2]


@inner
def store(array: Any, start: int, a: Vector) -> None:
    """Write a vector to three consecutive entries of a flat array, from index `start`."""
    array[start] = a[0]
    array[start + 1] = a[1]
    array[start + 2] = a[2]


@inner
def copy(source: Any, out: Any) -> None:
    """Copy an array (k,) into another, entry by entry.

    A slice assignment would take far longer to compile.
    """
    for j in range(out.shape[0]):
        out[j] = source[j]


@inner
def clear(out: Any) -> None:
    """Set an array (k,) to zero."""
    for j in range(out.shape[0]):
        out[j] = 0.0


@inner
def along(k: int, size: Any) -> Any:
    """Return a vector of the given size along axis k: 0 for x, 1 for y, 2 for z."""
    return size * (1.0 * (k == 0)), size * (1.0 * (k == 1)), size * (1.0 * (k == 2))


@inner
def add(a: Vector, b: Vector) -> Vector:
    """Return the vector a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inner
def sub(a: Vector, b: Vector) -> Vector:
    """Return the vector a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inner
def scale(factor: float, a: Vector) -> Vector:
    """Return the vector factor * a."""
    return factor * a[0], factor * a[1], factor * a[2]


@inner
def axpy(factor: float, a: Vector, b: Vector) -> Vector:
    """Return the vector factor * a + b."""
    return factor * a[0] + b[0], factor * a[1] + b[1], factor * a[2] + b[2]


@inner
def dot(a: Vector, b: Vector) -> float:
    """Return the scalar product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inner
def cross(a: Vector, b: Vector) -> Vector:
    """Return the vector product a x b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@inner
def norm(a: Vector) -> float:
    """Return the length of a vector."""
    return math.sqrt(dot(a, a))


@inner
def combine(x: Vector, y: Vector, z: Vector, a: Vector) -> Vector:
    """Convert a vector a from the local frame with axes x, y, z to the base frame."""
    return (
        x[0] * a[0] + y[0] * a[1] + z[0] * a[2],
        x[1] * a[0] + y[1] * a[1] + z[1] * a[2],
        x[2] * a[0] + y[2] * a[1] + z[2] * a[2],
    )


@inner
def resolve(x: Vector, y: Vector, z: Vector, a: Vector) -> Vector:
    """Convert a vector a from the base frame to the local frame with axes x, y, z."""
    return dot(x, a), dot(y, a), dot(z, a)


@inner
def symmetric(array: Any, start: int, a: Vector) -> Vector:
    """Return the product I a of a symmetric matrix I and a vector a.

    I is stored as xx xy xz yy yz zz, from index `start` of an array.
    """
    xx, xy, xz = array[start], array[start + 1], array[start + 2]
    yy, yz, zz = array[start + 3], array[start + 4], array[start + 5]
    return (
        xx * a[0] + xy * a[1] + xz * a[2],
        xy * a[0] + yy * a[1] + yz * a[2],
        xz * a[0] + yz * a[1] + zz * a[2],
    )


@inner
def turn_inertia(x: Vector, y: Vector, z: Vector, array: Any, start: int, a: Vector) -> Vector:
    """Return the product T I T' a for an inertia I, a rotation T and a vector a.

    I is stored as xx xy xz yy yz zz, from index `start` of an array. The columns of T are x, y and
    z: the axes of the frame in which I is given.
    """
    return combine(x, y, z, symmetric(array, start, resolve(x, y, z, a)))


@inner
def turn_symmetric(x: Vector, y: Vector, z: Vector, first: Vector, second: Vector) -> Any:
    """Return T A T' for a rotation T and a symmetric matrix A.

    A and the result are given as (xx xy xz), (yy yz zz).
    """
    (xx, xy, xz), (yy, yz, zz) = first, second
    a = combine(x, y, z, (xx, xy, xz))
    b = combine(x, y, z, (xy, yy, yz))
    c = combine(x, y, z, (xz, yz, zz))
    return (
        (
            a[0] * x[0] + b[0] * y[0] + c[0] * z[0],
            a[0] * x[1] + b[0] * y[1] + c[0] * z[1],
            a[0] * x[2] + b[0] * y[2] + c[0] * z[2],
        ),
        (
            a[1] * x[1] + b[1] * y[1] + c[1] * z[1],
            a[1] * x[2] + b[1] * y[2] + c[1] * z[2],
            a[2] * x[2] + b[2] * y[2] + c[2] * z[2],
        ),
    )


@inner
def about_origin(mass: float, r: Vector, first: Vector, second: Vector) -> Any:
    """Shift a rotational inertia from the center of mass to the origin.

    The center of mass is at r. Inertias are given as (xx xy xz), (yy yz zz).
    """
    xx, yy, zz = r[0] * r[0], r[1] * r[1], r[2] * r[2]
    return (
        (
            first[0] + mass * (yy + zz),
            first[1] - mass * r[0] * r[1],
            first[2] - mass * r[0] * r[2],
        ),
        (
            second[0] + mass * (xx + zz),
            second[1] - mass * r[1] * r[2],
            second[2] + mass * (xx + yy),
        ),
    )
