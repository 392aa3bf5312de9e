# SPDX-License-Identifier: Apache-2.0

"""States of a sweep, as a grid or a sample, divided into chunks.

A chunk is a region of the arrays of results: a block of a grid, or an interval of a sample.
`part(i)` is the same grid or sample restricted to that region, and small enough to be sent to a
worker.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.sweeps.axes import GridAxis, Interval

Method = Literal["sobol", "random"]
METHODS: tuple[str, ...] = get_args(Method)
# Starting within Sobol's sequence takes time proportional to the points before.
LARGEST_SOBOL = 2**24


class Points:
    """Base class of the states of a sweep, divided into chunks.

    A chunk contains at most `chunk` states.
    """

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    chunk: int

    @property
    def size(self) -> int:
        """Number of states."""
        return math.prod(self.shape)

    @cached_property
    def chunk_shape(self) -> tuple[int, ...]:
        """Shape of a chunk: whole trailing axes, and a part of the axis before these."""
        sides, room = [], self.chunk
        for count in reversed(self.shape):
            side = max(1, min(count, room))
            sides.append(-(-count // -(-count // side)))
            room //= side
        return tuple(reversed(sides))

    @cached_property
    def _counts(self) -> tuple[int, ...]:
        pairs = zip(self.shape, self.chunk_shape, strict=True)
        return tuple(-(-count // side) for count, side in pairs)

    @property
    def chunks(self) -> int:
        """Number of chunks."""
        return math.prod(self._counts)

    def region(self, index: int) -> tuple[slice, ...]:
        """Return the slices that select a chunk from arrays of results.

        The index of the chunk is at least 0 and less than `chunks`.
        """
        places = np.unravel_index(index, self._counts)
        sides = zip(places, self.chunk_shape, self.shape, strict=True)
        return tuple(
            slice(int(i) * side, min((int(i) + 1) * side, count)) for i, side, count in sides
        )

    def part(self, index: int) -> Points:
        """Return the states of the chunk with a given index."""
        raise NotImplementedError

    def values(self) -> dict[str, FloatArray]:
        """Return the values (size,) of each varied variable, by name."""
        raise NotImplementedError


@dataclass(frozen=True)
class Grid(Points):
    """All combinations of the values of some axes, the last axis varying fastest.

    Attributes:
        axes: axes of the grid, at least one.
        chunk: the largest number of states in a chunk.
    """

    axes: tuple[GridAxis, ...]
    chunk: int

    @property
    def dims(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the dimensions."""
        return tuple(axis.name for axis in self.axes)

    @cached_property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """Number of values on each axis."""
        return tuple(len(axis.values) for axis in self.axes)

    def part(self, index: int) -> Grid:
        """Return the grid of the chunk with a given index."""
        pairs = zip(self.axes, self.region(index), strict=True)
        return Grid(
            tuple(GridAxis(axis.name, axis.values[part]) for axis, part in pairs), self.chunk
        )

    def values(self) -> dict[str, FloatArray]:
        """Return the values (size,) of each varied variable, by name."""
        mesh = np.meshgrid(*(axis.values for axis in self.axes), indexing="ij")
        return {name: array.reshape(-1) for name, array in zip(self.dims, mesh, strict=True)}


@dataclass(frozen=True)
class SampledPoints(Points):
    """Sample of points in a box, which depends on the seed but not on the chunks.

    Attributes:
        intervals: intervals that form the box, at least one.
        count: number of points.
        seed: seed of the scrambling or of the random numbers.
        method: `sobol`, a scrambled sequence that fills the box evenly, or `random`, uniform and
            independent.
        chunk: the largest number of states in a chunk.
        start: index of the first point in the whole sample.
    """

    intervals: tuple[Interval, ...]
    count: int
    seed: int
    method: str
    chunk: int
    start: int = 0

    dims = ("sample",)

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """Shape of the results: the number of points."""
        return (self.count,)

    def part(self, index: int) -> SampledPoints:
        """Return the points of the chunk with a given index."""
        (region,) = self.region(index)
        return replace(self, count=region.stop - region.start, start=self.start + region.start)

    def values(self) -> dict[str, FloatArray]:
        """Return the values (size,) of each varied variable, by name."""
        width = len(self.intervals)
        if self.method == "sobol":
            from scipy.stats import qmc  # here: its import takes a second, which grids do not need

            engine = qmc.Sobol(width, scramble=True, seed=np.random.default_rng(self.seed))
            if self.start:
                engine.fast_forward(self.start)
            # the first point alone, else SciPy warns of counts that are not powers of two
            first = 1 if self.start == 0 else self.count
            unit = np.concatenate([engine.random(first), engine.random(self.count - first)])
        else:
            # one step of the generator per number, so that a chunk can start anywhere
            bits = np.random.PCG64(self.seed)
            bits.advance(self.start * width)
            unit = np.random.Generator(bits).random((self.count, width))
        return {
            interval.name: interval.low + (interval.high - interval.low) * unit[:, i]
            for i, interval in enumerate(self.intervals)
        }
