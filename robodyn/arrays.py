# SPDX-License-Identifier: Apache-2.0

"""The array types used throughout the package, and what NumPy takes long for."""

from __future__ import annotations

import numpy as np
from numpy import typing
from numpy.typing import NDArray

ArrayLike = typing.ArrayLike
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
# Places in other arrays.
Indices = NDArray[np.intp]


def cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Product a x b of two vectors (3,); `numpy.cross`, for any shape, takes ten times as long."""
    ax, ay, az = a.tolist()
    bx, by, bz = b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])
