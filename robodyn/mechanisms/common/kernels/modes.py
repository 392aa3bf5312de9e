# SPDX-License-Identifier: Apache-2.0

"""Which joints slide and which stick, and what sticking does to accelerations and velocities."""

from __future__ import annotations

from typing import Any, Final

from robodyn.mechanisms.common.kernels.sticking import (
    STATIC,
    STATIC_BACKWARD,
    friction_effort,
    hold,
)
from robodyn.numerics.compiler import apart, inner
from robodyn.numerics.linear import factor_definite, solve_factored
from robodyn.numerics.vectors import copy

# [m/s, rad/s] a joint that is slower is at rest, relative to 1 and to the largest velocity.
REST: Final = 1e-12
# Largest acceleration of joints that all stick, relative to 1 and to that without friction.
STILL: Final = 1e-8
# Modes of a joint: 1 and -1 slides, 0 sticks.
NO_FRICTION: Final = 2.0


@inner
def at_rest(rate: Any) -> float:
    """Rate [m/s or rad/s] below which a joint counts as at rest."""
    largest = 1.0
    for j in range(rate.shape[0]):
        largest = max(largest, abs(rate[j]))
    return REST * largest


@apart
def into(A: Any, M: Any, D: Any, factor: float, count: int) -> bool:
    """Factorise M + factor D into A; False if it is not positive definite."""
    for i in range(count):
        for j in range(i + 1):
            A[i, j] = M[i, j]
            if factor > 0.0:
                A[i, j] += factor * D[i, j]
    return factor_definite(A, count, False)


@apart
def decay(A: Any, D: Any, count: int, x: Any) -> float:
    """Sum of the rates [1/s] at which velocities decay, the trace of M^-1 D; A factorises M."""
    total = 0.0
    for j in range(count):
        for i in range(count):
            x[i] = D[max(i, j), min(i, j)]
        solve_factored(A, count, x)
        total += x[j]
    return total


@apart
def add_held(A: Any, L: Any, X: Any, H: Any, mode: Any, wanted: Any, x: Any) -> None:
    """Change x (nv,) by L x = wanted (nf,) at the joints that stick, least in the metric of A.

    `wanted` is used up.
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


@apart
def choose_modes(
    friction: Any,
    A: Any,
    L: Any,
    X: Any,
    G: Any,
    H: Any,
    force: Any,
    drift: Any,
    rest: float,
    joints: Any,
    wide: Any,
    rate: Any,
) -> bool:
    """Decide of each joint whether it slides or sticks; whether the whole mechanism sticks.

    Joints that move slide on. Of those at rest, the ones stick that friction can hold, given what
    holds the others; those that break away bear the friction of a joint that has begun to move,
    which may be less, so the rest is looked at again.
    """
    speed, mode, x = joints[1], joints[2], wide[1]
    free, low, high, among, side, held = (
        joints[4], joints[5], joints[6], joints[7], joints[8], joints[9],
    )  # fmt: skip
    n, nv = friction.shape[0], rate.shape[0]
    copy(force, x)
    for i in range(n):
        row = friction[i]
        among[i] = 0.0
        if not row[STATIC] + row[STATIC_BACKWARD] > 0.0:
            mode[i] = NO_FRICTION
        elif abs(speed[i]) > rest:
            mode[i] = 1.0 if speed[i] > 0.0 else -1.0
            push = friction_effort(row, mode[i], speed[i])
            for j in range(nv):
                x[j] += L[i, j] * push
        else:
            among[i] = 1.0
            mode[i] = 0.0
            low[i], high[i] = -row[STATIC], row[STATIC_BACKWARD]
    solve_factored(A, nv, x)
    for i in range(n):
        if among[i] != 0.0:
            copy(L[i], X[i])
            solve_factored(A, nv, X[i])
    for i in range(n):
        for j in range(n):
            G[i, j] = 0.0
            if among[i] != 0.0 and among[j] != 0.0:
                for k in range(nv):
                    G[i, j] += L[i, k] * X[j, k]
    sticking = 0
    for _ in range(n):
        sticking = 0
        for i in range(n):
            free[i] = 0.0
            if among[i] != 0.0:
                sticking += 1
                free[i] = drift[i]
                for j in range(nv):
                    free[i] += L[i, j] * x[j]
        if sticking == 0:
            return False
        hold(G, free, low, high, among, side, held, H)
        broke = False
        for i in range(n):
            if among[i] != 0.0 and side[i] != 0.0:
                broke = True
                among[i] = 0.0
                mode[i] = -side[i]
                push = friction_effort(friction[i], mode[i], 0.0)
                for k in range(nv):
                    x[k] += X[i, k] * push
        if not broke:
            break
    if sticking < nv:
        return False
    largest, left = 1.0, 0.0
    for j in range(nv):
        if abs(rate[j]) > rest:
            return False
        largest = max(largest, abs(x[j]))
        total = x[j]
        for i in range(n):
            if among[i] != 0.0:
                total += X[i, j] * held[i]
        left = max(left, abs(total))
    return left <= STILL * largest
