"""Stepping an arm through time with its efforts held."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import SimulationFailed
from robodyn.kernels.serial_integration import DIVERGED, hold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]


def integrate(
    chain: FloatArray,
    gravity: FloatArray,
    limits: FloatArray,
    stops: tuple[float, float],
    state: tuple[FloatArray, FloatArray],
    effort: FloatArray,
    wrench: FloatArray,
    dt: float,
    steps: int,
) -> tuple[FloatArray, FloatArray]:
    """Q and qd after `steps` of dt; arguments as in `kernels.serial_integration.hold`.

    Raises:
        SimulationFailed: its `value` is the last good state (q, qd), its `time` how far it got [s].
    """
    q, qd = np.array(state[0], dtype=np.float64), np.array(state[1], dtype=np.float64)
    status, done = hold(chain, gravity, limits, np.array(stops), q, qd, effort, wrench, dt, steps)
    if status:
        reason = (
            "the state grew beyond all bounds"
            if status == DIVERGED
            else "a joint has no inertia to accelerate; give its link mass or its motor an armature"
        )
        raise SimulationFailed(
            f"no state follows after {done} of {steps} steps of {dt:g} s: {reason}",
            time=done * dt,
            value=(q, qd),
        )
    return q, qd
