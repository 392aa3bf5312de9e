# SPDX-License-Identifier: Apache-2.0

"""Sliding and sticking modes of joints, and the effect of sticking on the motion."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels.dry_friction import dry_friction
from robodyn.dynamics.kernels.sticking import STATIC, STATIC_BACKWARD, solve_stiction
from robodyn.numerics.compiler import inner, noinline
from robodyn.numerics.linear import factor_definite, solve_factored
from robodyn.numerics.vectors import copy

# [m/s, rad/s] A joint below this rate is at rest, relative to 1 and to the largest velocity.
REST: Final = 1e-12
# Largest acceleration if all joints stick, relative to 1 and to that without friction.
STILL: Final = 1e-8
# Modes of a joint: 1 or -1 if it slides, 0 if it sticks.
NO_FRICTION: Final = 2.0


class FrictionMemory(NamedTuple):
    """Scratch memory for nf joints with friction, of a mechanism with nv velocities.

    Attributes:
        factor: (nv, nv) Cholesky factor of the mass matrix, with implicit damping if any.
        x: (nv,) accelerations.
        X: (nf, nv) M^-1 L', row by row.
        G: (nf, nf) L M^-1 L', accelerations of the joints per unit of their efforts.
        H: (nf, nf) scratch.
        speed, first_speed: (nf,) rates L V now, and at the beginning of a piece.
        mode: (nf,) 1 or -1 slides, 0 sticks, NO_FRICTION.
        wanted: (nf,) required L x at the joints that stick.
        free: (nf,) accelerations of the joints at rest without friction.
        low, high: (nf,) bounds of their friction.
        among: (nf,) 1 for joints at rest, else 0.
        side, held: (nf,) results of `solve_stiction`.
    """

    factor: Any
    x: Any
    X: Any
    G: Any
    H: Any
    speed: Any
    first_speed: Any
    mode: Any
    wanted: Any
    free: Any
    low: Any
    high: Any
    among: Any
    side: Any
    held: Any


@inner
def joints_shapes(nv: int, nf: int) -> Any:
    """Return the shapes of `FrictionMemory`, for `stack_all`."""
    return FrictionMemory(
        (nv, nv), nv, (nf, nv), (nf, nf), (nf, nf), nf, nf, nf, nf, nf, nf, nf, nf, nf, nf
    )


@inner
def rest_threshold(rate: Any) -> float:
    """Return the rate [m/s or rad/s] below which a joint counts as at rest."""
    largest = 1.0
    for j in range(rate.shape[0]):
        largest = max(largest, abs(rate[j]))
    return REST * largest


@noinline
def factor_with_damping(A: Any, M: Any, D: Any, factor: float, count: int) -> bool:
    """Factorize M + factor D into A; return False if it is not positive definite."""
    for i in range(count):
        for j in range(i + 1):
            A[i, j] = M[i, j]
            if factor > 0.0:
                A[i, j] += factor * D[i, j]
    return factor_definite(A, count, False)


@noinline
def decay(A: Any, D: Any, count: int, x: Any) -> float:
    """Return the trace of M^-1 D, the sum of velocity decay rates [1/s]; A is the factor of M."""
    total = 0.0
    for j in range(count):
        for i in range(count):
            x[i] = D[max(i, j), min(i, j)]
        solve_factored(A, count, x)
        total += x[j]
    return total


@noinline
def add_held(A: Any, L: Any, X: Any, H: Any, mode: Any, wanted: Any, x: Any) -> None:
    """Change x (nv,) minimally in metric A so that L x = `wanted` (nf,) at the sticking joints.

    `wanted` is overwritten.
    """
    n, nv = mode.shape[0], x.shape[0]
    some = False
    for i in range(n):
        if mode[i] == 0.0:
            some = True
            copy(L[i], X[i])
            solve_factored(A, nv, X[i])
    if not some:
        return
    for i in range(n):
        for j in range(i + 1):
            H[i, j] = 1.0 if i == j else 0.0
            if mode[i] == 0.0 and mode[j] == 0.0:
                H[i, j] = 0.0
                for k in range(nv):
                    H[i, j] += L[i, k] * X[j, k]
    factor_definite(H, n, True)
    solve_factored(H, n, wanted)
    for i in range(n):
        if mode[i] == 0.0:
            for k in range(nv):
                x[k] += X[i, k] * wanted[i]


@noinline
def choose_modes(friction: Any, equations: Any, j: Any, rest: float, rate: Any) -> bool:
    """Choose for each joint whether it slides or sticks; return whether the whole mechanism sticks.

    Joints that move keep sliding. Joints at rest stick if friction can hold them, given the
    friction of the others. A joint that breaks away has kinetic friction from then on, which may be
    lower, so the remaining joints at rest are evaluated again.

    Args:
        friction: (nf, sticking.ROW).
        equations: `hybrid_step.MotionEquations`.
        j: `FrictionMemory`; the modes are written. The mass matrix must be factorized and the
            speeds computed.
        rest: rate below which a joint is at rest.
        rate: (nv,).
    """
    L, x, mode, among = equations.L, j.x, j.mode, j.among
    nf, nv = friction.shape[0], rate.shape[0]
    copy(equations.force, x)
    for i in range(nf):
        row = friction[i]
        among[i] = 0.0
        if not row[STATIC] + row[STATIC_BACKWARD] > 0.0:
            mode[i] = NO_FRICTION
        elif abs(j.speed[i]) > rest:
            mode[i] = 1.0 if j.speed[i] > 0.0 else -1.0
            add_row(L, i, -dry_friction(row, 0, mode[i], j.speed[i]), x)
        else:
            among[i] = 1.0
            mode[i] = 0.0
            j.low[i], j.high[i] = -row[STATIC], row[STATIC_BACKWARD]
    solve_factored(j.factor, nv, x)
    for i in range(nf):
        if among[i] != 0.0:
            copy(L[i], j.X[i])
            solve_factored(j.factor, nv, j.X[i])
    for i in range(nf):
        for k in range(nf):
            j.G[i, k] = 0.0
            if among[i] != 0.0 and among[k] != 0.0:
                j.G[i, k] = row_times(L, i, j.X[k], 0.0)
    sticking = 0
    for _ in range(nf):
        sticking = 0
        for i in range(nf):
            j.free[i] = 0.0
            if among[i] != 0.0:
                sticking += 1
                j.free[i] = row_times(L, i, x, equations.drift[i])
        if sticking == 0:
            return False
        solve_stiction(j.G, j.free, j.low, j.high, among, j.side, j.held, j.H)
        broke = False
        for i in range(nf):
            if among[i] != 0.0 and j.side[i] != 0.0:
                broke = True
                among[i] = 0.0
                mode[i] = -j.side[i]
                add_row(j.X, i, -dry_friction(friction[i], 0, mode[i], 0.0), x)
        if not broke:
            break
    return sticking >= nv and is_at_equilibrium(j, rest, rate)


@inner
def is_at_equilibrium(j: Any, rest: float, rate: Any) -> bool:
    """Return whether all joints are at rest and the sticking ones leave no acceleration."""
    largest, left = 1.0, 0.0
    for k in range(rate.shape[0]):
        if abs(rate[k]) > rest:
            return False
        largest = max(largest, abs(j.x[k]))
        total = j.x[k]
        for i in range(j.among.shape[0]):
            if j.among[i] != 0.0:
                total += j.X[i, k] * j.held[i]
        left = max(left, abs(total))
    return left <= STILL * largest


@inner
def row_times(L: Any, i: int, x: Any, start: float) -> float:
    """Return `start` plus the product of a row of L and x, summed in this order."""
    total = start
    for k in range(x.shape[0]):
        total += L[i, k] * x[k]
    return total


@inner
def add_row(L: Any, i: int, factor: float, x: Any) -> None:
    """Add a multiple of a row of L to x."""
    for k in range(x.shape[0]):
        x[k] += L[i, k] * factor
