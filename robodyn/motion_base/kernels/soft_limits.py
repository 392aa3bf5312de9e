# SPDX-License-Identifier: Apache-2.0

"""Newton's steps of a quadratic programme with soft limits.

What is beyond a limit costs its square, so any x may be begun with, a few steps from the plan of
the sample before are enough, and what is beyond is drawn back. The objective is of second order by
pieces: where the same limits are passed before and after it, a step is exact.

Of x (axes * n,), rows of coefficients of basis functions: minimise x' H x / 2 + g' x and half the
square of what a value is beyond -below[r, l] and above[r, l], as a share of scale[r, l], where the
values of block r and joint l are sum_a J[r, l, a] basis[r] . x[a]. Their share of Newton's matrix
is a sum of Kronecker products, of (axes, axes) by (n, n).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.numerics.compiler import batch_kernel, kernel
from robodyn.numerics.linear import factor_definite, solve_factored

# Of an interval of lengths of a step, in search of the best.
HALVINGS = 12


@batch_kernel
def gram(A: Any, out: Any) -> None:
    """Add A' A (n, n) of rows A (K, n); a library's threads would take longer to begin."""
    n = A.shape[1]
    for r in range(A.shape[0]):
        for i in range(n):
            f = A[r, i]
            if f != 0.0:
                for j in range(n):
                    out[i, j] += f * A[r, j]


@kernel
def joint_values(J: Any, basis: Any, x: Any, out: Any) -> None:
    """What the limits are of, (blocks, joints)."""
    blocks, joints, axes = J.shape
    n = basis.shape[1]
    moved = np.empty(axes)
    for r in range(blocks):
        for a in range(axes):
            total = 0.0
            for j in range(n):
                total += basis[r, j] * x[a * n + j]
            moved[a] = total
        for i in range(joints):
            total = 0.0
            for a in range(axes):
                total += J[r, i, a] * moved[a]
            out[r, i] = total


@batch_kernel
def departure(change: Any, J: Any, basis: Any, x: Any) -> Any:
    """How far a change (blocks, joints) departs from what is linear in x."""
    values = np.empty(change.shape)
    joint_values(J, basis, x, values)
    return change - values


@kernel
def beyond(values: Any, limits: Any, r: int, i: int) -> float:
    """How far a value is beyond its limits, as a share of the scale."""
    above, below = values[r, i] - limits[1, r, i], values[r, i] + limits[0, r, i]
    share: float = (max(above, 0.0) + min(below, 0.0)) / limits[2, r, i]
    return share


@kernel
def add_limits(
    J: Any, basis: Any, values: Any, limits: Any, weight: float, M: Any, gradient: Any
) -> None:
    """Add what is beyond limits to the lower triangle of Newton's matrix and to the gradient."""
    blocks, joints, axes = J.shape
    n = basis.shape[1]
    push, bend = np.empty(joints), np.empty(joints)
    for r in range(blocks):
        none = True
        for i in range(joints):
            far = beyond(values, limits, r, i)
            push[i] = weight * far / limits[2, r, i]
            bend[i] = 0.0 if far == 0.0 else weight / limits[2, r, i] ** 2
            none = none and far == 0.0
        if none:
            continue
        for a in range(axes):
            total = 0.0
            for i in range(joints):
                total += J[r, i, a] * push[i]
            for j in range(n):
                gradient[a * n + j] += total * basis[r, j]
            for b in range(a + 1):
                total = 0.0
                for i in range(joints):
                    total += J[r, i, a] * J[r, i, b] * bend[i]
                for j in range(n):
                    f = total * basis[r, j]
                    if f != 0.0:
                        for k in range(n):
                            M[a * n + j, b * n + k] += f * basis[r, k]


@kernel
def slope(values: Any, change: Any, limits: Any, weight: float, length: float) -> float:
    """How the cost of what is beyond limits grows along a step, after a length of it."""
    total = 0.0
    for r in range(values.shape[0]):
        for i in range(values.shape[1]):
            at = values[r, i] + length * change[r, i]
            above, below = at - limits[1, r, i], at + limits[0, r, i]
            far = max(above, 0.0) + min(below, 0.0)
            if far != 0.0:
                total += far * change[r, i] / limits[2, r, i] ** 2
    return weight * total


@batch_kernel
def newton_step(H: Any, g: Any, J: Any, basis: Any, limits: Any, weight: float, x: Any) -> float:
    """Improve x (axes * n,) in place by Newton's step, as far as that is best.

    `limits` (3, blocks, joints): below, above, scale. Returns what the step promised.
    """
    size = len(x)
    values, change = np.empty(limits.shape[1:]), np.empty(limits.shape[1:])
    joint_values(J, basis, x, values)
    M, gradient = H.copy(), g.copy()
    for i in range(size):
        for j in range(size):
            gradient[i] += H[i, j] * x[j]
    first = gradient.copy()
    add_limits(J, basis, values, limits, weight, M, gradient)
    if not factor_definite(M, size, True):
        return 0.0
    step = -gradient
    solve_factored(M, size, step)
    joint_values(J, basis, step, change)
    start, bend, decrement = 0.0, 0.0, 0.0
    for i in range(size):
        row = 0.0
        for j in range(size):
            row += H[i, j] * step[j]
        bend += step[i] * row
        start += first[i] * step[i]
        decrement -= gradient[i] * step[i]
    # along the step the objective is convex: where its slope is zero
    low, high = 0.0, 1.0
    if start + bend + slope(values, change, limits, weight, 1.0) > 0.0:
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if start + middle * bend + slope(values, change, limits, weight, middle) > 0.0:
                high = middle
            else:
                low = middle
    x += 0.5 * (low + high) * step if low > 0.0 or high < 1.0 else step
    return decrement
