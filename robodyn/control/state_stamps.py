# SPDX-License-Identifier: Apache-2.0

"""Check of the stamps of states, and selection among contradicting publishers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray

# This number of messages with equal stamps, on average less than GAP [s] apart, means that stamps
# are wrong. A simulation in lockstep repeats a state without a command less often.
REPEATS, GAP = 6, 0.12
SECOND = 1_000_000_000


class StateStamps:
    """Checker of a topic's stamps, which replaces invalid ones by the times of receipt.

    Attributes:
        problem: description of what is wrong with the stamps; empty if they are valid.
    """

    def __init__(self) -> None:
        self.problem = ""
        self._last: int | None = None
        self._since, self._repeats = 0, 0
        self._whole = True  # all stamps so far were whole seconds

    def discard(self) -> None:
        """Discard the latest stamp, because its message was rejected.

        The next message may then have the same stamp without counting as a repetition.
        """
        self._repeats = max(0, self._repeats - 1)

    def time_of(self, stamp: int, published: int, received: int) -> int:
        """Return the time [ns] of a message: its stamp, or the time of receipt.

        The time of receipt is used after the stamps have failed to advance with the messages.

        Args:
            stamp: stamp of the message's header [ns].
            published: time of publication [ns] by any clock, to judge how fast messages arrive.
            received: time of receipt [ns], by the clock of the states.
        """
        if self.problem:
            return received
        self._whole = self._whole and stamp % SECOND == 0
        if stamp != self._last:
            self._last, self._since, self._repeats = stamp, published, 0
            return stamp
        self._repeats += 1
        if self._repeats < REPEATS:
            return stamp
        if (published - self._since) * 1e-9 < GAP * self._repeats:
            kind = "in whole seconds, or do not advance" if self._whole else "repeated"
            self.problem = (
                f"stamps are {kind if stamp else 'zero'}: times of receipt are used instead"
            )
            return received
        return stamp


# Largest difference [m or rad] of successive readings of one publisher beyond their rates' effect,
# and the factor on that effect.
LARGEST_STEP, FACTOR = 0.05, 3.0
# [s] time constant of the message counts.
FADES = 0.5
# Number of readings after which a publisher is selected; a rival with RIVAL_FRACTION of its
# messages prevents this.
SELECTION_COUNT, RIVAL_FRACTION = 100, 0.5
FIRST = 3
# [s] Period in which alternating positions are a contradiction, and after which a rival is gone.
CONFLICT_PERIOD, RIVAL_TIMEOUT = 5.0, 10.0
MOST = 4  # largest number of tracks


class ReceivedState(NamedTuple):
    """Received state: stamp [ns], time of receipt [s], configuration and velocity (nv,)."""

    stamp: int
    received: float
    place: FloatArray
    rate: FloatArray


@dataclass
class Track:
    """History of one publisher of states.

    Attributes:
        seen: last state.
        begun: time of receipt [s] of the first state.
        score: number of recent states when the last one arrived, weighted by their age.
        accepted: number of accepted states.
    """

    seen: ReceivedState
    begun: float
    score: float = 1.0
    accepted: int = 0

    def recent_count(self, now: float) -> float:
        """Return the number of recent messages at `now` [s], weighted by their age."""
        return self.score * math.exp(-max(now - self.seen.received, 0.0) / FADES)

    def follow(self, seen: ReceivedState) -> None:
        """Append a state to the publisher's history."""
        self.score = 1.0 + self.recent_count(seen.received)
        self.seen = seen


class PublisherVote:
    """Selector of one publisher among several whose states contradict each other.

    With a single publisher, every state is accepted, also after jumps.

    Args:
        difference: function that returns the displacement (nv,) between two configurations.
        count: function that returns the number of publishers of the topic, called only if states
            jump.

    Attributes:
        refused: number of rejected states.
        conflict: whether states of several publishers contradict each other.
        switched: how often the selected publisher changed.
    """

    def __init__(
        self, difference: Callable[[FloatArray, FloatArray], FloatArray], count: Callable[[], int]
    ) -> None:
        self._difference, self._count = difference, count
        self.reset()

    def reset(self) -> None:
        """Start again: the publisher of the next state is selected."""
        self._tracks: list[Track] = []
        self.refused = self.switched = 0
        self.conflict = False

    def accepts(self, stamp: int, received: float, place: FloatArray, rate: FloatArray) -> bool:
        """Return whether a state belongs to the selected publisher, and record the state.

        Args:
            stamp: stamp [ns] of the state.
            received: time of receipt [s] by a monotonic clock.
            place: configuration, an argument of `difference`.
            rate: (nv,) velocity.
        """
        seen = ReceivedState(stamp, received, place, rate)
        if not self._tracks:
            self._tracks = [Track(seen, received)]
        track = self._track_of(seen)
        if track is not None:
            track.follow(seen)
        elif not self.conflict and self._count() <= 1:
            track = Track(seen, received, accepted=self._tracks[0].accepted)
            self._tracks = [track]  # a jump of the only publisher
        else:
            track = Track(seen, received)
            self._tracks = [self._tracks[0], *self._tracks[1:][-(MOST - 2) :], track]
        good = self._is_selected(received, track)
        track.accepted += good
        self.refused += not good
        return good

    def _is_selected(self, now: float, track: Track) -> bool:
        primary = self._tracks[0]
        if not self.conflict and track is not primary:
            if primary.seen.received > track.begun:
                self.conflict = True
            elif track.score >= FIRST:  # the old one has stopped: a jump
                self._tracks = [track]
                self.switched += 1
                return True
            return False
        if not self.conflict:
            rivals = self._tracks[1:]
            self.conflict = any(now - rival.begun < CONFLICT_PERIOD for rival in rivals)
            if not self.conflict:
                del self._tracks[1:]
                return True
        return self._is_best(now, track)

    def _is_best(self, time: float, track: Track) -> bool:
        primary = self._tracks[0]
        if track is primary and all(
            time - each.seen.received > RIVAL_TIMEOUT for each in self._tracks[1:]
        ):
            del self._tracks[1:]
            self.conflict = False
            return True
        if primary.accepted >= SELECTION_COUNT:
            return track is primary
        best = max(self._tracks, key=lambda each: each.recent_count(time))
        rivals = (each.recent_count(time) for each in self._tracks if each is not best)
        score = best.recent_count(time)
        if score < FIRST or max(rivals, default=0.0) > RIVAL_FRACTION * score:
            return False
        if best is not primary:
            self._tracks.remove(best)
            self._tracks.insert(0, best)
            self.switched += 1
        return track is best

    def _track_of(self, seen: ReceivedState) -> Track | None:
        for track in self._tracks:
            last = track.seen
            if last.place.shape != seen.place.shape:
                continue
            way = np.abs(self._difference(last.place, seen.place))
            speed = np.maximum(np.abs(last.rate), np.abs(seen.rate))
            passed = max((seen.stamp - last.stamp) * 1e-9, seen.received - last.received, 0.0)
            if (way <= LARGEST_STEP + FACTOR * speed * passed).all():
                return track
        return None
