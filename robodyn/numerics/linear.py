# SPDX-License-Identifier: Apache-2.0

"""Small dense linear systems, solved in place without library calls."""

from __future__ import annotations

from typing import Any

from robodyn.numerics.compiler import inner, noinline

# A pivot this small relative to the largest means that no digit of the solution is reliable.
SINGULAR_PIVOT = 1e-14
# A pivot this small relative to its own diagonal is that of a row which depends on those before.
DEPENDENT = 1e-10


@inner
def pivot_of(matrix: Any, column: int) -> int:
    """The row, from the diagonal on, whose entry in a column is the largest."""
    pivot = column
    for row in range(column + 1, matrix.shape[0]):
        if abs(matrix[row, column]) > abs(matrix[pivot, column]):
            pivot = row
    return pivot


@inner
def swap_rows(matrix: Any, upper: int, lower: int, begin: int, end: int) -> None:
    """Swap two rows, from column `begin` to before `end`."""
    for j in range(begin, end):
        matrix[upper, j], matrix[lower, j] = matrix[lower, j], matrix[upper, j]


@inner
def solve(matrix: Any, rhs: Any) -> bool:
    """Solve matrix @ x = rhs by elimination with partial pivoting.

    `matrix` (n, n) is destroyed and `rhs` (n,) becomes the solution. Returns False, with `rhs`
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
    """As `solve`, for the first `count` columns of `rhs` (n, k) at once."""
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
def solve_positive_definite(matrix: Any, rhs: Any) -> bool:
    """Solve matrix @ x = rhs by Cholesky factorisation, reading the lower triangle only.

    `matrix` (n, n) is destroyed and `rhs` (n,) becomes the solution. Returns False if the matrix
    is not positive definite.
    """
    n = rhs.shape[0]
    for j in range(n):
        total = matrix[j, j]
        for k in range(j):
            total -= matrix[j, k] * matrix[j, k]
        if not total > 0.0:
            return False
        diagonal = total**0.5
        matrix[j, j] = diagonal
        for i in range(j + 1, n):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = total / diagonal
    for i in range(n):
        total = rhs[i]
        for k in range(i):
            total -= matrix[i, k] * rhs[k]
        rhs[i] = total / matrix[i, i]
    for i in range(n - 1, -1, -1):
        total = rhs[i]
        for k in range(i + 1, n):
            total -= matrix[k, i] * rhs[k]
        rhs[i] = total / matrix[i, i]
    return True


@noinline
def factor_definite(matrix: Any, count: int, lenient: bool) -> bool:
    """Cholesky's factor of a matrix in place, its diagonal inverted; reads the lower triangle.

    False if it is not positive definite. `lenient` instead gives a dependent row of a matrix that
    is positive semidefinite a small pivot of its own.
    """
    for j in range(count):
        size = matrix[j, j]
        total = size
        for k in range(j):
            total -= matrix[j, k] * matrix[j, k]
        if lenient:
            total = max(total, DEPENDENT * abs(size), 1e-300)
        if not total > 0.0:
            return False
        inverse = 1.0 / total**0.5
        matrix[j, j] = inverse
        for i in range(j + 1, count):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = total * inverse
    return True


@inner
def solve_by_factor(factor: Any, count: int, x: Any) -> None:
    """Solve for x (count,) in place, of floats or of lanes, with Cholesky's factor.

    The factor's diagonal is inverted, as `factor_definite` and `factor_positive` have it.
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


@noinline
def solve_factored(factor: Any, count: int, x: Any) -> None:
    """As `solve_by_factor`, of floats, and called instead of inlined."""
    solve_by_factor(factor, count, x)
