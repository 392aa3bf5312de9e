# SPDX-License-Identifier: Apache-2.0

"""Linear systems of six equations in SIMD vectors, by elimination.

`solve_rows` solves one system whose rows are vectors, `solve_lanes` eight systems whose entries
are. Both take the same pivots as `robodyn.numerics.linear.solve`, or the diagonal for a positive
definite matrix.
"""

from __future__ import annotations

from typing import Any

from robodyn.numerics.compiler import inner
from robodyn.numerics.simd.access import lane
from robodyn.numerics.simd.lanes import any_of, choose

# Pivot, relative to the largest, below which no digit of the solution is reliable.
SINGULAR_PIVOT = 1e-14


@inner
def solve_rows(rows: Any, definite: bool, out: Any) -> bool:
    """Solve A x = b with six equations, given as SIMD rows, which are overwritten.

    Lanes 0 to 5 of row i are A[i], lane 6 is b[i]. Returns False, with `out` (6,) meaningless, if A
    is singular to working precision or, with `definite`, not positive definite.
    """
    largest = 0.0
    for column in range(6):
        pivot = column
        size = lane(rows[column], column)
        if not definite:
            size = abs(size)
            for row in range(column + 1, 6):
                candidate = abs(lane(rows[row], column))
                if candidate > size:
                    size = candidate
                    pivot = row
        largest = max(largest, size)
        if not size > (0.0 if definite else SINGULAR_PIVOT * largest):
            return False
        chosen = rows[pivot]
        rows[pivot] = rows[column]
        chosen = chosen * (1.0 / lane(chosen, column))
        rows[column] = chosen
        for row in range(column + 1, 6):
            current = rows[row]
            rows[row] = current - lane(current, column) * chosen
    for row in range(5, -1, -1):
        current = rows[row]
        total = lane(current, 6)
        for j in range(row + 1, 6):
            total -= lane(current, j) * out[j]
        out[row] = total
    return True


@inner
def solve_lanes(A: Any, b: Any, definite: bool) -> bool:
    """Solve eight systems A x = b of six equations, one per SIMD lane, in place.

    Entry (i, j) of each matrix is in row 6 i + j of A, which is overwritten; the six rows of b
    become x. Returns False, with b meaningless, if any of the matrices is singular to working
    precision or, with `definite`, not positive definite.
    """
    # A, not b: if only b is not finite there is a solution, though not finite either
    largest = 0.0 * A[0]
    for column in range(6):
        if not definite:
            for row in range(column + 1, 6):
                swap = abs(A[6 * row + column]) > abs(A[6 * column + column])
                for j in range(column, 6):
                    upper, lower = A[6 * column + j], A[6 * row + j]
                    A[6 * column + j] = choose(swap, lower, upper)
                    A[6 * row + j] = choose(swap, upper, lower)
                upper, lower = b[column], b[row]
                b[column] = choose(swap, lower, upper)
                b[row] = choose(swap, upper, lower)
        pivot = A[6 * column + column]
        size = pivot if definite else abs(pivot)
        largest = choose(size > largest, size, largest)
        if any_of(~(size > (0.0 if definite else SINGULAR_PIVOT * largest))):
            return False
        inverse = 1.0 / pivot
        b[column] = b[column] * inverse
        for j in range(column + 1, 6):
            A[6 * column + j] = A[6 * column + j] * inverse
        for row in range(column + 1, 6):
            factor = A[6 * row + column]
            for j in range(column + 1, 6):
                A[6 * row + j] = A[6 * row + j] - factor * A[6 * column + j]
            b[row] = b[row] - factor * b[column]
    for row in range(4, -1, -1):
        total = b[row]
        for j in range(row + 1, 6):
            total = total - A[6 * row + j] * b[j]
        b[row] = total
    return True
