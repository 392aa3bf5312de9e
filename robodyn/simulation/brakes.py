# SPDX-License-Identifier: Apache-2.0

"""Brakes of a simulated mechanism, which hold it while its drives receive no commands."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robodyn.checks import as_scalar


class Brakes:
    """Brakes that are closed until an effort is commanded, and close when commands stop.

    Efforts of zero do not open closed brakes, because a controller also sends zeros before it
    starts and after it has released the mechanism.

    Args:
        timeout: time [s] without a command after which the brakes close; with 0 the brakes never
            close, and the last command remains in effect.
        closed: whether the brakes are closed initially.

    Attributes:
        closed: whether the brakes hold the mechanism.

    Raises:
        InvalidInput: the timeout is negative or not finite.
    """

    def __init__(self, timeout: float, closed: bool = True) -> None:
        self._timeout = round(as_scalar("timeout", timeout, "s", at_least=0.0) * 1e9)
        self._closed_at_first = closed
        self.reset()

    def reset(self) -> None:
        """Return the brakes to their initial state, at time zero."""
        self.closed = self._closed_at_first
        self._last = 0

    def command(self, time: int, effort: NDArray[np.float64]) -> None:
        """Record commanded efforts (n,) at `time` [ns] of the simulation.

        An effort that is not zero opens the brakes.
        """
        self._last = time
        self.closed = self.closed and not effort.any()

    def close_if_silent(self, time: int) -> bool:
        """Close the brakes if no command came for `timeout`; return whether they closed.

        `time` [ns] is the current time of the simulation.
        """
        silent = bool(self._timeout) and time - self._last > self._timeout
        closing = silent and not self.closed
        self.closed = self.closed or closing
        return closing
