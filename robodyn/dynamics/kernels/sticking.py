# SPDX-License-Identifier: Apache-2.0

"""Set-valued dry friction: the joints that it holds, and their friction efforts.

The friction of a joint at rest is any effort between its static levels; a moving joint has the
friction of its direction. With G = L M^-1 L' for the joints' rates L V, and `free` their
accelerations without friction, the friction efforts f of the joints at rest solve

    free + G f = a,    low <= f <= high,    a_i = 0 inside, a_i >= 0 at low, a_i <= 0 at high:

a box-constrained linear complementarity problem, whose accelerations are unique since G is positive
semidefinite (Moreau, 1988; the optimality conditions of Gauss's principle of least constraint).
`solve_stiction` solves it by block principal pivoting (Judice and Pires, 1994), for one mechanism,
or for eight in SIMD lanes that are independent of each other.
"""

from __future__ import annotations

from typing import Any, Final

from robodyn.dynamics.kernels.dry_friction import DRY_FRICTION
from robodyn.numerics.compiler import noinline
from robodyn.numerics.linear import factor_definite, solve_factored
from robodyn.numerics.simd.lanes import any_of, choose, largest_of

# Columns of a mechanism's friction (joints, ROW). The first are those of `dry_friction`.
STATIC: Final = DRY_FRICTION  # levels [N or N m], positive or zero
STATIC_BACKWARD: Final = STATIC + 1
RATE: Final = STATIC + 2  # index of the rate in a tree, for kinds with more than one rate per joint
FACTOR: Final = STATIC + 3  # factor of this rate
ROW: Final = STATIC + 4

# Tolerances: of efforts relative to their range, of accelerations relative to the largest.
EFFORT_TOLERANCE: Final = 1e-12
ACCELERATION_TOLERANCE: Final = 1e-11
MOST_PIVOTS: Final = 100
PATIENCE: Final = 5


@noinline
def solve_stiction(
    G: Any, free: Any, low: Any, high: Any, among: Any, side: Any, effort: Any, matrix: Any
) -> None:
    """Compute the friction efforts, within their bounds, that hold joints at rest.

    Args:
        G: (n, n) accelerations of the joints per unit of their efforts, both triangles; read where
            both joints are among those at rest.
        free: (n,) accelerations of the joints without these friction efforts.
        low, high: (n,) bounds of the efforts.
        among: (n,) 1 for joints at rest; the others are left out.
        side: (n,) output: 0 for joints that are held, -1 or 1 for those that break away at the
            lower or upper bound.
        effort: (n,) output: the efforts, zero for joints that are left out.
        matrix: (n, n) scratch.
    """
    n = free.shape[0]
    largest = 0.0 * free[0]
    for i in range(n):
        side[i] = 0.0
        largest = choose(among[i] != 0.0, largest_of(abs(free[i]), largest), largest)
    best, patience = 0.0 * largest + (n + 1.0), 0.0 * largest + float(PATIENCE)
    for _ in range(MOST_PIVOTS):
        for i in range(n):
            inside = (among[i] != 0.0) & (side[i] == 0.0)
            total = -free[i]
            for j in range(n):
                both = inside & (among[j] != 0.0) & (side[j] == 0.0)
                matrix[i, j] = choose(both, G[i, j], 1.0 if i == j else 0.0)
                bound = choose(side[j] < 0.0, low[j], high[j])
                pushed = (among[j] != 0.0) & (side[j] != 0.0)
                total = choose(pushed, total - G[i, j] * bound, total)
            effort[i] = choose(inside, total, 0.0)
        factor_definite(matrix, n, True)
        solve_factored(matrix, n, effort)
        for i in range(n):
            bound = choose(side[i] < 0.0, low[i], high[i])
            effort[i] = choose((among[i] != 0.0) & (side[i] != 0.0), bound, effort[i])
        # the sides at which the joints should be, in the first row of the scratch matrix
        wrong, last = 0.0 * largest, 0.0 * largest - 1.0
        for i in range(n):
            slack = EFFORT_TOLERANCE * (high[i] - low[i])
            at_bound = choose(effort[i] > high[i] + slack, 1.0, 0.0 * largest)
            at_bound = choose(effort[i] < low[i] - slack, -1.0, at_bound)
            acceleration = free[i]
            for j in range(n):
                more = acceleration + G[i, j] * effort[j]
                acceleration = choose(among[j] != 0.0, more, acceleration)
            returns = side[i] * acceleration > ACCELERATION_TOLERANCE * largest
            target = choose(side[i] == 0.0, at_bound, choose(returns, 0.0, side[i]))
            target = choose(among[i] != 0.0, target, side[i])
            matrix[0, i] = target
            is_wrong = target != side[i]
            wrong = choose(is_wrong, wrong + 1.0, wrong)
            last = choose(is_wrong, float(i), last)
        if not any_of(wrong > 0.0):
            return
        # change all at once while that helps, else one by one, which is sure to terminate
        helps = wrong < best
        best = choose(helps, wrong, best)
        patience = choose(helps, float(PATIENCE), patience - 1.0)
        for i in range(n):
            changes = (wrong > 0.0) & ((patience >= 0.0) | (float(i) >= last))
            side[i] = choose(changes, matrix[0, i], side[i])
