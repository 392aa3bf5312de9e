# SPDX-License-Identifier: Apache-2.0

"""Simulated drives with their own position loop."""

from __future__ import annotations

from collections import deque

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import as_scalar


class PositionDrives:
    """Simulated position-controlled drives, with a delay and a first-order lag.

    Args:
        positions: (n,) [m or rad] initial positions.
        dt: time [s] between steps.
        bandwidth: [Hz] cutoff frequency of the lag.
        delay: time [s] from a command to its effect.

    Attributes:
        positions, rates: (n,) [m or rad] current positions, and [m/s or rad/s] velocities.
    """

    def __init__(self, positions: FloatArray, dt: float, bandwidth: float, delay: float) -> None:
        self.positions, self.rates = positions.copy(), np.zeros_like(positions)
        self._dt = as_scalar("dt", dt, "s", above=0.0)
        rate = 2.0 * np.pi * as_scalar("bandwidth", bandwidth, "Hz", above=0.0)
        self._step_fraction = 1.0 - np.exp(-rate * self._dt)
        ticks = 1 + round(as_scalar("delay", delay, "s", at_least=0.0) / self._dt)
        self._commands = deque([positions.copy()], maxlen=ticks)

    def step(self, command: FloatArray) -> None:
        """Advance the positions by one step towards the commands (n,) [m or rad]."""
        self._commands.append(command)
        move = self._step_fraction * (self._commands[0] - self.positions)
        self.positions, self.rates = self.positions + move, move / self._dt
