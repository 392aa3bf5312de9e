# SPDX-License-Identifier: Apache-2.0

"""Synchronization of simulated time with the wall clock."""

from __future__ import annotations

from robodyn.checks import as_scalar


class Pacer:
    """Schedule that keeps periods of simulated time in step with the wall clock.

    After a pause of the process it catches up with a few periods and skips the rest: to catch up
    with all of them would keep one command constant over many periods.

    Args:
        period: simulated time [s] of a period.
        factor: simulated seconds per second of wall-clock time.
        slack: largest number of periods to catch up with.

    Attributes:
        lost: skipped simulated time [s].

    Raises:
        InvalidInput: the period or the factor is not positive.
    """

    def __init__(self, period: float, factor: float = 1.0, slack: int = 4) -> None:
        self.period = as_scalar("period", period, "s", above=0.0)
        self.factor = as_scalar("factor", factor, above=0.0)
        self.slack = slack
        self.lost = 0.0
        self._due = 0.0
        self._last: float | None = None

    def due(self, now: float, *, running: bool = True) -> bool:
        """Return whether the next period is due at `now` [s] of a steady clock.

        A due period is counted as simulated, so call the method once for each period. While
        `running` is False, no period is due and time does not count.
        """
        elapsed = 0.0 if self._last is None else max(now - self._last, 0.0)
        self._last = now
        if not running:
            self._due = 0.0
            return False
        self._due += elapsed * self.factor
        excess = self._due - (self.slack + 1) * self.period
        if excess > 0.0:
            self.lost += excess
            self._due -= excess
        if self._due < self.period:
            return False
        self._due -= self.period
        return True

    @property
    def lag(self) -> float:
        """Delay [s] of the last counted period behind the wall clock."""
        return self._due / self.factor
