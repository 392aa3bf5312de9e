# SPDX-License-Identifier: Apache-2.0

"""Determinants of small dense matrices."""

from __future__ import annotations

import math
from typing import Any

from robodyn.numerics.compiler import inner
from robodyn.numerics.linear import pivot_of, swap_rows


@inner
def log_determinant(A: Any, n: int) -> Any:
    """Return sign and logarithm of the absolute value of the determinant of A (n, n).

    A is overwritten. A singular matrix gives 0 and -infinity.
    """
    sign, total = 1.0, 0.0
    for k in range(n):
        pivot = pivot_of(A, k)
        if not abs(A[pivot, k]) > 0.0:
            return 0.0, -math.inf
        if pivot != k:
            sign = -sign
            swap_rows(A, k, pivot, k, n)
        if A[k, k] < 0.0:
            sign = -sign
        total += math.log(abs(A[k, k]))
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            ratio = A[i, k] * inverse
            if ratio != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= ratio * A[k, j]
    return sign, total
