# SPDX-License-Identifier: Apache-2.0

"""Newton steps of a quadratic program with soft limits.

The cost of exceeding a limit is the square of the excess. Hence any x is a valid start, a few steps
from the previous plan suffice, and an excess decreases. The objective is piecewise quadratic: a
step is exact if the same limits are exceeded before and after it.

The unknowns are coefficients x (n,). The objective is x' H x / 2 + g' x plus, for each value r of
A' x, `weight` / 2 times the squared excess beyond -below[r] or above[r], divided by scale[r]. A (n,
rows) has a row for each coefficient and a column for each limited value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.numerics.compiler import batch_kernel, kernel
from robodyn.numerics.linear import factor_definite, solve_factored

# Bisections of the step length in the search for the best.
HALVINGS = 12


@batch_kernel
def gram(A: Any, out: Any) -> None:
    """Add the product A' A of a matrix A (K, n) with itself to `out` (n, n).

    A routine of a BLAS library would take longer, because it starts threads.
    """
    n = A.shape[1]
    for r in range(A.shape[0]):
        for i in range(n):
            f = A[r, i]
            if f != 0.0:
                for j in range(n):
                    out[i, j] += f * A[r, j]


@kernel
def limited_values(A: Any, x: Any, out: Any) -> None:
    """Compute the limited values A' x of the unknowns x.

    `A` (n, rows) and `x` (n,) are inputs, `out` (rows,) is the output.
    """
    out[:] = 0.0
    for j in range(len(x)):
        f = x[j]
        if f != 0.0:
            for r in range(len(out)):
                out[r] += A[j, r] * f


@kernel
def add_limits(A: Any, values: Any, limits: Any, weight: float, M: Any, gradient: Any) -> None:
    """Add the terms of exceeded limits to Newton's matrix and the gradient.

    Args:
        A: (n, rows) matrix that maps the unknowns to the limited values.
        values: (rows,) limited values A' x.
        limits: (3, rows) `below`, `above` and `scale` of these values, see `newton_step`.
        weight: factor of the cost of exceeded limits.
        M: (n, n) Newton's matrix; its lower triangle is changed in place.
        gradient: (n,) gradient of the objective, changed in place.
    """
    n = len(gradient)
    row = np.empty(n)
    for r in range(len(values)):
        above, below = values[r] - limits[1, r], values[r] + limits[0, r]
        far = max(above, 0.0) + min(below, 0.0)
        if far == 0.0:
            continue
        bend = weight / limits[2, r] ** 2
        for i in range(n):
            row[i] = A[i, r]
        for i in range(n):
            f = bend * row[i]
            if f != 0.0:
                gradient[i] += f * far
                for j in range(i + 1):
                    M[i, j] += f * row[j]


@kernel
def slope(values: Any, change: Any, limits: Any, weight: float, length: float) -> float:
    """Compute the derivative of the cost of exceeded limits along a step.

    Args:
        values: (rows,) limited values before the step.
        change: (rows,) change of these values in the full step.
        limits: (3, rows) `below`, `above` and `scale` of these values, see `newton_step`.
        weight: factor of the cost of exceeded limits.
        length: fraction of the full step at which the derivative is computed.

    Returns:
        Derivative of the cost w.r.t. `length`.
    """
    total = 0.0
    for r in range(len(values)):
        at = values[r] + length * change[r]
        above, below = at - limits[1, r], at + limits[0, r]
        far = max(above, 0.0) + min(below, 0.0)
        if far != 0.0:
            total += far * change[r] / limits[2, r] ** 2
    return weight * total


@batch_kernel
def newton_step(H: Any, g: Any, A: Any, limits: Any, weight: float, x: Any) -> float:
    """Improve the coefficients `x` (n,) in place by a Newton step of the best length.

    The objective is x' H x / 2 + g' x plus the cost of values A' x beyond their limits. `limits`
    (3, rows) contains `below`, `above` and `scale`: values between -below and above cost nothing;
    beyond them, the excess is divided by scale, and its square costs `weight` / 2.

    Returns:
        Squared Newton decrement: twice the predicted decrease by the quadratic model; 0 if Newton's
        matrix is not positive definite, so that `x` remains unchanged.
    """
    size = len(x)
    values, change = np.empty(A.shape[1]), np.empty(A.shape[1])
    limited_values(A, x, values)
    M, gradient = H.copy(), g.copy()
    for i in range(size):
        for j in range(size):
            gradient[i] += H[i, j] * x[j]
    first = gradient.copy()
    add_limits(A, values, limits, weight, M, gradient)
    if not factor_definite(M, size, True):
        return 0.0
    step = -gradient
    solve_factored(M, size, step)
    limited_values(A, step, change)
    start, bend, decrement = 0.0, 0.0, 0.0
    for i in range(size):
        row = 0.0
        for j in range(size):
            row += H[i, j] * step[j]
        bend += step[i] * row
        start += first[i] * step[i]
        decrement -= gradient[i] * step[i]
    # the objective is convex along the step: find the zero of its slope
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
