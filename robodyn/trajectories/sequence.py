# SPDX-License-Identifier: Apache-2.0

"""Segments one after the other, each from rest to rest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from robodyn.checks import as_array
from robodyn.errors import InvalidInput
from robodyn.trajectories.base import Motion, Trajectory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from robodyn.arrays import FloatArray


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
        which = np.clip(np.searchsorted(self._starts, flat, side="right") - 1, 0, None)
        present = np.unique(which) if flat.size else [0]
        if len(present) == 1:
            first = int(present[0])
            motion = self.segments[first].sample(flat - self._starts[first])
        else:
            motion = self._mixed(flat, which, present)
        return Motion(*(values.reshape(*times.shape, -1) for values in motion))

    def _mixed(self, flat: FloatArray, which: NDArray[np.intp], present: Iterable[int]) -> Motion:
        """Motions at times (K,) that belong to several segments; only these are asked."""
        rows: list[FloatArray] | None = None
        for segment in present:
            own = np.flatnonzero(which == segment)
            part = self.segments[segment].sample(flat[own] - self._starts[segment])
            if rows is None:
                rows = [np.empty((len(flat), values.shape[-1])) for values in part]
            for values, found in zip(rows, part, strict=True):
                values[own] = found
        assert rows is not None  # there are several segments
        return Motion(*rows)
