"""Stepping a Stewart platform through time with its forces held."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import SimulationFailed
from robodyn.kernels.stewart_integration import DIVERGED, hold
from robodyn.stewart.status import error_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]


def integrate(
    legs: FloatArray,
    platform: FloatArray,
    limits: FloatArray,
    stops: tuple[float, float],
    state: tuple[FloatArray, FloatArray],
    forces: FloatArray,
    wrench: FloatArray,
    dt: float,
    steps: int,
) -> tuple[FloatArray, FloatArray]:
    """Pose and twist after `steps` of dt; arguments as in `kernels.stewart_integration.hold`.

    Raises:
        SimulationFailed: its `value` is the last good state (pose, twist), its `time` how far
            it got [s].
    """
    pose, twist = np.array(state[0]), np.array(state[1])
    status, done = hold(
        legs, platform, limits, np.array(stops), pose, twist, forces, wrench, dt, steps
    )
    if status:
        reason = (
            "the state grew beyond all bounds"
            if status == DIVERGED
            else str(error_for(status, (), pose, legs))
        )
        raise SimulationFailed(
            f"no state follows after {done} of {steps} steps of {dt:g} s: {reason}",
            time=done * dt,
            value=(pose, twist),
        )
    return pose, twist
