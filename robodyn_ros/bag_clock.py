# SPDX-License-Identifier: Apache-2.0

"""Stamps of recorded messages: simulated time if there is a clock, else wall time.

A recorder often starts before the simulator; messages are held back until it is known which clock
the run uses. A bag never mixes the two: with stamps of 1970 and of today it could not be played.

A message's simulated time is that of the last tick sent before it, not of the last one received: a
recorder that lags behind receives messages of several topics in another order than they were sent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

Write = Callable[[Any, int, bytes], None]

# Bytes that may be held back; beyond that the wall clock is used.
MOST_HELD = 64_000_000
# Ticks kept for messages that are received late.
TICKS = 10_000


class BagClock:
    """Passes messages on to `write(topic, stamp, data)` as soon as their stamp is known.

    Args:
        source: `sim`, `wall`, or `auto`: decided by the first call of `tick` or `give_up`.
        write: takes the stamped messages.
        most_held: bytes that may be held back.

    Attributes:
        source: `sim` or `wall` once decided.
    """

    def __init__(self, source: str, write: Write, most_held: int = MOST_HELD) -> None:
        self.source = source
        self._ticks: deque[tuple[int, int]] = deque(maxlen=TICKS)
        self._write = write
        self._most_held = most_held
        self._held: deque[tuple[Any, int, int, bytes]] = deque()
        self._bytes = 0

    @property
    def now(self) -> int | None:
        """The last simulated time [ns], None before the first."""
        return self._ticks[-1][1] if self._ticks else None

    def tick(self, now: int, sent: int) -> bool:
        """Simulated time is `now`, sent at wall time `sent` [ns]; returns whether it went back."""
        back = self.now is not None and now < self.now
        self._ticks.append((sent, now))
        if self.source == "auto":
            self.source = "sim"
        if self.source == "sim":
            self._release()
        return back

    def give_up(self) -> None:
        """Stop waiting for simulated time and use the wall clock."""
        if not self._ticks:
            self.source = "wall"
            self._release()

    def take(self, topic: Any, sent: int, received: int, data: bytes) -> None:
        """Add a message, sent and received at these wall times [ns]."""
        if self.source == "wall":
            self._write(topic, received, data)
        elif self._ticks:
            self._write(topic, self._simulated(sent), data)
        else:
            self._held.append((topic, sent, received, data))
            self._bytes += len(data)
            if self._bytes > self._most_held:
                self.give_up()

    def _simulated(self, sent: int) -> int:
        for tick_sent, now in reversed(self._ticks):
            if tick_sent <= sent:
                return now
        return self._ticks[0][1]

    def _release(self) -> None:
        while self._held:
            self.take(*self._held.popleft())
        self._bytes = 0
