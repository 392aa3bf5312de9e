"""Leading dimensions: everything public broadcasts over them, every kernel sees one flat batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]


def flatten(**arrays: FloatArray) -> tuple[tuple[int, ...], list[FloatArray]]:
    """Broadcast arrays of shape (..., k) against each other.

    Returns:
        The common leading shape, and each array as a contiguous (N, k).

    Raises:
        InvalidInput: the leading shapes do not broadcast; the message names each argument.
    """
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


def element(shape: tuple[int, ...], flat_index: int) -> tuple[int, ...]:
    """Index into the leading dimensions of element `flat_index` of the flat batch."""
    return tuple(int(i) for i in np.unravel_index(flat_index, shape)) if shape else ()
