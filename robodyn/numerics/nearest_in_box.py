# SPDX-License-Identifier: Apache-2.0

"""The shortest vector within limits that does what a given one does.

What of x may change without changing A'x is a combination of an orthonormal basis, so this is the
point of a polytope nearest to the origin of few coordinates: two, of eight cables that hold a body.
It is unique and moves continuously. By the dual active-set method (Goldfarb and Idnani, 1983) whose
Hessian is the identity: constraints are added, the most violated first, and dropped where their
multipliers would turn negative.
"""

from __future__ import annotations

import math
from typing import Any, Final

from robodyn.numerics.array_arguments import stack
from robodyn.numerics.compiler import inner, noinline

# Parts of the largest number below which something is rounding.
ROUNDING: Final = 1e-13
# Directions of unit vectors and their lengths, squared, below which there are none.
NONE: Final = 1e-18


@inner
def _without(Q: Any, count: int, v: Any, size: int) -> float:
    """Take from v (size,) its parts along the first rows of Q, twice; its length squared left."""
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
    """Rows Q (n, n): an orthonormal basis of A's columns (n, f), then of what is normal to them."""
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
def _violated(N: Any, y: Any, low: Any, high: Any, slack: float) -> Any:
    """The constraint that y violates most by its distance, its sense and by how much; else -1."""
    worst, sense, most, missing = -1, 1.0, 0.0, 0.0
    for j in range(N.shape[0]):
        value, square = 0.0, 0.0
        for k in range(N.shape[1]):
            value += N[j, k] * y[k]
            square += N[j, k] * N[j, k]
        below, above = low[j] - value, value - high[j]
        beyond = max(below, above)
        if beyond > slack and beyond > most * math.sqrt(square + NONE):
            worst, sense, missing = j, 1.0 if below > above else -1.0, beyond
            most = beyond / math.sqrt(square + NONE)
    return worst, sense, missing


@noinline
def nearest_in_box(A: Any, weights: Any, limits: Any, x: Any) -> bool:
    """Replace x (n,) by the shortest within limits with the same A'x; false if there is none.

    Args:
        A: (n, f), of rank f.
        weights: (n,) inverse, of the squares in the length.
        limits: (2, n) least, then largest.
        x: (n,) of all with the same A'x the shortest.
    """
    n, f = A.shape
    r = n - f
    if r == 0:
        return False
    Q, N, bounds, B = stack(n, n), stack(n, r), stack(2, n), stack(n, f)
    # normals of active constraints, an orthonormal basis of them, and how one makes the other
    normals, basis, upper = stack(r, r), stack(r, r), stack(r, r)
    work = stack(6, r + 1)
    y, z, u, ratio, known, sides = work[0], work[1], work[2], work[3], work[4], work[5]
    size = 0.0
    for j in range(n):
        root = math.sqrt(weights[j])
        for k in range(f):
            B[j, k] = root * A[j, k]
        bounds[0, j], bounds[1, j] = (limits[0, j] - x[j]) / root, (limits[1, j] - x[j]) / root
        size = max(size, abs(x[j]) / root)
        for i in range(2):
            if abs(limits[i, j]) < math.inf:
                size = max(size, abs(limits[i, j]) / root)
    if not _complement(B, Q, n, f):
        return False
    for j in range(n):
        for k in range(r):
            N[j, k] = Q[f + k, j]
    for k in range(r):
        y[k] = 0.0
    active = 0
    for _ in range(20 + 10 * n):
        p, sense, missing = _violated(N, y, bounds[0], bounds[1], ROUNDING * size)
        if p < 0:
            for j in range(n):
                step = 0.0
                for k in range(r):
                    step += N[j, k] * y[k]
                x[j] += math.sqrt(weights[j]) * step
            for k in range(active):  # exactly
                j = int(known[k])
                x[j] = limits[0, j] if sides[k] > 0.0 else limits[1, j]
            return True
        multiplier = 0.0
        while True:
            whole = 0.0
            for k in range(r):
                z[k] = sense * N[p, k]
                whole += z[k] * z[k]
            # multipliers' rates: the part along active normals, in terms of these
            for k in range(active - 1, -1, -1):
                along = 0.0
                for i in range(r):
                    along += basis[k, i] * sense * N[p, i]
                for m in range(k + 1, active):
                    along -= upper[k, m] * ratio[m]
                ratio[k] = along / upper[k, k]
            square = _without(basis, active, z, r)
            free = active < r and square > 1e-20 * whole and whole > NONE
            step, drop = missing / square if free else math.inf, -1
            for k in range(active):
                if ratio[k] > 1e-14 and u[k] / ratio[k] < step:
                    step, drop = u[k] / ratio[k], k
            if step == math.inf:
                return False
            for k in range(active):
                u[k] -= step * ratio[k]
            multiplier += step
            if free:
                for k in range(r):
                    y[k] += step * z[k]
                missing -= step * square
            if drop < 0:
                known[active], sides[active], u[active] = p, sense, multiplier
                for k in range(r):
                    normals[active, k] = sense * N[p, k]
                active += 1
            else:
                active -= 1
                for k in range(drop, active):
                    known[k], sides[k], u[k] = known[k + 1], sides[k + 1], u[k + 1]
                    for i in range(r):
                        normals[k, i] = normals[k + 1, i]
            for k in range(active):
                for i in range(r):
                    basis[k, i] = normals[k, i]
                square = _without(basis, k, basis[k], r)
                for i in range(r):
                    basis[k, i] /= math.sqrt(square)
                for m in range(k + 1):
                    upper[m, k] = 0.0
                    for i in range(r):
                        upper[m, k] += basis[m, i] * normals[k, i]
            if drop < 0:
                break
    return False
