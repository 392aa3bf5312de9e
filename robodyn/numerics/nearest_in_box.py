# SPDX-License-Identifier: Apache-2.0

"""Shortest vector within limits with the same product A'x as a given one.

Changes of x that keep A'x are combinations of an orthonormal basis, so the solution is the point of
a polytope nearest to the origin in few coordinates: two for eight cables that support a body. It is
unique and continuous. Dual active-set method (Goldfarb and Idnani, 1983) with the identity as
Hessian: constraints are added, the most violated first, and dropped when their multipliers would
become negative.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from robodyn.numerics.array_arguments import stack
from robodyn.numerics.compiler import inner, noinline
from robodyn.numerics.vectors import clear, copy

# Relative tolerance for rounding.
ROUNDING: Final = 1e-13
# Squared lengths of unit vectors' remainders below which they are dependent.
NONE: Final = 1e-18


@inner
def _without(Q: Any, count: int, v: Any, size: int) -> float:
    """Orthogonalize v in place against the first `count` rows of Q; return |v|^2."""
    square = 0.0
    for _ in range(2):
        for k in range(count):
            along = 0.0
            for j in range(size):
                along += Q[k, j] * v[j]
            for j in range(size):
                v[j] -= along * Q[k, j]
        square = 0.0
        for j in range(size):
            square += v[j] * v[j]
    return square


@inner
def _complement(A: Any, Q: Any, n: int, f: int) -> bool:
    """Write to Q orthonormal bases of A's column space and of its orthogonal complement.

    A is (n, f). The basis vectors are the rows of Q (n, n), those of the column space first. Return
    False if the columns of A are linearly dependent.
    """
    for k in range(n):
        if k < f:
            for j in range(n):
                Q[k, j] = A[j, k]
        else:
            best, most = 0, -1.0
            for i in range(n):
                left = 1.0
                for m in range(k):
                    left -= Q[m, i] * Q[m, i]
                if left > most:
                    best, most = i, left
            for j in range(n):
                Q[k, j] = 1.0 if j == best else 0.0
        whole = 0.0
        for j in range(n):
            whole += Q[k, j] * Q[k, j]
        square = _without(Q, k, Q[k], n)
        if not square > 1e-20 * whole:
            return False
        for j in range(n):
            Q[k, j] /= math.sqrt(square)
    return True


@inner
def _most_violated(N: Any, y: Any, low: Any, high: Any, slack: float) -> Any:
    """Find the constraint that the point `y` violates most.

    Return its index, the violated side (1 for the lower bound, -1 for the upper) and the violation.
    The index is -1 if no constraint is violated.
    """
    worst, sense, most, missing = -1, 1.0, 0.0, 0.0
    for j in range(N.shape[0]):
        value, square = 0.0, 0.0
        for k in range(N.shape[1]):
            value += N[j, k] * y[k]
            square += N[j, k] * N[j, k]
        below, above = low[j] - value, value - high[j]
        excess = max(below, above)
        if excess > slack and excess > most * math.sqrt(square + NONE):
            worst, sense, missing = j, 1.0 if below > above else -1.0, excess
            most = excess / math.sqrt(square + NONE)
    return worst, sense, missing


class ActiveSet(NamedTuple):
    """Scratch arrays for the active constraints of a quadratic program.

    Attributes:
        normals: (r, r) normals of the active constraints, pointing inwards, in the first rows.
        basis: (r, r) orthonormal rows; the first k span the same space as the first k normals.
        upper: (r, r) upper triangular matrix with normals = upper' basis.
        which, sides, multipliers: (r + 1,) for each active constraint: index of the variable, 1 for
            its lower and -1 for its upper limit, and the multiplier.
    """

    normals: Any
    basis: Any
    upper: Any
    which: Any
    sides: Any
    multipliers: Any


@inner
def _factor(s: Any, count: int, r: int) -> None:
    """Compute the QR factorization of the normals of the active constraints.

    The factors are written to `s.basis` and `s.upper`.
    """
    for k in range(count):
        copy(s.normals[k], s.basis[k])
        square = _without(s.basis, k, s.basis[k], r)
        for i in range(r):
            s.basis[k, i] /= math.sqrt(square)
        for m in range(k + 1):
            s.upper[m, k] = 0.0
            for i in range(r):
                s.upper[m, k] += s.basis[m, i] * s.normals[k, i]


@inner
def _multiplier_rates(s: Any, count: int, normal: Any, rates: Any) -> None:
    """Express a vector (r,) as a linear combination of the active constraints' normals.

    The coefficients (count,) are written to `rates`.
    """
    for k in range(count - 1, -1, -1):
        along = 0.0
        for i in range(normal.shape[0]):
            along += s.basis[k, i] * normal[i]
        for m in range(k + 1, count):
            along -= s.upper[k, m] * rates[m]
        rates[k] = along / s.upper[k, k]


@inner
def _drop(s: Any, count: int, place: int) -> None:
    """Remove the active constraint `place`; move up the ones that follow it."""
    for k in range(place, count - 1):
        s.which[k], s.sides[k] = s.which[k + 1], s.sides[k + 1]
        s.multipliers[k] = s.multipliers[k + 1]
        copy(s.normals[k + 1], s.normals[k])


@inner
def _scale(A: Any, weights: Any, limits: Any, x: Any, B: Any, bounds: Any) -> float:
    """Scale the least-norm problem to unit weights; write it to `B` and `bounds`.

    Return the largest magnitude of the scaled values, to which rounding errors are proportional.
    """
    size = 0.0
    for j in range(A.shape[0]):
        root = math.sqrt(weights[j])
        for k in range(A.shape[1]):
            B[j, k] = root * A[j, k]
        bounds[0, j], bounds[1, j] = (limits[0, j] - x[j]) / root, (limits[1, j] - x[j]) / root
        size = max(size, abs(x[j]) / root)
        for i in range(2):
            if abs(limits[i, j]) < math.inf:
                size = max(size, abs(limits[i, j]) / root)
    return size


@inner
def nearest_to_origin(N: Any, bounds: Any, slack: float, s: ActiveSet, y: Any, work: Any) -> int:
    """Write the point nearest to the origin that satisfies linear bounds to `y` (r,).

    Args:
        N: (n, r) gradient of each constraint.
        bounds: (2, n) least and largest values of N y.
        slack: tolerance of the bounds for rounding.
        s: active constraints, filled on return.
        y: (r,) result.
        work: (3, r) scratch.

    Returns:
        The number of active constraints; -1 if no point satisfies the bounds.
    """
    n, r = N.shape
    normal, z, rates = work[0], work[1], work[2]
    clear(y)
    active = 0
    for _ in range(20 + 10 * n):
        p, sense, missing = _most_violated(N, y, bounds[0], bounds[1], slack)
        if p < 0:
            return active
        whole = 0.0
        for k in range(r):
            normal[k] = sense * N[p, k]
            whole += normal[k] * normal[k]
        multiplier, added = 0.0, False
        while not added:
            _multiplier_rates(s, active, normal, rates)
            copy(normal, z)
            square = _without(s.basis, active, z, r)
            free = active < r and square > 1e-20 * whole and whole > NONE
            step, drop = missing / square if free else math.inf, -1
            for k in range(active):
                if rates[k] > 1e-14 and s.multipliers[k] / rates[k] < step:
                    step, drop = s.multipliers[k] / rates[k], k
            if step == math.inf:
                return -1
            for k in range(active):
                s.multipliers[k] -= step * rates[k]
            multiplier += step
            if free:
                for k in range(r):
                    y[k] += step * z[k]
                missing -= step * square
            added = drop < 0
            if added:
                s.which[active], s.sides[active], s.multipliers[active] = p, sense, multiplier
                copy(normal, s.normals[active])
                active += 1
            else:
                _drop(s, active, drop)
                active -= 1
            _factor(s, active, r)
    return -1


@noinline
def nearest_in_box(A: Any, weights: Any, limits: Any, x: Any) -> bool:
    """Replace x (n,) by the shortest vector within limits with the same product A'x.

    Args:
        A: (n, f), of rank f.
        weights: (n,) inverse weights of the squares in the vector's length.
        limits: (2, n) lower limits, then upper limits.
        x: (n,) on entry the shortest vector with this A'x, regardless of limits; on return the
            result.

    Returns:
        Whether a vector within the limits exists; otherwise x is unchanged.
    """
    n, f = A.shape
    r = n - f
    if r == 0:
        return False
    Q, N, bounds, B = stack(n, n), stack(n, r), stack(2, n), stack(n, f)
    of_active, y = stack(3, r + 1), stack(1, r)[0]
    s = ActiveSet(stack(r, r), stack(r, r), stack(r, r), of_active[0], of_active[1], of_active[2])
    size = _scale(A, weights, limits, x, B, bounds)
    if not _complement(B, Q, n, f):
        return False
    for j in range(n):
        for k in range(r):
            N[j, k] = Q[f + k, j]
    active = nearest_to_origin(N, bounds, ROUNDING * size, s, y, stack(3, r))
    if active < 0:
        return False
    for j in range(n):
        step = 0.0
        for k in range(r):
            step += N[j, k] * y[k]
        x[j] += math.sqrt(weights[j]) * step
    for k in range(active):  # exactly
        j = int(s.which[k])
        x[j] = limits[0, j] if s.sides[k] > 0.0 else limits[1, j]
    return True
