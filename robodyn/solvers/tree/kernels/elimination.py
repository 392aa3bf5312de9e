# SPDX-License-Identifier: Apache-2.0

"""Sparse elimination of the closures' equations, in an order fixed in the plan.

K has columns of dependent coordinates, which are eliminated, and of independent ones, which form
the right-hand side. The entries that can be nonzero are known in advance, so only these are stored.
The pivots are those chosen at home; if one of them is too small, or the rows below it would grow,
`factor` returns False and the caller selects others.
"""

from __future__ import annotations

from typing import Any, Final

from robodyn.numerics.compiler import inner
from robodyn.numerics.simd.lanes import any_of
from robodyn.solvers.tree.kernels.layout import PIVOT_PLAN, pivot_of

# Growth of rows at a pivot above which another one is sought.
GROWTH: Final = 1e4
# Tolerance of redundant equations, relative to the largest of the other rates.
INCONSISTENT: Final = 1e-6


LISTS = PIVOT_PLAN.size


@inner
def factor(m: Any, K: Any) -> bool:
    """Eliminate the dependent coordinates from the closures' Jacobian `K`, in place.

    `K` then contains the factors of the eliminated rows and the inverses of the pivots. Return
    False if a pivot is too small or the entries grow too much.
    """
    for n in range(m.pivots):
        pivot = pivot_of(m, n)
        right, lists = pivot.right, pivot.integers
        if any_of(~(abs(K[pivot.entry]) > m.numbers[m.at_thresholds + n])):
            return False
        inverse = 1.0 / K[pivot.entry]
        K[pivot.entry] = inverse
        row = LISTS + 2 * right
        for _ in range(pivot.below):
            place = lists[row + 1]
            ratio = K[place] * inverse
            if any_of(abs(ratio) > GROWTH):
                return False
            K[place] = ratio
            for j in range(right):
                to = lists[row + 2 + j]
                K[to] = K[to] - ratio * K[lists[LISTS + 2 * j + 1]]
            row += 2 + right
    return True


@inner
def solve(m: Any, K: Any, y: Any, x: Any) -> None:
    """Solve the eliminated closure equations for the dependent entries of `x`.

    `x` contains the independent rates or accelerations, and is completed in place. `K` is the
    result of `factor`. The right-hand side `y` (rows,), from which the terms of the independent
    coordinates have been subtracted, is overwritten.
    """
    for n in range(m.pivots):
        pivot = pivot_of(m, n)
        value, lists = y[pivot.row], pivot.integers
        row = LISTS + 2 * pivot.right
        for _ in range(pivot.below):
            target = lists[row]
            y[target] = y[target] - K[lists[row + 1]] * value
            row += 2 + pivot.right
    for n in range(m.pivots - 1, -1, -1):
        pivot = pivot_of(m, n)
        value, lists = y[pivot.row], pivot.integers
        for j in range(pivot.right):
            value = value - K[lists[LISTS + 2 * j + 1]] * x[lists[LISTS + 2 * j]]
        x[pivot.rate] = value * K[pivot.entry]


@inner
def solve_transposed(m: Any, K: Any, tau: Any, z: Any) -> None:
    """Write the closures' Lagrange multipliers to `z` (rows,), from the joint efforts.

    The loop forces with these multipliers balance the efforts `tau` (rates,) at the dependent
    coordinates, which are overwritten. The multiplier of a redundant equation is 0. `K` is the
    result of `factor`.
    """
    for n in range(m.equations):
        z[n] = 0.0 * K[0]
    for n in range(m.pivots):
        pivot = pivot_of(m, n)
        value, lists = tau[pivot.rate] * K[pivot.entry], pivot.integers
        z[pivot.row] = value
        for j in range(pivot.right):
            target = lists[LISTS + 2 * j]
            tau[target] = tau[target] - K[lists[LISTS + 2 * j + 1]] * value
    for n in range(m.pivots - 1, -1, -1):
        pivot = pivot_of(m, n)
        value, lists = z[pivot.row], pivot.integers
        row = LISTS + 2 * pivot.right
        for _ in range(pivot.below):
            value = value - K[lists[row + 1]] * z[lists[row]]
            row += 2 + pivot.right
        z[pivot.row] = value


@inner
def subtract_independent(m: Any, K: Any, rates: Any, y: Any) -> None:
    """Subtract the terms of independent rates from a right-hand side of the closures.

    The rates are (free,), or accelerations in their place. The right-hand side `y` (rows,) is
    changed in place.
    """
    plan, at = m.integers, m.at_free_entries
    for _ in range(m.free_entries):
        row = plan[at]
        y[row] = y[row] - K[plan[at + 2]] * rates[plan[at + 1]]
        at += 3


@inner
def project_efforts(m: Any, K: Any, z: Any, tau: Any, out: Any) -> None:
    """Write the efforts at the independent coordinates to `out` (free,).

    They are the efforts `tau` (rates,) of the tree minus the contribution of the loop forces, which
    the multipliers `z` (rows,) of `solve_transposed` determine.
    """
    plan, at = m.integers, m.at_free_entries
    for k in range(m.free):
        out[k] = tau[plan[m.at_free + k]]
    for _ in range(m.free_entries):
        k = plan[at + 1]
        out[k] = out[k] - K[plan[at + 2]] * z[plan[at]]
        at += 3
