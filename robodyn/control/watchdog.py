# SPDX-License-Identifier: Apache-2.0

"""Watchdog for missing messages: hold the mechanism, then reduce the efforts to zero."""

from __future__ import annotations

from typing import Literal, NamedTuple

from robodyn.checks import as_scalar

ANY_SILENCE = 1e-9  # [s]; 0 would disable the watchdog
Level = Literal["ok", "hold", "ramp", "released"]


class WatchdogState(NamedTuple):
    """Reaction of a watchdog to the time since the last message.

    Attributes:
        level: `ok`; `hold`: hold the position; `ramp`: reduce the efforts; `released`: no efforts.
        scale: factor of the holding efforts, from 1 down to 0.
    """

    level: Level
    scale: float


class Watchdog:
    """Monitor that reacts if messages stop, from the first message on.

    Times `now` may come from any clock. If that clock is set back, the silence continues from its
    previous value, so that only a message restores efforts.

    Args:
        timeout: longest permitted silence [s]; 0 for no limit.
        hold: duration [s] of the hold thereafter.
        ramp: duration [s] of the reduction to zero; 0 for at once.

    Raises:
        InvalidInput: a time is negative or not finite.
    """

    def __init__(self, timeout: float, hold: float, ramp: float) -> None:
        self.timeout = as_scalar("timeout", timeout, "s", at_least=0.0)
        self.hold = as_scalar("hold", hold, "s", at_least=0.0)
        self.ramp = as_scalar("ramp", ramp, "s", at_least=0.0)
        self._last_message: float | None = None
        self._last_time = self._silence = 0.0

    @property
    def has_started(self) -> bool:
        """Whether a message has arrived."""
        return self._last_message is not None

    def record_message(self, now: float) -> None:
        """Record a message at `now` [s].

        Raises:
            InvalidInput: the time is not finite.
        """
        self._last_message = self._last_time = as_scalar("now", now, "s")
        self._silence = 0.0

    def state(self, now: float) -> WatchdogState:
        """Return the reaction at `now` [s]; its level is `ok` before the first message.

        Raises:
            InvalidInput: the time is not finite.
        """
        now = as_scalar("now", now, "s")
        if self._last_message is None:
            return WatchdogState("ok", 1.0)
        if now < self._last_time:
            self._last_message = now - self._silence
        self._last_time = now
        self._silence = silence = max(now - self._last_message, self._silence)
        if self.timeout == 0.0 or silence <= self.timeout:
            return WatchdogState("ok", 1.0)
        if silence <= self.timeout + self.hold:
            return WatchdogState("hold", 1.0)
        letting_go = silence - (self.timeout + self.hold)
        if letting_go >= self.ramp:
            return WatchdogState("released", 0.0)
        return WatchdogState("ramp", min(max(1.0 - letting_go / self.ramp, 0.0), 1.0))


class EffortRampDown:
    """Ramp that fades out the efforts of a controller that was switched off.

    Args:
        hold: duration [s] of full efforts.
        ramp: duration [s] of the reduction to zero; 0 for at once.
        now: time [s] at which it was switched off.

    Raises:
        InvalidInput: a time is not finite, or a duration is negative.
    """

    def __init__(self, hold: float, ramp: float, now: float) -> None:
        self._silence = Watchdog(ANY_SILENCE, hold, ramp)
        self._silence.record_message(now)

    def fraction(self, now: float) -> float:
        """Return the factor, from 1 down to 0, by which to multiply efforts at `now` [s].

        Raises:
            InvalidInput: the time is not finite.
        """
        return self._silence.state(now).scale
