# SPDX-License-Identifier: Apache-2.0

"""Condition number from the singular values of a Jacobian."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray


def extreme_ratio(values: FloatArray) -> FloatArray:
    """Compute the ratio (...) of the largest to the smallest of sorted singular values.

    The singular values (..., k) are in descending order. A zero matrix counts as singular; it
    occurs at poses so distant that leg lengths overflow.
    """
    smallest = values[..., -1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.asarray(np.where(smallest > 0.0, values[..., 0] / smallest, np.inf))
