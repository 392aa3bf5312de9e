# SPDX-License-Identifier: Apache-2.0

"""Control laws of the controllers in `robodyn.control`, for one state per call.

A law computes efforts from a state and a row of a plan (precomputed data of the motion).
"""

from __future__ import annotations

import math
from typing import Any

from robodyn.numerics.compiler import inner

GIVEN = 0  # the row is the efforts
GRAVITY = 1  # the efforts that hold the measured configuration; the row is empty
# The row is the desired configuration, velocity and acceleration, and then, if the controller
# compensates friction for the planned motion (`PlannedFriction`), efforts (n,) for it.
COMPUTED_TORQUE = 2


@inner
def corrected_acceleration(
    kp: Any, kv: Any, error: Any, velocity: Any, desired_velocity: Any, acceleration: Any, out: Any
) -> None:
    """Write the acceleration that computed torque commands to `out` (nv,).

    It is the planned acceleration plus feedback, qdd_d + Kv (qd_d - qd) + Kp error, with the
    planned velocity qd_d and acceleration qdd_d, the velocity qd, the gains Kv and Kp, and the
    error (nv,) of the configuration (Lee, Chung, Mudge and Turney, eq. 4.1).
    """
    for i in range(out.shape[0]):
        total = acceleration[i]
        for j in range(out.shape[0]):
            total += kv[i, j] * (desired_velocity[j] - velocity[j]) + kp[i, j] * error[j]
        out[i] = total


@inner
def add_planned(kp: Any, row: Any, start: int, error: Any, out: Any) -> None:
    """Add the planned friction compensation, if any, to the efforts `out` (n,).

    Args:
        kp: (nv, nv) gains. It may have n further rows (n, nv), efforts per unit of displacement:
            they compensate strong viscous friction at the rate with which feedback leads back to
            the plan.
        row: row of the plan; the friction efforts (n,) begin at `start`.
        start: index of these efforts in the row.
        error: (nv,) displacement to the planned configuration.
        out: (n,) efforts.
    """
    n = out.shape[0]
    if row.shape[0] < start + n:
        return
    for j in range(n):
        out[j] += row[start + j]
    nv = kp.shape[1]
    if kp.shape[0] == nv + n:
        for j in range(n):
            for k in range(nv):
                out[j] += kp[nv + j, k] * error[k]


@inner
def clip_efforts(required: Any, limits: Any, out: Any) -> bool:
    """Clip efforts (n,) to limits and return whether all are finite.

    Args:
        required: (n,) efforts.
        limits: (2 n,) the least efforts, then the largest.
        out: (n,) the clipped efforts.
    """
    finite, n = True, out.shape[0]
    for i in range(n):
        finite = finite and math.isfinite(required[i])
        out[i] = min(max(required[i], limits[i]), limits[n + i])
    return finite
