# SPDX-License-Identifier: Apache-2.0

"""Small dense linear systems, solved in place without library calls."""

from __future__ import annotations

import math
from typing import Any

from robodyn.numerics.compiler import inner, noinline
from robodyn.numerics.simd.lanes import any_of, choose
from robodyn.numerics.simd.linear_systems import SINGULAR_PIVOT

# Least pivot of a mass matrix, relative to its diagonal.
LEAST_PIVOT = 1e-13
# Pivot, relative to its diagonal, below which a row depends on the rows before it.
DEPENDENT = 1e-10


@inner
def pivot_of(matrix: Any, column: int) -> int:
    """Return the row of a column's largest absolute entry, on or below the diagonal."""
    pivot = column
    for row in range(column + 1, matrix.shape[0]):
        if abs(matrix[row, column]) > abs(matrix[pivot, column]):
            pivot = row
    return pivot


@inner
def swap_rows(matrix: Any, upper: int, lower: int, begin: int, end: int) -> None:
    """Swap two rows of a matrix, in columns `begin` to `end` - 1."""
    for j in range(begin, end):
        matrix[upper, j], matrix[lower, j] = matrix[lower, j], matrix[upper, j]


@inner
def solve(matrix: Any, rhs: Any) -> bool:
    """Solve matrix @ x = rhs by elimination with partial pivoting.

    `matrix` (n, n) is overwritten and `rhs` (n,) becomes the solution. Returns False, with `rhs`
    meaningless, if the matrix is singular to working precision.
    """
    n = rhs.shape[0]
    largest = 0.0
    for column in range(n):
        pivot = pivot_of(matrix, column)
        size = abs(matrix[pivot, column])
        largest = max(largest, size)
        if not size > SINGULAR_PIVOT * largest:
            return False
        if pivot != column:
            swap_rows(matrix, column, pivot, column, n)
            rhs[column], rhs[pivot] = rhs[pivot], rhs[column]
        inverse = 1.0 / matrix[column, column]
        for row in range(column + 1, n):
            factor = matrix[row, column] * inverse
            if factor != 0.0:
                for j in range(column + 1, n):
                    matrix[row, j] -= factor * matrix[column, j]
                rhs[row] -= factor * rhs[column]
    for row in range(n - 1, -1, -1):
        total = rhs[row]
        for j in range(row + 1, n):
            total -= matrix[row, j] * rhs[j]
        rhs[row] = total / matrix[row, row]
    return True


@inner
def solve_columns(matrix: Any, rhs: Any, count: int) -> bool:
    """Solve matrix @ X = rhs for the first `count` columns of `rhs` (n, k), in place.

    `matrix` (n, n) is overwritten, and the columns of `rhs` become the solutions. Returns False,
    like `solve`, if the matrix is singular to working precision.
    """
    n = matrix.shape[0]
    largest = 0.0
    for column in range(n):
        pivot = pivot_of(matrix, column)
        size = abs(matrix[pivot, column])
        largest = max(largest, size)
        if not size > SINGULAR_PIVOT * largest:
            return False
        if pivot != column:
            swap_rows(matrix, column, pivot, column, n)
            swap_rows(rhs, column, pivot, 0, count)
        inverse = 1.0 / matrix[column, column]
        for row in range(column + 1, n):
            factor = matrix[row, column] * inverse
            for j in range(column + 1, n):
                matrix[row, j] -= factor * matrix[column, j]
            for j in range(count):
                rhs[row, j] -= factor * rhs[column, j]
    for row in range(n - 1, -1, -1):
        inverse = 1.0 / matrix[row, row]
        for k in range(row + 1, n):
            factor = matrix[row, k]
            for j in range(count):
                rhs[row, j] -= factor * rhs[k, j]
        for j in range(count):
            rhs[row, j] *= inverse
    return True


@inner
def factor_positive(matrix: Any, count: int, least: float, lenient: bool) -> bool:
    """Compute the Cholesky factor of a positive definite matrix, in place.

    The matrix is that of the first `count` rows and columns. Only the lower triangle is read; it
    becomes the factor, with its diagonal inverted. Returns False if a pivot is not above `least`
    times its diagonal entry. With `lenient`, dependent rows of a positive semidefinite matrix get a
    small pivot instead. For floats or SIMD vectors.
    """
    for j in range(count):
        total = size = matrix[j, j]
        for k in range(j):
            total = total - matrix[j, k] * matrix[j, k]
        if lenient:
            small = DEPENDENT * abs(size) + 1e-300
            total = choose(total > small, total, small)
        if any_of(~(total > least * size)):
            return False
        inverse = 1.0 / math.sqrt(total)
        matrix[j, j] = inverse
        for i in range(j + 1, count):
            value = matrix[i, j]
            for k in range(j):
                value = value - matrix[i, k] * matrix[j, k]
            matrix[i, j] = value * inverse
    return True


@noinline
def factor_definite(matrix: Any, count: int, lenient: bool) -> bool:
    """Compute the Cholesky factor of a positive definite matrix, in place.

    It is `factor_positive` with `least` = 0, as a function that is not inlined.
    """
    return factor_positive(matrix, count, 0.0, lenient)


@inner
def solve_definite(matrix: Any, count: int, least: float, x: Any) -> bool:
    """Solve matrix @ x = b in place for a positive definite matrix.

    On entry x (count,) contains b. The matrix is overwritten by its Cholesky factor. Returns False,
    with x unchanged, if a pivot is not above `least` times its diagonal entry.
    """
    if not factor_positive(matrix, count, least, False):
        return False
    solve_by_factor(matrix, count, x)
    return True


@inner
def solve_by_factor(factor: Any, count: int, x: Any) -> None:
    """Solve a linear system in place, given the Cholesky factor of its matrix.

    The right-hand side x (count,) becomes the solution. The factor's diagonal is inverted, as by
    `factor_positive`. For floats or SIMD vectors.
    """
    for i in range(count):
        total = x[i]
        for k in range(i):
            total = total - factor[i, k] * x[k]
        x[i] = total * factor[i, i]
    for i in range(count - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, count):
            total = total - factor[k, i] * x[k]
        x[i] = total * factor[i, i]


@inner
def solve_rows_by_factor(factor: Any, count: int, rows: Any, width: int) -> None:
    """Solve linear systems with a common matrix for the columns of an array, in place.

    Each column of `rows` (count, width) is a right-hand side and becomes the solution. `factor` is
    the Cholesky factor of the matrix, as from `factor_positive`.
    """
    for i in range(count):
        for k in range(i):
            for j in range(width):
                rows[i, j] = rows[i, j] - factor[i, k] * rows[k, j]
        for j in range(width):
            rows[i, j] = rows[i, j] * factor[i, i]
    for i in range(count - 1, -1, -1):
        for k in range(i + 1, count):
            for j in range(width):
                rows[i, j] = rows[i, j] - factor[k, i] * rows[k, j]
        for j in range(width):
            rows[i, j] = rows[i, j] * factor[i, i]


@noinline
def solve_factored(factor: Any, count: int, x: Any) -> None:
    """Solve a linear system in place, given the Cholesky factor of its matrix.

    It is `solve_by_factor`, as a function that is not inlined.
    """
    solve_by_factor(factor, count, x)
