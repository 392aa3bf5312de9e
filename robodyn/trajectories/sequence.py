# SPDX-License-Identifier: Apache-2.0

"""Segments in sequence, each from rest to rest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import InvalidInput
from robodyn.trajectories.base import Motion, RowTrajectory, Trajectory, sampled_by_parts


@dataclass(frozen=True)
class Sequence(RowTrajectory):
    """Trajectories in sequence; a time between two of them belongs to the later one.

    Attributes:
        segments: at least one trajectory.

    Raises:
        InvalidInput: there are no segments.
    """

    segments: tuple[Trajectory, ...]

    def __post_init__(self) -> None:
        if not self.segments:
            raise InvalidInput("a sequence of no segments goes nowhere", value=self.segments)

    @property
    def starts(self) -> tuple[float, ...]:
        """Start times [s] of all segments."""
        return tuple(self._starts.tolist())

    @cached_property
    def _starts(self) -> FloatArray:
        return np.cumsum([0.0, *(segment.duration for segment in self.segments[:-1])])

    @property
    def duration(self) -> float:
        """[s]."""
        return float(sum(segment.duration for segment in self.segments))

    @property
    def switching_times(self) -> tuple[float, ...]:
        """Switching times of the segments, and the times between them."""
        times = set(self.starts[1:])
        for start, segment in zip(self.starts, self.segments, strict=True):
            times.update(start + t for t in segment.switching_times)
        return tuple(sorted(times))

    def _rows(self, t: FloatArray) -> Motion:
        which = np.clip(np.searchsorted(self._starts, t, side="right") - 1, 0, None)
        return sampled_by_parts(
            which, lambda k, rows: self.segments[k].sample(t[rows] - self._starts[k])
        )
