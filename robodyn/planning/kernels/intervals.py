# SPDX-License-Identifier: Apache-2.0

"""Limited quantities in the intervals of a path, and their linearization.

The path acceleration s'' is constant in an interval, so x = s'^2 is linear; limits are imposed at
both ends and in the middle. The unknowns are y, the value of x at the start, and z, its value at
the end. Every limited quantity is

    A s'' + B x + C v + D + S / (1 + G x),   v = sqrt(x),

where C is viscous friction and S the part of dry friction that falls with the rate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from robodyn.numerics.compiler import kernel

# Points in an interval at which limits are imposed.
PLACES = 3


class Intervals(NamedTuple):
    """Limits of R quantities, such as joint efforts, in N intervals of a path.

    Attributes:
        steps: (N,) lengths of the intervals in the path parameter s.
        terms: (N, 3, R, 7) coefficients A, B, C, D, S, G of each quantity A s'' + B x + C v + D + S
            / (1 + G x), with v = s' and x = s'^2, and the rate |dq/ds| of its joint; at the start,
            middle and end of each interval.
        upper, lower: (N, R) limits; infinite for no limit.
        bounds: (N, 3) upper bounds of x at these three points.
        caps: (N + 1,) upper bounds of x at the nodes, finite.
        speeds, efforts: (R, P) torque-speed curves over the joint's rate.
        counts: (R,) numbers of points of these curves; 0 for no curve.
        curved: whether a quantity or a limit is nonlinear in x.
    """

    steps: Any
    terms: Any
    upper: Any
    lower: Any
    bounds: Any
    caps: Any
    speeds: Any
    efforts: Any
    counts: Any
    curved: bool


@kernel
def limit_at(speeds: Any, efforts: Any, count: int, rate: float) -> tuple[float, float]:
    """Return the effort limit of a torque-speed curve at a joint rate, and its slope.

    `speeds` and `efforts` are the points of the curve, of which the first `count` are used. The
    slope is the derivative with respect to the rate.
    """
    if rate <= speeds[0]:
        return efforts[0], 0.0
    for j in range(1, count):
        if rate < speeds[j]:
            slope = (efforts[j] - efforts[j - 1]) / (speeds[j] - speeds[j - 1])
            return efforts[j - 1] + slope * (rate - speeds[j - 1]), slope
    return efforts[count - 1], 0.0


@kernel
def limits_at(path: Any, k: int, r: int, rate: float, v: float) -> Any:
    """Compute a quantity's upper and lower limit and their derivatives w.r.t. v^2.

    `path` contains the `Intervals`, `k` and `r` are the indices of the interval and of the limited
    quantity, `rate` is |dq/ds| of its joint, and v is the path speed s'. If the joint has a
    torque-speed curve, it narrows the limits at this speed.

    Returns the upper limit, the lower limit, and their derivatives with respect to v^2.
    """
    up, down, up_slope, down_slope = path.upper[k, r], path.lower[k, r], 0.0, 0.0
    if path.counts[r] > 0 and v > 0.0:
        at, slope = limit_at(path.speeds[r], path.efforts[r], path.counts[r], rate * v)
        slope *= 0.5 * rate / v
        if at < up:
            up, up_slope = at, slope
        if -at > down:
            down, down_slope = -at, -slope
    return up, down, up_slope, down_slope


@kernel
def can_rest(path: Any, k: int) -> bool:
    """Return whether a motion can pass an interval of the path arbitrarily slowly.

    It can if every limited quantity at rest (D + S) is within its limits at the start, middle and
    end of the interval. `path` contains the `Intervals`; `k` is the index of the interval.
    """
    for p in range(PLACES):
        for r in range(path.terms.shape[2]):
            effort = path.terms[k, p, r, 3] + path.terms[k, p, r, 4]
            if effort > path.upper[k, r] or effort < path.lower[k, r]:
                return False
    return True


@kernel
def linear_rows(path: Any, k: int, y: float, z: float, rows: Any) -> int:
    """Linearize the limits of an interval as inequalities r0 y + r1 z <= r2.

    `path` contains the `Intervals` and `k` is the index of the interval. y and z are the squared
    path speeds at its start and end; the limits are linearized at the values passed as arguments.
    Each inequality is written to `rows` (m, 3) as r0, r1, r2, where (r0, r1) has unit length.

    Returns the number m of inequalities, or -1 if no speed satisfies one of the limits.
    """
    m = 0
    half = 0.5 / path.steps[k]
    for p in range(PLACES):
        fraction = 0.5 * p
        x = (1.0 - fraction) * y + fraction * z
        v = np.sqrt(max(x, 0.0))
        for r in range(path.terms.shape[2]):
            A, B, C, D, S, G, rate = path.terms[k, p, r]
            up, down, up_slope, down_slope = limits_at(path, k, r, rate, v)
            value, slope = S, 0.0
            if path.curved and v > 0.0:
                left = 1.0 / (1.0 + G * x)
                value = C * v + S * left
                slope = 0.5 * C / v - S * G * left * left
            rest = D + value - slope * x
            a = A * half
            first, second, size = 0.0, 0.0, 0.0
            for side in range(2):
                if side == 0:
                    b, c = B + slope - up_slope, up - up_slope * x - rest
                else:
                    b, c = B + slope - down_slope, rest - down + down_slope * x
                if c == np.inf:
                    continue
                if size == 0.0 or up_slope != down_slope:
                    first = b * (1.0 - fraction) - a
                    second = b * fraction + a
                    size = np.sqrt(first * first + second * second)
                    if size < 1e-300:
                        size = 0.0
                        if c < 0.0:
                            return -1
                        continue
                    size = 1.0 / size
                    first *= size
                    second *= size
                sign = 1.0 - 2.0 * side
                rows[m, 0], rows[m, 1], rows[m, 2] = sign * first, sign * second, c * size
                m += 1
    if path.bounds[k, 1] < np.inf:
        root = np.sqrt(0.5)
        rows[m, 0], rows[m, 1], rows[m, 2] = root, root, path.bounds[k, 1] / root
        m += 1
    return m
