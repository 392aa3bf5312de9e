# SPDX-License-Identifier: Apache-2.0

"""When an actuator saturates and when a joint reaches its end stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.simulation.result import Event

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.mechanism import Mechanism


def find_events(
    mechanism: Mechanism,
    time: FloatArray,
    configuration: FloatArray,
    wanted: FloatArray,
    applied: FloatArray,
) -> list[Event]:
    """The beginnings of both, in order of time.

    Args:
        mechanism: what moved.
        time, configuration: (N,) [s] and (N, ...).
        wanted, applied: (N - 1, n) efforts from each time on, before and after limits.
    """
    position = mechanism.joint_positions(configuration)
    limits = mechanism.position_limits
    outside = (position < limits[:, 0]) | (position > limits[:, 1])
    found = [
        (row, order, joint, kind, values[row, joint])
        for order, (kind, states, values) in enumerate(
            (("end_stop", outside, position), ("saturation", wanted != applied, wanted))
        )
        for row, joint in np.argwhere(_beginnings(states))
    ]
    return [
        Event(float(time[row]), kind, mechanism.joint_names[joint], float(value))
        for row, _, joint, kind, value in sorted(found, key=lambda event: event[:3])
    ]


def _beginnings(states: NDArray[np.bool_]) -> NDArray[np.bool_]:
    before = np.concatenate([np.zeros_like(states[:1]), states[:-1]])
    begins: NDArray[np.bool_] = states & ~before
    return begins
