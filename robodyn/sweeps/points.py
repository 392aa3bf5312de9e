# SPDX-License-Identifier: Apache-2.0

"""Grid or sample of the states of a sweep, divided into chunks.

A chunk is a block of a grid or a range of a sample, and a region of the arrays of results.
`part(i)` returns the grid or sample of one chunk, which is small enough to be sent to a worker.
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
    """Base class of grids and samples of states, divided into chunks.

    Attributes:
        dims: names of the dimensions of the results.
        shape: lengths of these dimensions.
        chunk: largest number of states in a chunk.
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
        """Shape of a chunk in the arrays of results.

        It contains at most `chunk` states; the last axes are as long as possible.
        """
        sides, remaining = [], self.chunk
        for count in reversed(self.shape):
            side = max(1, min(count, remaining))
            sides.append(-(-count // -(-count // side)))
            remaining //= side
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
        """Return the region of the arrays of results that belongs to a chunk.

        Args:
            index: index of the chunk, from 0 to `chunks` - 1.

        Returns:
            One slice for each dimension in `dims`.
        """
        places = np.unravel_index(index, self._counts)
        sides = zip(places, self.chunk_shape, self.shape, strict=True)
        return tuple(
            slice(int(i) * side, min((int(i) + 1) * side, count)) for i, side, count in sides
        )

    def part(self, index: int) -> Points:
        """Return the states of a chunk, given its index."""
        raise NotImplementedError

    def values(self) -> dict[str, FloatArray]:
        """Return the values (size,) of each varied variable in all states, by name."""
        raise NotImplementedError


@dataclass(frozen=True)
class Grid(Points):
    """Grid of states: all combinations of the values on its axes, the last one varying fastest.

    Attributes:
        axes: axes of the grid, at least one.
        chunk: largest number of states in a chunk.
    """

    axes: tuple[GridAxis, ...]
    chunk: int

    @property
    def dims(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the varied variables, one for each axis."""
        return tuple(axis.name for axis in self.axes)

    @cached_property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """Number of values on each axis."""
        return tuple(len(axis.values) for axis in self.axes)

    def part(self, index: int) -> Grid:
        """Return the grid of a chunk, given its index."""
        pairs = zip(self.axes, self.region(index), strict=True)
        return Grid(
            tuple(GridAxis(axis.name, axis.values[part]) for axis, part in pairs), self.chunk
        )

    def values(self) -> dict[str, FloatArray]:
        """Return the values (size,) of each varied variable in all states, by name."""
        mesh = np.meshgrid(*(axis.values for axis in self.axes), indexing="ij")
        return {name: array.reshape(-1) for name, array in zip(self.dims, mesh, strict=True)}


@dataclass(frozen=True)
class SampledPoints(Points):
    """Sample of states in a box of variables.

    The sample depends on the seed, but not on the division into chunks.

    Attributes:
        intervals: ranges of the variables, at least one.
        count: number of states.
        seed: seed of the scrambling or of the random numbers.
        method: `sobol`, a scrambled sequence that fills the box evenly, or `random`, uniform and
            independent.
        chunk: largest number of states in a chunk.
        start: index of the first state in the whole sample.
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
        """Shape (count,) of the results."""
        return (self.count,)

    def part(self, index: int) -> SampledPoints:
        """Return the sample of a chunk, given its index."""
        (region,) = self.region(index)
        return replace(self, count=region.stop - region.start, start=self.start + region.start)

    def values(self) -> dict[str, FloatArray]:
        """Return the values (size,) of each varied variable in all states, by name."""
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
