# SPDX-License-Identifier: Apache-2.0

"""Loop closure by Newton's method with the compiled elimination."""

from __future__ import annotations

import math
from typing import Any, Final

from robodyn.numerics.compiler import inner
from robodyn.numerics.simd.lanes import any_of, choose
from robodyn.numerics.vectors import copy
from robodyn.solvers.tree.kernels.closures import fill, largest_gap, residual
from robodyn.solvers.tree.kernels.dynamics import dependent_rates
from robodyn.solvers.tree.kernels.elimination import factor, solve
from robodyn.solvers.tree.kernels.tree import advance, place, place_base

# Largest step of independent coordinates [rad or m], so that the branch does not change.
PIECE: Final = 0.1
MOST_PIECES: Final = 10_000
MOST_STEPS: Final = 12
# Residual, relative to the size, below which rounding may prevent progress.
NEAR: Final = 1e-11


@inner
def gaps(m: Any, q: Any, s: Any) -> Any:
    """Write the negative closure residuals at `q` to `s.y` (rows,).

    The bodies' frames are written to `s.B`. Return the largest absolute residual, relative to the
    mechanism's size.
    """
    place(m, q, s.B)
    residual(m, s.B, s.y)
    left = largest_gap(m, 0.0 * q[0], s.y)
    for n in range(m.equations):
        s.y[n] = -s.y[n]
    return left


@inner
def correction(m: Any, s: Any) -> bool:
    """Write Newton's step of all joints for closing the loops to `s.v` (rates,).

    Independent joints do not move. Call it after `gaps`. Return False if the elimination of the
    closure equations fails.
    """
    fill(m, s.B, s.K)
    if not factor(m, s.K):
        return False
    for k in range(m.free):
        s.v[m.integers[m.at_free + k]] = 0.0
    solve(m, s.K, s.y, s.v)
    return True


@inner
def close(m: Any, q: Any, target: float, most: int, enough: float, s: Any) -> Any:
    """Close the loops of `q` in place, with constant independent coordinates.

    At most `most` Newton steps are taken, until the residual is at most `target`; in SIMD lanes,
    each of eight configurations stops after the same steps as a single one. If the residual is
    below `enough`, it is not evaluated after the last step, and the result is zero. Return the
    largest residual, relative to the mechanism's size; -1 if the elimination of the closure
    equations fails for any of them.
    """
    place_base(m, s.B)
    zero = 0.0 * q[0]
    left, before, moves = zero, 1e300 + zero, zero <= 1.0
    for _ in range(most):
        now = gaps(m, q, s)
        left = choose(moves, now, left)
        # as near as rounding permits, or without progress
        stagnates = (left < NEAR) & (left > 0.5 * before)
        moves = moves & (left > target) & (left < 2.0 * before) & ~stagnates
        if not any_of(moves):
            return left
        before = left
        if not correction(m, s):
            return zero - 1.0
        some = any_of(~moves)
        if some:
            copy(q, s.q)
        advance(m, s.B, s.v, q)
        if some:
            for k in range(m.positions):
                q[k] = choose(moves, q[k], s.q[k])
        if enough > 0.0:
            left = choose(moves & (before < enough), 0.0, left)
            moves = moves & (left > 0.0)
            if not any_of(moves):
                return left
    return left


@inner
def predict(m: Any, q: Any, piece: Any, s: Any) -> bool:
    """Displace configuration `q` in place along the tangent space of the closures.

    `piece` (free,) is the displacement of the independent coordinates; the dependent ones follow to
    first order, so the loops are closed only approximately. Return False if the elimination of the
    closure equations fails.
    """
    place_base(m, s.B)
    place(m, q, s.B)
    fill(m, s.B, s.K)
    if not factor(m, s.K):
        return False
    dependent_rates(m, piece, s)
    advance(m, s.B, s.v, q)
    return True


@inner
def displace(m: Any, q: Any, displacement: Any, target: float, s: Any) -> float:
    """Displace a closed configuration `q` in place, and close the loops again.

    The displacement (free,) is that of the independent coordinates, and is divided into pieces. For
    each piece, the configuration is predicted along the tangent and closed. Return the largest
    closure residual, relative to the mechanism's size, or -1 if the elimination of the closure
    equations fails; after a failure, `q` is that of the last piece.
    """
    piece, largest = s.u, 0.0
    for k in range(m.free):
        largest = max(largest, abs(displacement[k]))
    pieces = math.ceil(largest / PIECE)
    if not pieces <= MOST_PIECES:
        return 1e300
    left = 0.0
    for n in range(pieces):
        for k in range(m.free):
            piece[k] = displacement[k] / pieces
        if not predict(m, q, piece, s):
            return -1.0
        left = close(m, q, target if n == pieces - 1 else 1e-8, MOST_STEPS, 0.0, s)
        if left < 0.0 or left > 1e-6:
            return left
    return left


@inner
def displace_together(m: Any, q: Any, displacement: Any, target: float, s: Any) -> Any:
    """Displace eight closed configurations in SIMD lanes, and close the loops again.

    Unlike in `displace`, a displacement is not divided into pieces. Return the largest residual of
    each configuration; a large number for all eight if the elimination fails for any of them, or if
    a component of any displacement exceeds PIECE.
    """
    too_much = 1e300 + 0.0 * displacement[0]
    for k in range(m.free):
        if any_of(abs(displacement[k]) > PIECE):
            return too_much
    if not predict(m, q, displacement, s):
        return too_much
    left = close(m, q, target, MOST_STEPS, 0.0, s)
    return choose(left < 0.0, too_much, left)
