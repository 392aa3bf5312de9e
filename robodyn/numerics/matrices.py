# SPDX-License-Identifier: Apache-2.0

"""3 x 3 matrices as three rows, for floats or SIMD vectors."""

from __future__ import annotations

from typing import Any

from robodyn.numerics.compiler import inner
from robodyn.numerics.vectors import Vector, add, axpy, combine, cross, dot, resolve, store, vector

Matrix = tuple[Vector, Vector, Vector]


@inner
def matrix(array: Any, start: int) -> Matrix:
    """Return the 3 x 3 matrix in nine consecutive entries of a flat array.

    It is stored row by row, from index `start`.
    """
    return vector(array, start), vector(array, start + 3), vector(array, start + 6)


@inner
def store_matrix(array: Any, start: int, rows: Matrix) -> None:
    """Write a 3 x 3 matrix to nine consecutive entries of a flat array."""
    store(array, start, rows[0])
    store(array, start + 3, rows[1])
    store(array, start + 6, rows[2])


@inner
def apply(rows: Matrix, a: Vector) -> Vector:
    """Return the product R a of a matrix and a vector."""
    return resolve(rows[0], rows[1], rows[2], a)


@inner
def apply_transposed(rows: Matrix, a: Vector) -> Vector:
    """Return the product R' a of a transposed matrix and a vector."""
    return combine(rows[0], rows[1], rows[2], a)


@inner
def product(a: Matrix, b: Matrix) -> Matrix:
    """Return the matrix product A B."""
    return apply_transposed(b, a[0]), apply_transposed(b, a[1]), apply_transposed(b, a[2])


@inner
def turn_columns(rotation: Matrix, columns: Matrix) -> Matrix:
    """Return the columns of the product of a rotation and a matrix, both given by their columns."""
    return product(columns, rotation)


@inner
def plus(a: Matrix, b: Matrix) -> Matrix:
    """Return the matrix sum A + B."""
    return add(a[0], b[0]), add(a[1], b[1]), add(a[2], b[2])


@inner
def add_outer(rows: Matrix, factor: float, a: Vector, b: Vector) -> Matrix:
    """Return A + factor a b' for a matrix A and vectors a and b."""
    return (
        axpy(factor * a[0], b, rows[0]),
        axpy(factor * a[1], b, rows[1]),
        axpy(factor * a[2], b, rows[2]),
    )


@inner
def transpose(rows: Matrix) -> Matrix:
    """Return the transposed matrix A'."""
    x, y, z = rows
    return (x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])


@inner
def column(rows: Matrix, j: int) -> Vector:
    """Return column j of a matrix."""
    return rows[0][j], rows[1][j], rows[2][j]


@inner
def cross_rows(a: Vector, rows: Matrix) -> Matrix:
    """Return [a x] A, the cross product of a with each column of A."""
    return transpose(
        (
            cross(a, column(rows, 0)),
            cross(a, column(rows, 1)),
            cross(a, column(rows, 2)),
        )
    )


@inner
def add_point_mass(rows: Matrix, mass: float, a: Vector) -> Matrix:
    """Return A plus the inertia of a point mass m at a, m (a.a E - a a')."""
    x, y, z = add_outer(rows, -mass, a, a)
    square = mass * dot(a, a)
    return (x[0] + square, x[1], x[2]), (y[0], y[1] + square, y[2]), (z[0], z[1], z[2] + square)


@inner
def symmetric_rows(first: Vector, second: Vector) -> Matrix:
    """Return the three rows of a symmetric matrix, given (xx xy xz) and (yy yz zz)."""
    return first, (first[1], second[0], second[1]), (first[2], second[1], second[2])


@inner
def skew(a: Vector) -> Matrix:
    """Return the rows of the cross product matrix [a x]."""
    return (0.0, -a[2], a[1]), (a[2], 0.0, -a[0]), (-a[1], a[0], 0.0)


@inner
def shift_reference_point(A: Matrix, B: Matrix, M: Matrix, r: Vector) -> tuple[Matrix, Matrix]:
    """Move the reference point of a spatial inertia, given by its blocks, by -r.

    A is the rotational block, M the linear block, which does not change, and B couples both. The
    results are the new blocks A, A - B [r x] + [r x] (B + [r x] M)', and B, B + [r x] M.
    """
    moved = plus(B, cross_rows(r, M))
    # a row b of B makes b' [r x] = (b x r)'
    turned = cross(r, B[0]), cross(r, B[1]), cross(r, B[2])
    return plus(plus(A, turned), cross_rows(r, transpose(moved))), moved
