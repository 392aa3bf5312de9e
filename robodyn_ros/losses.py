# SPDX-License-Identifier: Apache-2.0

"""Detection of lost messages by gaps in sequence numbers, and of lost states by gaps in stamps."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from statistics import median

# Number of stamp intervals for the median period of states, and the smallest sufficient number.
INTERVALS, ENOUGH = 50, 10
# A stamp that goes back by more than this [ns] means that the clock was set back.
SET_BACK = 100_000_000


class Losses:
    """Counter of lost messages by topic, from gaps in sequence numbers.

    Each publisher numbers its own messages, so topics with several publishers are not counted.
    Neither are topics whose numbers go back, because their publisher was restarted.

    Args:
        is_shared: returns whether a topic has several publishers; called when a gap is found.

    Attributes:
        lost: number of missing messages by topic, for topics with losses.
        numbered: False if a message had no sequence number; Cyclone DDS provides none.
    """

    def __init__(self, is_shared: Callable[[str], bool]) -> None:
        self._is_shared = is_shared
        self.lost: dict[str, int] = {}
        self.numbered = True
        self._last: dict[str, int | None] = {}

    def count_message(self, topic: str, number: int | None) -> bool:
        """Count a received message; detect losses by a gap in the sequence numbers.

        Args:
            topic: topic of the message.
            number: sequence number; None if the middleware provides none.

        Returns:
            Whether this is the first loss on the topic.
        """
        if number is None:
            self.numbered = False
        last = self._last.setdefault(topic, number)
        if last is None or number is None:
            return False
        missing = max(number - last - 1, 0)
        if number < last or (missing and self._is_shared(topic)):
            self.exclude(topic)
            return False
        self._last[topic] = number
        if not missing:
            return False
        first = topic not in self.lost
        self.lost[topic] = self.lost.get(topic, 0) + missing
        return first

    def exclude(self, topic: str) -> None:
        """Stop counting the losses of a topic, and discard its count."""
        self._last[topic] = None
        self.lost.pop(topic, None)

    @property
    def text(self) -> str:
        """Message with the number of lost messages by topic, for the metadata of a bag."""
        if self.lost:
            return ", ".join(f"{topic} {count}" for topic, count in self.lost.items())
        return "none" if self.numbered else "unknown: the middleware does not number messages"


class StateFlow:
    """Counter of missing and late states, from gaps in their stamps.

    States of a machine come at a fixed rate. A node that is too busy misses states and receives the
    next one instead.

    Attributes:
        received: number of states received in the order of their stamps.
        lost: number of states missing between received ones.
        late: number of states received after a state with a later stamp.
        longest: longest difference [s] between the stamps of two received states between which
            states are missing.
        begun_late: [s] from the start of a trajectory to the first state processed after it.
    """

    def __init__(self) -> None:
        self._intervals: deque[int] = deque(maxlen=INTERVALS)
        self._last: int | None = None
        self.received = self.lost = self.late = 0
        self.longest = self.begun_late = 0.0

    def take(self, stamp: int) -> None:
        """Count a received state by its stamp [ns]."""
        last = self._last
        since = 0 if last is None else stamp - last
        if last is not None and -SET_BACK <= since <= 0:
            self.late += since < 0
            return
        self._last = stamp
        self.received += 1
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
        """Message with the numbers of missing and late states; empty if there were none."""
        texts = []
        if self.lost or self.late:
            texts.append(
                f"{self.lost} of {self.received + self.lost} states lost, {self.late} late, "
                f"longest gap {self.longest * 1e3:.3g} ms"
            )
        if self.begun_late > 0.0:
            texts.append(
                f"the trajectory began {self.begun_late:.3g} s late: it had not been read in time"
            )
        return "; ".join(texts)
