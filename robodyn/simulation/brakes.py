# SPDX-License-Identifier: Apache-2.0

"""The brakes of a simulated mechanism: drives that get no commands hold it, as real ones do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robodyn.checks import as_scalar


class Brakes:
    """Closed until an effort is commanded, and again when commands stop.

    Efforts of zero do not open closed brakes: a controller that has released the mechanism, or has
    not started, sends them.

    Args:
        timeout: [s] without a command after which they close; 0 for never, then the last command
            acts on.
        closed: whether they are closed at first.

    Attributes:
        closed: whether they hold the mechanism.

    Raises:
        InvalidInput: a timeout that is negative or not finite.
    """

    def __init__(self, timeout: float, closed: bool = True) -> None:
        self._timeout = round(as_scalar("timeout", timeout, "s", at_least=0.0) * 1e9)
        self._closed_at_first = closed
        self.reset()

    def reset(self) -> None:
        """Return to the initial state, at time zero."""
        self.closed = self._closed_at_first
        self._last = 0

    def command(self, time: int, effort: NDArray[np.float64]) -> None:
        """A command of efforts (n,) came at `time` [ns] of the simulation."""
        self._last = time
        self.closed = self.closed and not effort.any()

    def close_if_silent(self, time: int) -> bool:
        """Whether they close at `time` [ns] because no command has come for too long."""
        silent = bool(self._timeout) and time - self._last > self._timeout
        closing = silent and not self.closed
        self.closed = self.closed or closing
        return closing
