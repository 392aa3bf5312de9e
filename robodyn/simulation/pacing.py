# SPDX-License-Identifier: Apache-2.0

"""Keep simulated time in step with the wall clock."""

from __future__ import annotations

from robodyn.checks import as_scalar


class Pacer:
    """Says when the next period of simulated time is due.

    After a pause of its process it catches up a few periods only and skips the rest: catching up
    on all of them at once would hold one command over many periods.

    Args:
        period: [s] simulated.
        factor: simulated seconds per second.
        slack: how many periods may be made up for.

    Attributes:
        lost: [s] simulated time given up.

    Raises:
        InvalidInput: a period or factor that is not positive.
    """

    def __init__(self, period: float, factor: float = 1.0, slack: int = 4) -> None:
        self.period = as_scalar("period", period, "s", above=0.0)
        self.factor = as_scalar("factor", factor, above=0.0)
        self.slack = slack
        self.lost = 0.0
        self._due = 0.0
        self._last: float | None = None

    def due(self, now: float, *, running: bool = True) -> bool:
        """Whether a period is due at `now` [s] of a steady clock; it counts as taken."""
        elapsed = 0.0 if self._last is None else max(now - self._last, 0.0)
        self._last = now
        if not running:
            self._due = 0.0
            return False
        self._due += elapsed * self.factor
        beyond = self._due - (self.slack + 1) * self.period
        if beyond > 0.0:
            self.lost += beyond
            self._due -= beyond
        if self._due < self.period:
            return False
        self._due -= self.period
        return True

    @property
    def behind(self) -> float:
        """[s] for which the period that was taken last has been due."""
        return self._due / self.factor
