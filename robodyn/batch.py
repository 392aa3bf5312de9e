"""Leading dimensions: everything public broadcasts over them, every kernel sees one flat batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]


def flatten(**arrays: FloatArray) -> tuple[tuple[int, ...], list[FloatArray]]:
    """Broadcast arrays of shape (..., k) against each other.

    Returns:
        The common leading shape, and each array as a contiguous (N, k).

    Raises:
        InvalidInput: the leading shapes do not broadcast; the message names each argument.
    """
    if all(array.ndim == 1 for array in arrays.values()):  # a single state
        return (), [row(array) for array in arrays.values()]
    try:
        shape = np.broadcast_shapes(*(array.shape[:-1] for array in arrays.values()))
    except ValueError as error:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InvalidInput(f"leading dimensions do not broadcast: {shapes}") from error
    flat = [
        np.ascontiguousarray(np.broadcast_to(array, (*shape, array.shape[-1]))).reshape(
            -1, array.shape[-1]
        )
        for array in arrays.values()
    ]
    return shape, flat


def row(array: FloatArray) -> FloatArray:
    """A single state as a batch of one, read-only like every other batch that is not copied."""
    batch: FloatArray = np.ascontiguousarray(array)[None]
    batch.flags.writeable = False
    return batch


def plain(
    widths: Sequence[int], values: Sequence[ArrayLike]
) -> tuple[tuple[int, ...], list[FloatArray]] | None:
    """The same for what needs no explanation, unchecked but for its shape; else None.

    Arrays (N, width) come back as they are wherever NumPy can look at them so.
    """
    arrays = []
    try:
        for width, value in zip(widths, values, strict=True):
            array = np.asarray(value)
            if array.dtype.kind not in "fiu" or array.shape[-1:] != (width,):
                return None
            arrays.append(np.require(array, np.float64, "A"))
        shape = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
    except (TypeError, ValueError):
        return None
    if 0 in shape:
        return None
    return shape, [
        np.broadcast_to(array, (*shape, array.shape[-1])).reshape(-1, array.shape[-1])
        for array in arrays
    ]


def element(shape: tuple[int, ...], flat_index: int) -> tuple[int, ...]:
    """Index into the leading dimensions of element `flat_index` of the flat batch."""
    return tuple(int(i) for i in np.unravel_index(flat_index, shape)) if shape else ()
