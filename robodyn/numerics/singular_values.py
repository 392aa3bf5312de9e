# SPDX-License-Identifier: Apache-2.0

"""Condition number from the singular values of a Jacobian."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray


def extreme_ratio(values: FloatArray) -> FloatArray:
    """Compute the ratio (...) of the largest to the smallest of sorted singular values.

    The singular values (..., k) are in descending order. A zero matrix counts as singular. It
    occurs at poses so far away that the leg lengths overflow and the forces of the legs have no
    direction.
    """
    smallest = values[..., -1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.asarray(np.where(smallest > 0.0, values[..., 0] / smallest, np.inf))
