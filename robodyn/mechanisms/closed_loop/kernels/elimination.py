# SPDX-License-Identifier: Apache-2.0

"""Sparse elimination of the closures' equations, in an order laid down in the plan.

K splits into the columns of dependent coordinates, which are eliminated, and those of independent
ones, which make the right-hand side. Which entries are ever other than zero is known beforehand,
so only these have a place. The pivots are those that served at home; where one of them is too
small, or the rows below it would grow, `factor` says so and the dense kernels choose anew.
"""

from __future__ import annotations

from typing import Any, Final

from robodyn.mechanisms.closed_loop.kernels.layout import (
    AT_FREE,
    AT_FREE_ENTRIES,
    AT_PIVOTS,
    AT_THRESHOLDS,
    EQUATIONS,
    FREE,
    FREE_ENTRIES,
    PIVOT_PLAN,
    PIVOTS,
)
from robodyn.numerics.compiler import inner
from robodyn.numerics.simd.lanes import any_of

# Rows may grow by this factor at a pivot before another one is looked for.
GROWTH: Final = 1e4
# What redundant equations may demand of rates, relative to the largest of the others.
INCONSISTENT: Final = 1e-6


@inner
def factor(plan: Any, numbers: Any, K: Any) -> bool:
    """Eliminate in place; returns whether every pivot serves."""
    at, least = plan[AT_PIVOTS], plan[AT_THRESHOLDS]
    for n in range(plan[PIVOTS]):
        p = plan[at + n]
        entry, below, right = plan[p], plan[p + 3], plan[p + 4]
        if any_of(~(abs(K[entry]) > numbers[least + n])):
            return False
        inverse = 1.0 / K[entry]
        K[entry] = inverse
        columns = p + PIVOT_PLAN
        row = columns + 2 * right
        for _ in range(below):
            place = plan[row + 1]
            ratio = K[place] * inverse
            if any_of(abs(ratio) > GROWTH):
                return False
            K[place] = ratio
            for j in range(right):
                to = plan[row + 2 + j]
                K[to] = K[to] - ratio * K[plan[columns + 2 * j + 1]]
            row += 2 + right
    return True


@inner
def solve(plan: Any, K: Any, y: Any, x: Any) -> None:
    """Dependent coordinates in x (rates,) from the right-hand side y (rows,), which is used up."""
    at, count = plan[AT_PIVOTS], plan[PIVOTS]
    for n in range(count):
        p = plan[at + n]
        value, right = y[plan[p + 1]], plan[p + 4]
        row = p + PIVOT_PLAN + 2 * right
        for _ in range(plan[p + 3]):
            target = plan[row]
            y[target] = y[target] - K[plan[row + 1]] * value
            row += 2 + right
    for n in range(count - 1, -1, -1):
        p = plan[at + n]
        value = y[plan[p + 1]]
        c = p + PIVOT_PLAN
        for _ in range(plan[p + 4]):
            value = value - K[plan[c + 1]] * x[plan[c]]
            c += 2
        x[plan[p + 2]] = value * K[plan[p]]


@inner
def solve_transposed(plan: Any, K: Any, tau: Any, z: Any) -> None:
    """Multipliers z (rows,) that balance the efforts tau (rates,) of dependent coordinates.

    Those entries of tau are used up; z of a redundant equation is 0.
    """
    at, count = plan[AT_PIVOTS], plan[PIVOTS]
    for n in range(plan[EQUATIONS]):
        z[n] = 0.0 * K[0]
    for n in range(count):
        p = plan[at + n]
        value = tau[plan[p + 2]] * K[plan[p]]
        z[plan[p + 1]] = value
        c = p + PIVOT_PLAN
        for _ in range(plan[p + 4]):
            target = plan[c]
            tau[target] = tau[target] - K[plan[c + 1]] * value
            c += 2
    for n in range(count - 1, -1, -1):
        p = plan[at + n]
        value, right = z[plan[p + 1]], plan[p + 4]
        row = p + PIVOT_PLAN + 2 * right
        for _ in range(plan[p + 3]):
            value = value - K[plan[row + 1]] * z[plan[row]]
            row += 2 + right
        z[plan[p + 1]] = value


@inner
def demand(plan: Any, K: Any, rates: Any, y: Any) -> None:
    """Take what independent rates (free,) contribute to the equations off y (rows,)."""
    at = plan[AT_FREE_ENTRIES]
    for _ in range(plan[FREE_ENTRIES]):
        row = plan[at]
        y[row] = y[row] - K[plan[at + 2]] * rates[plan[at + 1]]
        at += 3


@inner
def share(plan: Any, K: Any, z: Any, tau: Any, out: Any) -> None:
    """Efforts out (free,) at the independent coordinates: their own less the multipliers'."""
    first = plan[AT_FREE]
    for k in range(plan[FREE]):
        out[k] = tau[plan[first + k]]
    at = plan[AT_FREE_ENTRIES]
    for _ in range(plan[FREE_ENTRIES]):
        k = plan[at + 1]
        out[k] = out[k] - K[plan[at + 2]] * z[plan[at]]
        at += 3
