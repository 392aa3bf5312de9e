# SPDX-License-Identifier: Apache-2.0

"""Step of a mechanism toward a target of its body, within limits to first order.

Least-distance programming (Lawson and Hanson 1974, chapter 23) by the dual active-set method.
"""

from __future__ import annotations

import math
from typing import Any, Final

from robodyn.numerics.array_arguments import stack
from robodyn.numerics.compiler import batch_kernel, inner
from robodyn.numerics.nearest_in_box import ROUNDING, ActiveSet, nearest_to_origin

# Least squared fraction of a column's length that is independent of those before.
INDEPENDENT: Final = 1e-20


@inner
def _factor(body: Any, Q: Any, R: Any) -> bool:
    """Factor the matrix `body` into Q' R by Gram-Schmidt with reorthogonalization.

    Q has orthonormal rows; R is upper triangular. The result is False if `body` lacks full column
    rank.
    """
    rows, size = body.shape
    if size > rows:
        return False
    for k in range(size):
        whole = square = 0.0
        for i in range(rows):
            Q[k, i] = body[i, k]
            whole += Q[k, i] * Q[k, i]
        for m in range(k):
            R[m, k] = 0.0
        for _ in range(2):
            for m in range(k):
                along = 0.0
                for i in range(rows):
                    along += Q[m, i] * Q[k, i]
                R[m, k] += along
                for i in range(rows):
                    Q[k, i] -= along * Q[m, i]
        for i in range(rows):
            square += Q[k, i] * Q[k, i]
        if not square > INDEPENDENT * whole:
            return False
        R[k, k] = math.sqrt(square)
        for i in range(rows):
            Q[k, i] /= R[k, k]
    return True


@batch_kernel
def nearest_step(body: Any, slopes: Any, excess: Any, way: Any, out: Any) -> None:
    """Compute the displacement within limits that is nearest to a requested one.

    Args:
        body: (k, nv) weighted Jacobian of the body; the distance of two displacements is the norm
            of its product with their difference.
        slopes: (c, nv) gradient of the excess beyond each limit w.r.t. the displacement.
        excess: (c,) excess beyond each limit at the current configuration; negative within it.
        way: (nv,) requested displacement.
        out: (nv,) output: the displacement; NaN if no displacement is within the limits.
    """
    count, size = slopes.shape
    Q, R, N = stack(size, body.shape[0]), stack(size, size), stack(count, size)
    bounds, of_active, y = stack(2, count), stack(3, size + 1), stack(1, size)[0]
    for k in range(size):
        out[k] = math.nan
    if not _factor(body, Q, R):
        return
    scale = 0.0
    for j in range(count):
        room = -excess[j]
        for k in range(size):
            room -= slopes[j, k] * way[k]
            along = slopes[j, k]
            for m in range(k):
                along -= N[j, m] * R[m, k]
            N[j, k] = along / R[k, k]
        bounds[0, j], bounds[1, j] = -math.inf, room
        scale = max(scale, abs(room))
    s = ActiveSet(
        stack(size, size), stack(size, size), stack(size, size),
        of_active[0], of_active[1], of_active[2],
    )  # fmt: skip
    if nearest_to_origin(N, bounds, ROUNDING * scale, s, y, stack(3, size)) < 0:
        return
    for k in range(size - 1, -1, -1):
        for m in range(k + 1, size):
            y[k] -= R[k, m] * y[m]
        y[k] /= R[k, k]
    for k in range(size):
        out[k] = way[k] + y[k]
