# SPDX-License-Identifier: Apache-2.0

"""Closing the loops by Newton's method along the compiled elimination."""

from __future__ import annotations

import math
from typing import Any, Final

from robodyn.mechanisms.closed_loop.kernels.closures import fill, residual
from robodyn.mechanisms.closed_loop.kernels.dynamics import spread
from robodyn.mechanisms.closed_loop.kernels.elimination import factor, solve
from robodyn.mechanisms.closed_loop.kernels.layout import (
    AT_FREE,
    AT_ROWS,
    EQUATIONS,
    FREE,
    RATES,
)
from robodyn.mechanisms.closed_loop.kernels.tree import advance, place, place_base
from robodyn.numerics.compiler import inner
from robodyn.numerics.simd.lanes import any_of, choose

# Independent coordinates move by this much at a time [rad or m], so that no branch is changed.
PIECE: Final = 0.1
MOST_PIECES: Final = 10_000
MOST_STEPS: Final = 12
# [parts of the size] where rounding may keep it from coming nearer.
NEAR: Final = 1e-11


@inner
def gaps(plan: Any, numbers: Any, q: Any, B: Any, y: Any) -> Any:
    """How far open the closures are at q, with the sign turned round, y (rows,).

    Returns the largest [parts of the size].
    """
    place(plan, numbers, q, B)
    residual(plan, numbers, B, y)
    rows, left = plan[AT_ROWS], 0.0 * q[0]
    for n in range(plan[EQUATIONS]):
        gap = abs(y[n]) * numbers[rows + n]
        left = choose(gap > left, gap, left)
        y[n] = -y[n]
    return left


@inner
def correction(plan: Any, numbers: Any, B: Any, K: Any, x: Any, y: Any) -> bool:
    """Newton's step x (rates,) after `gaps`; false where the pivots do not serve."""
    fill(plan, numbers, B, K)
    if not factor(plan, numbers, K):
        return False
    for k in range(plan[FREE]):
        x[plan[plan[AT_FREE] + k]] = 0.0
    solve(plan, K, y, x)
    return True


@inner
def close(
    plan: Any,
    numbers: Any,
    gravity: Any,
    q: Any,
    target: float,
    most: int,
    B: Any,
    W: Any,
) -> float:
    """Close the loops from q (positions,) in place, independent coordinates held.

    Returns the largest equation left [parts of the size], -1 where the pivots do not serve.
    """
    K, x, y = W[0], W[1], W[4]
    place_base(B, gravity)
    left, before = 0.0, 1e300
    for _ in range(most):
        left = gaps(plan, numbers, q, B, y)
        if left <= target or not left < 2.0 * before:
            return float(left)
        if left < NEAR and left > 0.5 * before:  # as near as rounding lets it
            return float(left)
        before = left
        if not correction(plan, numbers, B, K, x, y):
            return -1.0
        advance(plan, numbers, B, x, q)
    return left


@inner
def predict(plan: Any, numbers: Any, gravity: Any, q: Any, piece: Any, B: Any, W: Any) -> bool:
    """Move q (positions,) in place along the tangent by a piece (free,) of a displacement.

    False where the pivots do not serve.
    """
    K, x, y = W[0], W[1], W[4]
    place_base(B, gravity)
    place(plan, numbers, q, B)
    fill(plan, numbers, B, K)
    if not factor(plan, numbers, K):
        return False
    spread(plan, K, piece, y, x)
    advance(plan, numbers, B, x, q)
    return True


@inner
def displace(
    plan: Any,
    numbers: Any,
    gravity: Any,
    q: Any,
    displacement: Any,
    target: float,
    B: Any,
    W: Any,
) -> float:
    """Move q (positions,) in place by a displacement (free,) of the independent coordinates.

    Piece by piece, each predicted along the tangent and closed. Returns as `close`; q is then
    that of the last piece that was tried.
    """
    piece = W[2]
    largest = 0.0
    for k in range(plan[FREE]):
        largest = max(largest, abs(displacement[k]))
    pieces = math.ceil(largest / PIECE)
    if not pieces <= MOST_PIECES:
        return 1e300
    left = 0.0
    for n in range(pieces):
        for k in range(plan[FREE]):
            piece[k] = displacement[k] / pieces
        if not predict(plan, numbers, gravity, q, piece, B, W):
            return -1.0
        goal = target if n == pieces - 1 else 1e-8
        left = close(plan, numbers, gravity, q, goal, MOST_STEPS, B, W)
        if left < 0.0 or left > 1e-6:
            return left
    return left


@inner
def displace_together(
    plan: Any,
    numbers: Any,
    gravity: Any,
    q: Any,
    displacement: Any,
    target: float,
    B: Any,
    W: Any,
) -> Any:
    """As `displace`, in one piece, of eight configurations.

    Returns the largest equation left of each, something large where the pivots do not serve one of
    them or the piece is too long.
    """
    K, x, y = W[0], W[1], W[4]
    for k in range(plan[FREE]):
        if any_of(abs(displacement[k]) > PIECE):
            return 1e300 + 0.0 * displacement[0]
    if not predict(plan, numbers, gravity, q, displacement, B, W):
        return 1e300 + 0.0 * displacement[0]
    before = 1e300 + 0.0 * displacement[0]
    left = before
    for _ in range(MOST_STEPS):
        left = gaps(plan, numbers, q, B, y)
        # each rests where it would alone
        moves = (left > target) & ((left > NEAR) | (0.5 * before > left))
        if not any_of(moves):
            return left
        before = left
        if not correction(plan, numbers, B, K, x, y):
            return 1e300 + 0.0 * displacement[0]
        for k in range(plan[RATES]):
            x[k] = choose(moves, x[k], 0.0)
        advance(plan, numbers, B, x, q)
    return left
