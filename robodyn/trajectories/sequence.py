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

"""Segments one after the other, each from rest to rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robodyn.checks import as_array
from robodyn.errors import InvalidInput
from robodyn.trajectories.base import Motion, Trajectory

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Sequence:
    """Trajectories in turn; a time at a joint belongs to the later one.

    Attributes:
        segments: at least one.

    Raises:
        InvalidInput: no segments.
    """

    segments: tuple[Trajectory, ...]

    def __post_init__(self) -> None:
        if not self.segments:
            raise InvalidInput("a sequence of no segments goes nowhere", value=self.segments)

    @property
    def starts(self) -> tuple[float, ...]:
        """Start time [s] of every segment."""
        return (0.0, *np.cumsum([segment.duration for segment in self.segments])[:-1].tolist())

    @property
    def duration(self) -> float:
        """[s]."""
        return float(sum(segment.duration for segment in self.segments))

    @property
    def switching_times(self) -> tuple[float, ...]:
        """Those of the segments, and the joints between them."""
        times = set(self.starts[1:])
        for start, segment in zip(self.starts, self.segments, strict=True):
            times.update(start + t for t in segment.switching_times)
        return tuple(sorted(times))

    def sample(self, t: ArrayLike) -> Motion:
        """The motion at times t (...) [s].

        Raises:
            InvalidInput: t is not finite.
        """
        times = as_array("t", t, (), "s")
        flat = times.reshape(-1)
        which = np.searchsorted(self.starts, flat, side="right") - 1
        which = np.clip(which, 0, len(self.segments) - 1)
        parts = [
            segment.sample(flat - start)
            for start, segment in zip(self.starts, self.segments, strict=True)
        ]
        rows = np.arange(len(flat))
        return Motion(
            *(
                np.stack(values)[which, rows].reshape(*times.shape, -1)
                for values in zip(*parts, strict=True)
            )
        )
