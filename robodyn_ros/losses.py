# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Messages that a subscriber never got, by the numbers that their publisher gave them."""

from __future__ import annotations


class Losses:
    """Counts the gaps in each topic's numbers.

    They tell of one publisher only: a topic on which numbers go back has several, or one that was
    started anew, and is not counted any more.

    Attributes:
        lost: how many messages are missing, by topic; topics that miss none are not in it.
        numbered: False where a message had no number; Cyclone DDS gives none.
    """

    def __init__(self) -> None:
        self.lost: dict[str, int] = {}
        self.numbered = True
        self._last: dict[str, int | None] = {}

    def heard(self, topic: str, number: int | None) -> bool:
        """A message with this number, None if it has none; is it the first with a gap before it?"""
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
        """How many are missing of what, as a bag keeps it."""
        if self.lost:
            return ", ".join(f"{topic} {count}" for topic, count in self.lost.items())
        return "none" if self.numbered else "not known, the middleware numbers no messages"
