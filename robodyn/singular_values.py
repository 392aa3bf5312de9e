"""What the singular values of a Jacobian say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]


def extreme_ratio(values: FloatArray) -> FloatArray:
    """Ratio (...) of the first of (..., k) singular values to the last; infinite where that is 0.

    A matrix of zeros is as singular as any: so far away that no number holds the lengths of legs,
    no force of theirs has a direction.
    """
    smallest = values[..., -1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.asarray(np.where(smallest > 0.0, values[..., 0] / smallest, np.inf))
