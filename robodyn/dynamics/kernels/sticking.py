# SPDX-License-Identifier: Apache-2.0

"""Set-valued dry friction: the joints at rest that it holds, and their friction efforts.

The friction of a joint at rest is any effort between its static levels; a moving joint has the
friction of its direction. With G = L M^-1 L' for the joints' rates L V, and `free` their
accelerations without friction, the friction efforts f of the joints at rest solve

    free + G f = a,    low <= f <= high,    a_i = 0 inside, a_i >= 0 at low, a_i <= 0 at high:

a box-constrained linear complementarity problem, whose accelerations are unique since G is positive
semidefinite (Moreau, 1988; the optimality conditions of Gauss's principle of least constraint).
`solve_stiction` solves it by block principal pivoting (Judice and Pires, 1994).
"""

from __future__ import annotations

from typing import Any, Final

from robodyn.dynamics.kernels.dry_friction import DRY_FRICTION
from robodyn.numerics.compiler import noinline
from robodyn.numerics.linear import factor_definite, solve_factored

# Columns of a mechanism's friction (joints, ROW). The first are those of `dry_friction`.
STATIC: Final = DRY_FRICTION  # levels [N or N m], positive or zero
STATIC_BACKWARD: Final = STATIC + 1
RATE: Final = STATIC + 2  # index of the rate in a tree, for kinds with more than one rate per joint
FACTOR: Final = STATIC + 3  # factor of this rate
ROW: Final = STATIC + 4

# Tolerances: of efforts relative to their range, of accelerations relative to the largest.
BOUND: Final = 1e-12
STILL: Final = 1e-11
MOST_PIVOTS: Final = 100
PATIENCE: Final = 5


@noinline
def solve_stiction(
    G: Any, free: Any, low: Any, high: Any, among: Any, side: Any, effort: Any, matrix: Any
) -> None:
    """Compute the friction efforts that hold joints at rest, within their bounds.

    Args:
        G: (n, n), both triangles.
        free: (n,) accelerations without these efforts.
        low, high: (n,) bounds.
        among: (n,) 1 for joints at rest; the others are left out.
        side: (n,) becomes 0 for joints that are held, -1 or 1 for those that break away at a bound.
        effort: (n,) becomes the efforts, zero for joints that are left out.
        matrix: (n, n) scratch.
    """
    n = free.shape[0]
    largest = 0.0
    for i in range(n):
        side[i] = 0.0
        if among[i] != 0.0:
            largest = max(largest, abs(free[i]))
    best, patience = n + 1, PATIENCE
    for _ in range(MOST_PIVOTS):
        for i in range(n):
            inside = among[i] != 0.0 and side[i] == 0.0
            total = -free[i]
            for j in range(n):
                both = inside and among[j] != 0.0 and side[j] == 0.0
                matrix[i, j] = G[i, j] if both else (1.0 if i == j else 0.0)
                if among[j] != 0.0 and side[j] != 0.0:
                    total -= G[i, j] * (low[j] if side[j] < 0.0 else high[j])
            effort[i] = total if inside else 0.0
        factor_definite(matrix, n, True)
        solve_factored(matrix, n, effort)
        for i in range(n):
            if among[i] != 0.0 and side[i] != 0.0:
                effort[i] = low[i] if side[i] < 0.0 else high[i]
        wrong, last = 0, -1
        for i in range(n):
            if among[i] == 0.0:
                continue
            if _target_bound(G, free, low, high, among, side, effort, largest, i) != side[i]:
                wrong, last = wrong + 1, i
        if wrong == 0:
            return
        # change all at once while that helps, else one by one, which is sure to terminate
        if wrong < best:
            best, patience = wrong, PATIENCE
        else:
            patience -= 1
        first = 0 if patience >= 0 else last
        for i in range(n):
            matrix[0, i] = side[i]
        for i in range(first, n):
            if among[i] != 0.0:
                matrix[0, i] = _target_bound(G, free, low, high, among, side, effort, largest, i)
        for i in range(n):
            side[i] = matrix[0, i]


@noinline
def _target_bound(
    G: Any,
    free: Any,
    low: Any,
    high: Any,
    among: Any,
    side: Any,
    effort: Any,
    largest: float,
    i: int,
) -> float:
    """Return the side on which a joint should be at the current efforts."""
    if side[i] == 0.0:
        slack = BOUND * (high[i] - low[i])
        if effort[i] < low[i] - slack:
            return -1.0
        return 1.0 if effort[i] > high[i] + slack else 0.0
    acceleration = free[i]
    for j in range(free.shape[0]):
        if among[j] != 0.0:
            acceleration += G[i, j] * effort[j]
    return 0.0 if side[i] * acceleration > STILL * largest else float(side[i])
