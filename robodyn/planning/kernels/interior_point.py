# SPDX-License-Identifier: Apache-2.0

"""An interior-point method for the shortest time along the intervals of a path.

Verscheure et al. (2009), "Time-optimal path tracking for robots: a convex optimization approach".
The objective, the sum of 2 h / (sqrt(y) + sqrt(z)), and every limit concern two neighbouring
nodes, so Newton's matrix is tridiagonal. Where a limit is concave, its curvature is left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.numerics.compiler import batch_kernel, kernel
from robodyn.planning.kernels.intervals import PLACES, parts_of

ARMIJO = 1e-4
BACKTRACK = 0.6
INSIDE = 0.95
# Newton's decrement, of the time, at which a barrier is low enough to be lowered.
DECREMENT = 1e-5
NEWTON = 12
LOWERED = 0.15
REPEATS = 40


@kernel
def merit(path: Any, x: Any, barrier: float) -> float:
    """Time plus barrier; infinite outside of the limits."""
    n = len(path.steps)
    total, logs = 0.0, 0.0
    for k in range(n):
        y, z = x[k], x[k + 1]
        if k > 0 and not y > 0.0:
            return np.inf
        total += 2.0 * path.steps[k] / (np.sqrt(y) + np.sqrt(z))
        product = 1.0
        for p in range(PLACES):
            bounded = not (p == 0 and k == 0) and not (p == 2 and k == n - 1)
            if bounded and path.bounds[k, p] < np.inf:
                slack = 1.0 - ((1.0 - 0.5 * p) * y + 0.5 * p * z) / path.bounds[k, p]
                if slack <= 0.0:
                    return np.inf
                product *= slack
            for r in range(path.terms.shape[2]):
                value, _, _, up, down, _, _ = parts_of(path, k, p, r, y, z)
                if up < np.inf:
                    if value >= up:
                        return np.inf
                    product *= (up - value) / (abs(path.upper[k, r]) + abs(path.terms[k, p, r, 3]))
                if down > -np.inf:
                    if value <= down:
                        return np.inf
                    product *= (value - down) / (
                        abs(path.lower[k, r]) + abs(path.terms[k, p, r, 3])
                    )
            logs += np.log(product)
            product = 1.0
    return total - barrier * logs


@kernel
def add_limit(
    slack: float,
    slope: float,
    bend: float,
    force: float,
    share: float,
    barrier: float,
    k: int,
    gradient: Any,
    diagonal: Any,
    beside: Any,
) -> None:
    """Add the barrier of one limit: `slope` of the excess by x, `force` by s'' / (z - y)."""
    first, second = slope * (1.0 - share) - force, slope * share + force
    q = barrier / slack
    gradient[k] += q * first
    gradient[k + 1] += q * second
    curved = max(bend, 0.0) * q
    q /= slack
    diagonal[k] += q * first * first + curved * (1.0 - share) ** 2
    diagonal[k + 1] += q * second * second + curved * share**2
    beside[k] += q * first * second + curved * share * (1.0 - share)


@kernel
def add_time(step: float, k: int, n: int, x: Any, gradient: Any, diagonal: Any, beside: Any) -> Any:
    """Add the time of an interval to the gradient and the matrix, and return it."""
    a, b = np.sqrt(x[k]), np.sqrt(x[k + 1])
    c = a + b
    if k > 0:
        gradient[k] -= step / (a * c * c)
        diagonal[k] += step * (0.5 / (a**3 * c * c) + 1.0 / (a * a * c**3))
    if k < n - 1:
        gradient[k + 1] -= step / (b * c * c)
        diagonal[k + 1] += step * (0.5 / (b**3 * c * c) + 1.0 / (b * b * c**3))
    if 0 < k < n - 1:
        beside[k] += step / (a * b * c**3)
    return 2.0 * step / c


@kernel
def newton_system(
    path: Any, x: Any, barrier: float, gradient: Any, diagonal: Any, beside: Any
) -> float:
    """Fill gradient and tridiagonal matrix at x; return the time."""
    n = len(path.steps)
    gradient[:] = 0.0
    diagonal[:] = 0.0
    beside[:] = 0.0
    time = 0.0
    for k in range(n):
        y, z = x[k], x[k + 1]
        time += add_time(path.steps[k], k, n, x, gradient, diagonal, beside)
        for p in range(PLACES):
            share = 0.5 * p
            bounded = not (p == 0 and k == 0) and not (p == 2 and k == n - 1)
            if bounded and path.bounds[k, p] < np.inf:
                slack = path.bounds[k, p] - ((1.0 - share) * y + share * z)
                add_limit(slack, 1.0, 0.0, 0.0, share, barrier, k, gradient, diagonal, beside)
            for r in range(path.terms.shape[2]):
                value, slope, bend, up, down, up_slope, down_slope = parts_of(path, k, p, r, y, z)
                force = path.terms[k, p, r, 0] * 0.5 / path.steps[k]
                for side in range(2):
                    sign = 1.0 - 2.0 * side
                    slack = up - value if side == 0 else value - down
                    if slack == np.inf:
                        continue
                    steep = slope - (up_slope if side == 0 else down_slope)
                    add_limit(
                        slack,
                        sign * steep,
                        sign * bend,
                        sign * force,
                        share,
                        barrier,
                        k,
                        gradient,
                        diagonal,
                        beside,
                    )
    return time


@kernel
def solved(gradient: Any, diagonal: Any, beside: Any, step: Any) -> float:
    """Newton's step of the inner nodes; returns the decrement. Overwrites the system."""
    n = len(gradient) - 1
    for k in range(2, n):
        m = beside[k - 1] / diagonal[k - 1]
        diagonal[k] -= m * beside[k - 1]
        gradient[k] -= m * gradient[k - 1]
    decrement = 0.0
    step[0] = step[n] = 0.0
    for k in range(n - 1, 0, -1):
        decrement += gradient[k] * gradient[k] / diagonal[k]
        following = beside[k] * step[k + 1] if k < n - 1 else 0.0
        step[k] = -(gradient[k] + following) / diagonal[k]
    return decrement


@batch_kernel
def shortened(path: Any, x: Any, barrier: float, rounds: int) -> None:
    """Improve x (N + 1,), strictly within all limits, towards the shortest time; ends stay.

    `barrier` [s] is the weight of the logarithms, lowered `rounds` times.
    """
    n = len(path.steps)
    gradient, diagonal, beside = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1)
    step, trial = np.zeros(n + 1), np.zeros(n + 1)
    for _ in range(rounds):
        for _ in range(NEWTON):
            time = newton_system(path, x, barrier, gradient, diagonal, beside)
            decrement = solved(gradient, diagonal, beside, step)
            if not decrement > 0.0:
                break
            size = 1.0
            for k in range(1, n):
                if step[k] < 0.0:
                    size = min(size, -INSIDE * x[k] / step[k])
            before = merit(path, x, barrier)
            better = False
            for _ in range(REPEATS):
                for k in range(n + 1):
                    trial[k] = x[k] + size * step[k]
                if merit(path, trial, barrier) <= before - ARMIJO * size * decrement:
                    better = True
                    break
                size *= BACKTRACK
            if not better:
                break
            x[:] = trial
            if decrement < DECREMENT * time:
                break
        barrier *= LOWERED
