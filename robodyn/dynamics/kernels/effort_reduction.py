# SPDX-License-Identifier: Apache-2.0

"""Reduction of efforts to actuator limits, without changing the acceleration's direction."""

from __future__ import annotations

import math
from typing import Any

from robodyn.dynamics.kernels.end_stops import forward_substitute
from robodyn.numerics.array_arguments import stack
from robodyn.numerics.compiler import inner
from robodyn.numerics.linear import LEAST_PIVOT, factor_positive


@inner
def reduce_efforts(resting: Any, required: Any, limits: Any, M: Any, L: Any, out: Any) -> bool:
    """Reduce efforts to limits, keeping the direction of the acceleration they cause.

    Near singularities of type 2, where large efforts nearly cancel, efforts that are clipped one by
    one cause an acceleration in another direction, and by far a larger one. The results are the
    efforts for the largest fraction of the acceleration, at most 1, for which all efforts are
    within limits. If there is no such fraction, they are either the clipped efforts or the efforts
    without acceleration, scaled to the limits: those whose acceleration has the smaller error,
    measured by the mass matrix.

    Args:
        resting: (n,) efforts without acceleration.
        required: (n,) efforts with the acceleration.
        limits: (2 n,) least, then largest efforts; zero is within them.
        M: (nv, nv) mass matrix, of which the lower triangle counts; overwritten.
        L: (n, nv) Jacobian of the driven joints' rates.
        out: (n,) the reduced efforts.

    Returns:
        Whether all efforts are finite.
    """
    n, nv = L.shape
    finite, least, fraction, scale = True, 0.0, 1.0, 1.0
    for i in range(n):
        low, high, change = limits[i], limits[n + i], required[i] - resting[i]
        finite = finite and math.isfinite(required[i]) and math.isfinite(resting[i])
        if change != 0.0:
            to_low, to_high = (low - resting[i]) / change, (high - resting[i]) / change
            least = max(least, min(to_low, to_high))
            fraction = min(fraction, max(to_low, to_high))
        elif not low <= resting[i] <= high:
            fraction = -1.0
        if resting[i] > high:
            scale = min(scale, high / resting[i])
        elif resting[i] < low:
            scale = min(scale, low / resting[i])
    for i in range(n):
        effort = resting[i] + fraction * (required[i] - resting[i])
        out[i] = min(max(effort if least <= fraction else required[i], limits[i]), limits[n + i])
    if least <= fraction or not finite or not factor_positive(M, nv, LEAST_PIVOT, False):
        return finite
    error = stack(2, nv)
    for j in range(nv):
        error[0, j] = error[1, j] = 0.0
        for i in range(n):
            error[0, j] += L[i, j] * (out[i] - required[i])
            error[1, j] += L[i, j] * (scale * resting[i] - required[i])
    forward_substitute(M, nv, error[0])
    forward_substitute(M, nv, error[1])
    clipped = proportional = 0.0
    for j in range(nv):
        clipped += error[0, j] * error[0, j]
        proportional += error[1, j] * error[1, j]
    if proportional < clipped:
        for i in range(n):
            out[i] = min(max(scale * resting[i], limits[i]), limits[n + i])
    return finite
