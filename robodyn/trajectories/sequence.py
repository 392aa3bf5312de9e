# SPDX-License-Identifier: Apache-2.0

"""Sequences of trajectories that form one trajectory."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import InvalidInput
from robodyn.trajectories.base import Motion, RowTrajectory, Trajectory, sample_by_parts


@dataclass(frozen=True)
class Sequence(RowTrajectory):
    """Trajectory that consists of several trajectories in sequence.

    A time at which one segment ends and the next begins belongs to the later one.

    Attributes:
        segments: at least one trajectory.
        given_starts: (K,) start times [s], the first 0; a segment ends when the next one starts. By
            default, each segment starts at the end of the previous one.

    Raises:
        InvalidInput: there are no segments.
    """

    segments: tuple[Trajectory, ...]
    given_starts: tuple[float, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if not self.segments:
            raise InvalidInput("a sequence needs at least one segment", value=self.segments)

    @cached_property
    def starts(self) -> tuple[float, ...]:
        """Start times [s] of all segments."""
        durations = (segment.duration for segment in self.segments[:-1])
        return self.given_starts or tuple(np.cumsum([0.0, *durations]).tolist())

    @property
    def duration(self) -> float:
        """Total duration [s] of the motion."""
        return float(self.starts[-1] + self.segments[-1].duration)

    @property
    def switching_times(self) -> tuple[float, ...]:
        """Switching times [s] of the segments, and start times of all but the first."""
        times = set(self.starts[1:])
        for (start, end), segment in zip(
            pairwise((*self.starts, np.inf)), self.segments, strict=True
        ):
            times.update(start + t for t in segment.switching_times if start + t < end)
        return tuple(sorted(times))

    def _rows(self, t: FloatArray) -> Motion:
        which = np.clip(np.searchsorted(self.starts, t, side="right") - 1, 0, None)
        return sample_by_parts(
            which, lambda k, rows: self.segments[k].sample(t[rows] - self.starts[k])
        )
