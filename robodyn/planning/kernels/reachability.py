# SPDX-License-Identifier: Apache-2.0

"""Reachability along a path: the range of speeds at each node from which the end can be reached.

Pham and Pham (2018), "A new approach to time-optimal path parameterization based on reachability
analysis", with limits on intervals instead of points (see `intervals`). Quantities that are
nonlinear in x are linearized at the solution iteratively (Newton's method).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.numerics.compiler import batch_kernel, kernel
from robodyn.planning.kernels.intervals import can_rest, linear_rows

# Relative tolerances for rounding, and for rows that contradict each other.
COMPARISON_TOLERANCE = 1e-11
INCONSISTENT = 1e-9
# Relative tolerance of x in the forward pass beyond the range of the backward pass.
OUTSIDE = 1e-6
REPEATS = 40
CONVERGED = 1e-12
# Smallest factor between successive points of linearization.
SMALLER = 1e-3


@kernel
def maximize_first(
    rows: Any, count: int, low_y: float, high_y: float, low_z: float, high_z: float
) -> tuple[bool, float, float]:
    """Maximize y over points (y, z) within bounds and linear inequalities.

    y is between `low_y` and `high_y`, z between `low_z` and `high_z`. The inequalities are the
    first `count` rows (r0, r1, r2) of `rows`, with r0 y + r1 z <= r2. They are added one at a time
    (Seidel, 1991); if the optimum violates a new inequality, it moves onto the line on which this
    inequality is an equality.

    Returns whether a point satisfies all inequalities, and y and z of the optimum.
    """
    y, z = high_y, high_z
    for i in range(count):
        a, b, c = rows[i, 0], rows[i, 1], rows[i, 2]
        if a * y + b * z <= c + COMPARISON_TOLERANCE * (abs(a * y) + abs(b * z)):
            continue
        at_y, at_z = c * a, c * b
        along_y, along_z = -b, a
        if along_y < 0.0:
            along_y, along_z = -along_y, -along_z
        least, most = -np.inf, np.inf
        for j in range(i + 4):
            if j < i:
                u, v, w = rows[j, 0], rows[j, 1], rows[j, 2]
            elif j == i:
                u, v, w = 1.0, 0.0, high_y
            elif j == i + 1:
                u, v, w = -1.0, 0.0, -low_y
            elif j == i + 2:
                u, v, w = 0.0, 1.0, high_z
            else:
                u, v, w = 0.0, -1.0, -low_z
            slope = u * along_y + v * along_z
            left = w - u * at_y - v * at_z
            if abs(slope) < 1e-14:
                if left < -INCONSISTENT * (abs(w) + abs(u * at_y) + abs(v * at_z)):
                    return False, 0.0, 0.0
            elif slope > 0.0:
                most = min(most, left / slope)
            else:
                least = max(least, left / slope)
        if least > most:
            if least - most > INCONSISTENT * max(abs(least), abs(most), abs(at_y), abs(at_z)):
                return False, 0.0, 0.0
            most = least
        y = at_y + most * along_y
        z = at_z + most * along_z
    return True, y, z


@kernel
def maximal_start(path: Any, k: int, low: float, high: float, rows: Any) -> Any:
    """Compute the largest squared path speed at the start of an interval.

    `path` contains the `Intervals` and `k` is the index of the interval, at whose end the squared
    path speed z is between `low` and `high`. The limits linearized at the result are written to
    `rows` (see `linear_rows`).

    Returns whether a motion through the interval exists within the limits, the largest squared
    path speed y at its start, the z of that motion, and the number of inequalities in `rows`.
    """
    y, z = high, high
    if high == 0.0:
        y = z = 1.0 if not path.curved else 0.0
    last, shrunk = -1.0, 0
    found, best_y, best_z, count = False, 0.0, 0.0, 0
    for _ in range(REPEATS if path.curved else 1):
        count = linear_rows(path, k, y, z, rows)
        if count < 0:
            return False, 0.0, 0.0, 0
        found, best_y, best_z = maximize_first(rows, count, 0.0, path.caps[k], low, high)
        if not found:
            # friction linearized at too high a speed seems to hold the mechanism at rest
            shrunk += 1
            if shrunk > 30:
                break
            y, z = 0.25 * y, max(0.25 * z, low)
            continue
        if abs(best_y - last) <= CONVERGED * best_y:
            break
        last = best_y
        y, z = max(best_y, SMALLER * y), best_z
    return found, best_y, best_z, count


@kernel
def minimal_start(
    path: Any, k: int, low: float, high: float, y: float, z: float, rows: Any, count: int
) -> float:
    """Compute the smallest squared path speed at the start of an interval.

    `path` contains the `Intervals` and `k` is the index of the interval, at whose end the squared
    path speed is between `low` and `high`. `y`, `z`, and the first `count` rows of `rows` are the
    results of `maximal_start` for the same interval; `rows` is overwritten.

    Returns the smallest squared path speed; `y` if the search fails.
    """
    top = y
    if low == 0.0 and can_rest(path, k):
        return 0.0
    for _ in range(REPEATS if path.curved else 1):
        if path.curved:
            count = linear_rows(path, k, y, z, rows)
        for i in range(count):
            rows[i, 0] = -rows[i, 0]
        found, minus, end = maximize_first(rows, max(count, 0), -path.caps[k], 0.0, low, high)
        if not found:
            return top
        done = abs(minus + y) <= CONVERGED * top
        y, z = -minus, end
        if done:
            break
    return min(max(y, 0.0), top)


@batch_kernel
def controllable(path: Any, low: Any, high: Any, stale: Any) -> int:
    """Compute the squared path speeds at each node from which the end can be reached.

    `path` contains the `Intervals`. The smallest and the largest of these speeds at each node
    are written to `low` and `high` (N + 1,); the caller sets their last elements, for the end of
    the path. Only intervals marked in `stale` (N,) are evaluated; if the range at the start of an
    interval changes, the preceding interval is marked, too.

    Returns the index of an interval that cannot be passed within the limits, or -1 if there is
    none.
    """
    rows = np.empty((6 * path.terms.shape[2] + 1, 3))
    for k in range(len(path.steps) - 1, -1, -1):
        if not stale[k]:
            continue
        found, y, z, count = maximal_start(path, k, low[k + 1], high[k + 1], rows)
        if not found:
            return k
        least = minimal_start(path, k, low[k + 1], high[k + 1], y, z, rows, count)
        if k > 0 and (y != high[k] or least != low[k]):
            stale[k - 1] = True
        low[k], high[k] = least, y
    return -1


@batch_kernel
def fastest(path: Any, low: Any, high: Any, x: Any, stale: Any) -> int:
    """Compute the squared path speeds of the fastest motion at the nodes of a path.

    `path` contains the `Intervals`, and `low` and `high` (N + 1,) are the results of
    `controllable`, between which the speeds lie. The squared path speeds are written to `x`
    (N + 1,); the caller sets its first element, for the start of the path. Only intervals that are
    marked in `stale` (N,), or whose x at the start changed, are evaluated.

    Returns the index of an interval that cannot be passed within the limits, or -1 if there is
    none.
    """
    rows = np.empty((6 * path.terms.shape[2] + 1, 3))
    moved = False
    for k in range(len(path.steps)):
        if not (moved or stale[k]):
            continue
        y, z = x[k], high[k + 1]
        least, most = low[k + 1], z
        for _ in range(REPEATS if path.curved else 1):
            count = linear_rows(path, k, y, z, rows)
            least, most = low[k + 1], high[k + 1]
            for i in range(count):
                b, left = rows[i, 1], rows[i, 2] - rows[i, 0] * y
                if b > 1e-14:
                    most = min(most, left / b)
                elif b < -1e-14:
                    least = max(least, left / b)
            if abs(most - z) <= CONVERGED * max(z, 1e-30):
                break
            z = max(most, SMALLER * z)
        if least - most > OUTSIDE * max(high[k + 1], y):
            return k
        reached = min(max(most, least, 0.0), high[k + 1])
        moved = reached != x[k + 1]
        x[k + 1] = reached
    return -1
