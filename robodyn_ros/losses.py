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

"""Lost messages, found by gaps in the publisher's sequence numbers."""

from __future__ import annotations


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
