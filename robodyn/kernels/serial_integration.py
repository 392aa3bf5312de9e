"""Runge-Kutta of order 4 over an arm's state, efforts held, many steps a call.

Turney, Mudge and Lee (1980), section 7, with the articulated-body algorithm inside.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.kernels.compiler import kernel
from robodyn.kernels.end_stops import end_stop_effort
from robodyn.kernels.serial_articulated import forward_dynamics
from robodyn.kernels.serial_layout import BODY_SIZE, FRAME_SIZE
from robodyn.kernels.serial_spatial import place

OK = 0
NO_INERTIA = 1
DIVERGED = 2
# [rad, m and their rates]: no arm is here, and the arithmetic is still well within its range.
BEYOND = 1e6


@kernel
def hold(
    chain: Any,
    gravity: Any,
    limits: Any,
    stops: Any,
    q: Any,
    qd: Any,
    tau: Any,
    wrench: Any,
    dt: float,
    steps: int,
) -> tuple[int, int]:
    """Advance q and qd (n,) in place by `steps` of `dt`, efforts and wrench held.

    `limits` (n, 2) end the joints' travel, `stops` is (stiffness, damping) of what they meet.
    Returns a status and the number of whole steps taken; after a failure the state is that of the
    last whole step.
    """
    n = q.shape[0]
    frames, bodies = np.empty((n + 1, FRAME_SIZE)), np.empty((n, BODY_SIZE))
    rates, accelerations = np.empty((4, n)), np.empty((4, n))
    position, rate, effort = np.empty(n), np.empty(n), np.empty(n)
    for step in range(steps):
        for stage in range(4):
            h = 0.0 if stage == 0 else (dt if stage == 3 else 0.5 * dt)
            before = max(stage - 1, 0)
            for i in range(n):
                position[i] = q[i] if stage == 0 else q[i] + h * rates[before, i]
                rate[i] = qd[i] if stage == 0 else qd[i] + h * accelerations[before, i]
                rates[stage, i] = rate[i]
                effort[i] = tau[i] + end_stop_effort(
                    position[i], rate[i], limits[i, 0], limits[i, 1], stops[0], stops[1]
                )
            place(chain, position, frames)
            if not forward_dynamics(
                chain, frames, gravity, rate, effort, wrench, bodies, accelerations[stage]
            ):
                return NO_INERTIA, step
        for i in range(n):
            position[i] = q[i] + dt / 6.0 * (
                rates[0, i] + 2.0 * (rates[1, i] + rates[2, i]) + rates[3, i]
            )
            rate[i] = qd[i] + dt / 6.0 * (
                accelerations[0, i]
                + 2.0 * (accelerations[1, i] + accelerations[2, i])
                + accelerations[3, i]
            )
            # written so that NaN, too, is beyond
            if not (abs(position[i]) < BEYOND and abs(rate[i]) < BEYOND):
                return DIVERGED, step
        q[:] = position
        qd[:] = rate
    return OK, steps
