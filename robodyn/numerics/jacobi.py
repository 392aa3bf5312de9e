# SPDX-License-Identifier: Apache-2.0

"""Singular values by one-sided Jacobi rotations, which are accurate for small ones too.

Demmel and Veselic (1992). Pairs of rows of a matrix are rotated until all are orthogonal; their
lengths are then the singular values.
"""

from __future__ import annotations

import math
from typing import Any, Final

from robodyn.numerics.compiler import inner
from robodyn.numerics.simd.access import sum_of_six
from robodyn.numerics.simd.lanes import any_of, choose

# Cosine of the angle between two rows below which they count as orthogonal.
ORTHOGONAL: Final = 2e-15
MOST_SWEEPS: Final = 40
# Five rounds of three pairs that share no row, so the pairs of a round are independent.
PAIRS: Final = (
    *((0, 1), (2, 3), (4, 5), (0, 2), (1, 4), (3, 5), (0, 3), (1, 5), (2, 4)),
    *((0, 4), (1, 3), (2, 5), (0, 5), (1, 2), (3, 4)),
)


@inner
def rotation(aa: Any, bb: Any, ab: Any) -> Any:
    """Compute the Jacobi rotation that makes two rows a and b orthogonal.

    The arguments are the rows' scalar products: `aa` of a with itself, `bb` of b with itself, `ab`
    of both. Returns cosine and sine of the rotation, and whether the rows were not orthogonal yet.
    The new rows are cosine a - sine b and sine a + cosine b.
    """
    due = abs(ab) > ORTHOGONAL * math.sqrt(aa * bb)
    zeta = (bb - aa) / choose(due, 2.0 * ab, 1.0)
    root = abs(zeta) + math.sqrt(1.0 + zeta * zeta)
    tangent = choose(due, choose(zeta >= 0.0, 1.0, -1.0) / root, 0.0)
    cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
    return cosine, cosine * tangent, due


@inner
def condition_of_rows(rows: Any) -> float:
    """Compute the condition number of a 6 x 6 matrix whose rows are SIMD vectors.

    The matrix is overwritten. Lanes 6 and 7 of each row are not used. The result is infinite if the
    smallest singular value is zero, and NaN for a zero matrix.
    """
    for _ in range(MOST_SWEEPS):
        turned = False
        for pair in range(15):
            p, q = PAIRS[pair]
            a, b = rows[p], rows[q]
            cosine, sine, due = rotation(sum_of_six(a * a), sum_of_six(b * b), sum_of_six(a * b))
            rows[p] = cosine * a - sine * b
            rows[q] = sine * a + cosine * b
            turned = turned or due
        if not turned:
            break
    smallest = largest = sum_of_six(rows[0] * rows[0])
    for i in range(1, 6):
        square = sum_of_six(rows[i] * rows[i])
        smallest = min(smallest, square)
        largest = max(largest, square)
    return math.sqrt(largest) / math.sqrt(smallest)


@inner
def ratio_of_rows(A: Any, count: int) -> float:
    """Compute the ratio of the largest to the `count`-th singular value of A (k, m).

    Singular values are counted from the largest. The result is infinite if the `count`-th is zero.
    A is overwritten.
    """
    for _ in range(MOST_SWEEPS):
        turned = False
        for p in range(A.shape[0]):
            for q in range(p + 1, A.shape[0]):
                aa = bb = ab = 0.0
                for j in range(A.shape[1]):
                    aa += A[p, j] * A[p, j]
                    bb += A[q, j] * A[q, j]
                    ab += A[p, j] * A[q, j]
                cosine, sine, due = rotation(aa, bb, ab)
                for j in range(A.shape[1]):
                    a, b = A[p, j], A[q, j]
                    A[p, j] = cosine * a - sine * b
                    A[q, j] = sine * a + cosine * b
                turned = turned or due
        if not turned:
            break
    largest, bound = 0.0, math.inf
    for _ in range(count):
        # the next smaller one
        here, at = -1.0, 0
        for p in range(A.shape[0]):
            square = 0.0
            for j in range(A.shape[1]):
                square += A[p, j] * A[p, j]
            if square > here:
                here, at = square, p
        for j in range(A.shape[1]):
            A[at, j] = 0.0
        largest, bound = max(largest, here), here
    return math.sqrt(largest) / math.sqrt(bound) if bound > 0.0 else math.inf


@inner
def condition_of_lanes(H: Any) -> Any:
    """Compute condition numbers of eight 6 x 6 matrices, one per SIMD lane.

    Entry (i, j) of each matrix is in row 6 i + j of H, which is overwritten.
    """
    for _ in range(MOST_SWEEPS):
        turned = False
        for pair in range(15):
            p, q = PAIRS[pair]
            aa = bb = ab = 0.0 * H[0]
            for j in range(6):
                a, b = H[6 * p + j], H[6 * q + j]
                aa = aa + a * a
                bb = bb + b * b
                ab = ab + a * b
            cosine, sine, due = rotation(aa, bb, ab)
            for j in range(6):
                a, b = H[6 * p + j], H[6 * q + j]
                H[6 * p + j] = cosine * a - sine * b
                H[6 * q + j] = sine * a + cosine * b
            turned = turned or any_of(due)
        if not turned:
            break
    smallest = largest = length_of_row(H, 0)
    for i in range(1, 6):
        length = length_of_row(H, i)
        smallest = choose(length < smallest, length, smallest)
        largest = choose(length > largest, length, largest)
    return largest / smallest


@inner
def length_of_row(H: Any, i: int) -> Any:
    """Compute the length of row i of eight 6 x 6 matrices, one per SIMD lane.

    Entry (i, j) of each matrix is in row 6 i + j of H.
    """
    square = 0.0 * H[0]
    for j in range(6):
        square = square + H[6 * i + j] * H[6 * i + j]
    return math.sqrt(square)


@inner
def ratio_of_lanes(A: Any, rows: int, width: int) -> Any:
    """Compute condition numbers of eight matrices (rows, width), one per SIMD lane.

    `rows` is at most `width`. The matrices A are overwritten.
    """
    for _ in range(MOST_SWEEPS):
        turned = False
        for p in range(rows):
            for q in range(p + 1, rows):
                aa = bb = ab = 0.0 * A[0, 0]
                for j in range(width):
                    a, b = A[p, j], A[q, j]
                    aa = aa + a * a
                    bb = bb + b * b
                    ab = ab + a * b
                cosine, sine, due = rotation(aa, bb, ab)
                for j in range(width):
                    a, b = A[p, j], A[q, j]
                    A[p, j] = cosine * a - sine * b
                    A[q, j] = sine * a + cosine * b
                turned = turned or any_of(due)
        if not turned:
            break
    smallest = largest = 0.0 * A[0, 0]
    for i in range(rows):
        square = 0.0 * A[0, 0]
        for j in range(width):
            square = square + A[i, j] * A[i, j]
        largest = choose(square > largest, square, largest)
        smallest = choose(square < smallest, square, smallest) if i else square
    return math.sqrt(largest) / math.sqrt(smallest)
