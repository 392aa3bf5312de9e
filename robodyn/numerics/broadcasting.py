# SPDX-License-Identifier: Apache-2.0

"""Broadcasting over leading dimensions: kernels get one flat batch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import InvalidInput

# Number of states that can be copied at negligible cost.
COPIED = 16384
FLOAT64 = np.dtype(np.float64)


def leading_shape(**arrays: FloatArray) -> tuple[int, ...]:
    """Compute the shape to which the leading dimensions of arrays (..., k) broadcast.

    Raises:
        InvalidInput: they do not broadcast; the error names each argument.
    """
    try:
        return np.broadcast_shapes(*(array.shape[:-1] for array in arrays.values()))
    except ValueError as error:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InvalidInput(f"leading dimensions do not broadcast: {shapes}") from error


def flatten(**arrays: FloatArray) -> tuple[tuple[int, ...], list[FloatArray]]:
    """Broadcast arrays of shape (..., k) against each other and flatten them to (N, k).

    Returns:
        The common leading shape, and each array as a contiguous array (N, k). All are read-only,
        because compiled functions distinguish read-only and writable arrays.

    Raises:
        InvalidInput: as for `leading_shape`.
    """
    if all(array.ndim == 1 for array in arrays.values()):  # a single state
        return (), [row(array) for array in arrays.values()]
    shape = leading_shape(**arrays)
    flat = [
        np.ascontiguousarray(np.broadcast_to(array, (*shape, array.shape[-1]))).reshape(
            math.prod(shape), array.shape[-1]
        )
        for array in arrays.values()
    ]
    for array in flat:
        array.flags.writeable = False
    return shape, flat


def row(array: FloatArray) -> FloatArray:
    """Return a single state (k,) as a read-only batch (1, k)."""
    batch: FloatArray = np.ascontiguousarray(array)[None]
    batch.flags.writeable = False
    return batch


class StateBatch:
    """Batch of N states: arrays (..., k) with broadcast leading dimensions.

    Arrays that NumPy can view as (N, k) are never copied, others are copied for one range of states
    at a time.

    Attributes:
        shape: common leading shape.
        count: number N of states.
    """

    def __init__(self, shape: tuple[int, ...], arrays: list[FloatArray | None]) -> None:
        self.shape, self.count = shape, math.prod(shape)
        self._arrays = [None if array is None else self._flat(array) for array in arrays]

    def part(self, first: int, last: int) -> list[FloatArray | None]:
        """Return states `first` to `last` - 1 of each array, as (last - first, k).

        Absent arrays are None.
        """
        return [None if array is None else _rows(array, first, last) for array in self._arrays]

    def _flat(self, array: FloatArray) -> FloatArray:
        whole = array
        if array.shape[:-1] != self.shape:
            whole = np.broadcast_to(array, (*self.shape, array.shape[-1]))
        if whole.ndim == 2:
            return whole
        if len(self.shape) > 1 and self.count > COPIED and not whole.flags.c_contiguous:
            return whole
        return whole.reshape(-1, array.shape[-1])


def states(widths: Sequence[int], values: Sequence[ArrayLike | None]) -> StateBatch | None:
    """Broadcast arrays (..., width) to a batch of states; check only their shapes.

    Args:
        widths: width of each array.
        values: the arrays; None for absent ones.

    Returns:
        The batch; None if an argument is invalid or there are no states. `flatten` then raises the
        detailed error.
    """
    arrays: list[FloatArray | None] = []
    shapes = []
    try:
        for width, value in zip(widths, values, strict=True):
            if value is None:
                arrays.append(None)
                continue
            array = np.asarray(value)
            if array.shape[-1:] != (width,):
                return None
            if array.dtype is not FLOAT64 or not array.flags.aligned:
                if array.dtype.kind not in "fiu":
                    return None
                array = np.require(array, FLOAT64, "A")
            arrays.append(array)
            shapes.append(array.shape[:-1])
        alike = shapes.count(shapes[0]) == len(shapes)
        shape = shapes[0] if alike else np.broadcast_shapes(*shapes)
    except (TypeError, ValueError):
        return None
    return None if 0 in shape else StateBatch(shape, arrays)


def _rows(array: FloatArray, first: int, last: int) -> FloatArray:
    """Return states `first` to `last` - 1 of an array (..., k), as (last - first, k)."""
    if array.ndim == 2:
        return array if last - first == len(array) else array[first:last]
    inner = math.prod(array.shape[1:-1])
    begin, end = first // inner, -(-last // inner)
    if end - begin == 1:
        return _rows(array[begin], first - begin * inner, last - begin * inner)
    if inner <= COPIED:
        rows = array[begin:end].reshape(-1, array.shape[-1])
        return rows[first - begin * inner : last - begin * inner]
    cuts = [first, *(row * inner for row in range(begin + 1, end)), last]
    return np.concatenate([_rows(array, *pair) for pair in pairwise(cuts)])


def element(shape: tuple[int, ...], flat_index: int) -> tuple[int, ...]:
    """Convert an index in a flat batch to an index in the leading dimensions."""
    return tuple(int(i) for i in np.unravel_index(flat_index, shape)) if shape else ()
