# SPDX-License-Identifier: Apache-2.0

"""Lost messages, found by gaps in sequence numbers; of states, by gaps in their stamps."""

from __future__ import annotations

from collections import deque
from statistics import median

# Intervals of stamps from whose median the period of states is taken, and how many of them suffice.
INTERVALS, ENOUGH = 50, 10
# A stamp that goes back further than this is of a clock that was set back [ns].
SET_BACK = 100_000_000


class Losses:
    """Counts the gaps in each topic's sequence numbers.

    They are valid for a single publisher: a topic whose numbers go back has several publishers, or
    one that was restarted, and is no longer counted.

    Attributes:
        lost: number of missing messages by topic, for topics with losses.
        numbered: False if a message had no sequence number; Cyclone DDS gives none.
    """

    def __init__(self) -> None:
        self.lost: dict[str, int] = {}
        self.numbered = True
        self._last: dict[str, int | None] = {}

    def heard(self, topic: str, number: int | None) -> bool:
        """Count a message by its number, if any; return whether this is its topic's first loss."""
        if number is None:
            self.numbered = False
        last = self._last.setdefault(topic, number)
        if last is None or number is None:
            return False
        if number < last:
            self._last[topic] = None
            self.lost.pop(topic, None)
            return False
        self._last[topic] = number
        missing = max(number - last - 1, 0)
        if not missing:
            return False
        first = topic not in self.lost
        self.lost[topic] = self.lost.get(topic, 0) + missing
        return first

    @property
    def text(self) -> str:
        """The losses as text, for the metadata of a bag."""
        if self.lost:
            return ", ".join(f"{topic} {count}" for topic, count in self.lost.items())
        return "none" if self.numbered else "not known, the middleware numbers no messages"


class StateFlow:
    """Counts states that never came and such that came too late, by their stamps.

    States of a machine come at a fixed rate. Whoever is too busy to take one finds the next one in
    its place.

    Attributes:
        heard: states that came in order.
        lost: those missing between them.
        late: those that came after a later one.
        longest: [s] without a state, by stamps.
        begun_late: [s] from the time at which a trajectory should have begun to the first state
            that was answered.
    """

    def __init__(self) -> None:
        self._intervals: deque[int] = deque(maxlen=INTERVALS)
        self._last: int | None = None
        self.heard = self.lost = self.late = 0
        self.longest = self.begun_late = 0.0

    def take(self, stamp: int) -> None:
        """A state of `stamp` [ns] came."""
        last = self._last
        since = 0 if last is None else stamp - last
        if last is not None and -SET_BACK <= since <= 0:
            self.late += since < 0
            return
        self._last = stamp
        self.heard += 1
        if since <= 0:
            return
        if len(self._intervals) >= ENOUGH:
            missing = round(since / median(self._intervals)) - 1
            if missing > 0:
                self.lost += missing
                self.longest = max(self.longest, since * 1e-9)
        self._intervals.append(since)

    @property
    def text(self) -> str:
        """What is missing, in words; empty if nothing is."""
        texts = []
        if self.lost or self.late:
            texts.append(
                f"{self.lost} of {self.heard + self.lost} states lost, {self.late} late, "
                f"{self.longest * 1e3:.3g} ms without one at most"
            )
        if self.begun_late > 0.0:
            texts.append(
                f"the trajectory was begun {self.begun_late:.3g} s too late: it had not been read"
            )
        return "; ".join(texts)
