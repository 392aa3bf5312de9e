# SPDX-License-Identifier: Apache-2.0

"""When messages stop: hold the mechanism for a while, then reduce the efforts to zero."""

from __future__ import annotations

from typing import Literal, NamedTuple

from robodyn.checks import as_scalar

ANY_SILENCE = 1e-9  # [s]; a time-out of 0 would mean none
Level = Literal["ok", "hold", "ramp", "released"]


class WatchdogState(NamedTuple):
    """What the time since the last message calls for.

    Attributes:
        level: `ok`; `hold`, stay where it is; `ramp`, reduce the efforts;
            `released`, no efforts.
        scale: factor for the holding efforts, from 1 down to 0.
    """

    level: Level
    scale: float


class Watchdog:
    """Monitors a stream of messages, from the first one on.

    What it is told is `now`, by whatever clock. Should that clock go back, the silence counts on
    from where it was, so that nothing but a message brings efforts back.

    Args:
        timeout: [s] longest silence that is no matter; 0 for any.
        hold: [s] how long to hold thereafter.
        ramp: [s] how long to take from then on to let go; 0 for at once.

    Raises:
        InvalidInput: a time that is negative or not finite.
    """

    def __init__(self, timeout: float, hold: float, ramp: float) -> None:
        self.timeout = as_scalar("timeout", timeout, "s", at_least=0.0)
        self.hold = as_scalar("hold", hold, "s", at_least=0.0)
        self.ramp = as_scalar("ramp", ramp, "s", at_least=0.0)
        self._fed: float | None = None
        self._seen = self._silence = 0.0

    @property
    def is_fed(self) -> bool:
        """Whether a message has ever arrived."""
        return self._fed is not None

    def fed(self, now: float) -> None:
        """A message arrived at `now` [s].

        Raises:
            InvalidInput: a time that is not finite.
        """
        self._fed = self._seen = as_scalar("now", now, "s")
        self._silence = 0.0

    def state(self, now: float) -> WatchdogState:
        """What to do at `now` [s]; `ok` before the first message.

        Raises:
            InvalidInput: a time that is not finite.
        """
        now = as_scalar("now", now, "s")
        if self._fed is None:
            return WatchdogState("ok", 1.0)
        if now < self._seen:
            self._fed = now - self._silence
        self._seen = now
        self._silence = silence = max(now - self._fed, self._silence)
        if self.timeout == 0.0 or silence <= self.timeout:
            return WatchdogState("ok", 1.0)
        if silence <= self.timeout + self.hold:
            return WatchdogState("hold", 1.0)
        letting_go = silence - (self.timeout + self.hold)
        if letting_go >= self.ramp:
            return WatchdogState("released", 0.0)
        return WatchdogState("ramp", min(max(1.0 - letting_go / self.ramp, 0.0), 1.0))


class EffortRampDown:
    """How much of its efforts a controller that was switched off still gives.

    Args:
        hold: [s] how long all of them.
        ramp: [s] how long to take from then on to let go; 0 for at once.
        now: [s] when it was switched off.

    Raises:
        InvalidInput: a time that is not finite, or negative where that makes no sense.
    """

    def __init__(self, hold: float, ramp: float, now: float) -> None:
        self._silence = Watchdog(ANY_SILENCE, hold, ramp)
        self._silence.fed(now)

    def share(self, now: float) -> float:
        """From 1 down to 0 at `now` [s].

        Raises:
            InvalidInput: a time that is not finite.
        """
        return self._silence.state(now).scale
