# SPDX-License-Identifier: Apache-2.0

"""One step of the classical Runge-Kutta method over a mechanism's state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import KinematicsError, SimulationFailed
from robodyn.numerics.runge_kutta import BEYOND

if TYPE_CHECKING:
    from collections.abc import Callable

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.mechanism import Mechanism

    State = tuple[FloatArray, FloatArray]


def runge_kutta_4(
    mechanism: Mechanism,
    acceleration: Callable[[float, FloatArray, FloatArray], FloatArray],
    times: tuple[float, float],
    state: State,
) -> State:
    """Configuration and velocity at times[1], from those at times[0], in one step of order 4.

    Raises:
        SimulationFailed: an acceleration that is not finite or does not exist.
    """
    start, end = times
    h = end - start
    # at a switching time the acceleration jumps: both ends must see this step's side
    inside = np.nextafter(start, end), np.nextafter(end, start)
    q0, v0 = state
    rates: list[State] = []
    for t, fraction in ((inside[0], 0.0), (start + 0.5 * h, 0.5), (start + 0.5 * h, 0.5),
                        (inside[1], 1.0)):  # fmt: skip
        q, v = q0, v0
        if rates:
            q = mechanism.normalized(q0 + fraction * h * rates[-1][0])
            v = v0 + fraction * h * rates[-1][1]
        if _is_beyond(q, v):
            raise SimulationFailed("the state grew beyond all bounds", time=0.0, value=state)
        try:
            rates.append((mechanism.configuration_rate(q, v), acceleration(t, q, v)))
        except KinematicsError as error:
            raise SimulationFailed(str(error), time=0.0, value=state) from error
    dq, dv = (h / 6.0 * (a + 2.0 * (b + c) + d) for a, b, c, d in zip(*rates, strict=True))
    q, v = q0 + dq, v0 + dv
    if _is_beyond(q, v):
        raise SimulationFailed("the state grew beyond all bounds", time=0.0, value=state)
    return mechanism.normalized(q), v


def _is_beyond(q: FloatArray, v: FloatArray) -> bool:
    # written so that NaN, too, is beyond
    return not (np.abs(q).max() < BEYOND and np.abs(v).max() < BEYOND)
