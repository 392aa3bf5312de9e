# SPDX-License-Identifier: Apache-2.0

"""Drives that close their own position loop, as a machine's motion sees them."""

from __future__ import annotations

from collections import deque

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import as_scalar


class PositionDrives:
    """Each follows its command late, and with a lag of first order.

    Args:
        positions: (n,) [m or rad] where they are.
        dt: [s] between steps.
        bandwidth: [Hz] up to which they follow.
        delay: [s] until they heed a command.
    """

    def __init__(self, positions: FloatArray, dt: float, bandwidth: float, delay: float) -> None:
        self.positions, self.rates = positions.copy(), np.zeros_like(positions)
        self._dt = as_scalar("dt", dt, "s", above=0.0)
        rate = 2.0 * np.pi * as_scalar("bandwidth", bandwidth, "Hz", above=0.0)
        self._share = 1.0 - np.exp(-rate * self._dt)
        ticks = 1 + round(as_scalar("delay", delay, "s", at_least=0.0) / self._dt)
        self._commands = deque([positions.copy()], maxlen=ticks)

    def step(self, command: FloatArray) -> None:
        """Move for a step, under a command (n,)."""
        self._commands.append(command)
        move = self._share * (self._commands[0] - self.positions)
        self.positions, self.rates = self.positions + move, move / self._dt
