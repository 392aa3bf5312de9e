# SPDX-License-Identifier: Apache-2.0

"""Past actions and observations, for delays that differ between sub-environments."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray, IntArray


class History:
    """Buffer of the latest values of a quantity in each sub-environment, newest first.

    Args:
        values: (num_envs, k) initial values.
    """

    def __init__(self, values: FloatArray) -> None:
        self._values = values[None].copy()

    def begin(self, rows: IntArray, values: FloatArray | float) -> None:
        """Replace all stored values of the sub-environments with indices `rows`.

        The new `values` are one row (k,) for each of them, or one number for all.
        """
        self._values[:, rows] = values

    def push(self, values: FloatArray, depth: int) -> None:
        """Add the newest values (num_envs, k) and keep at most `depth` older ones."""
        self._values = np.concatenate([values[None], self._values[:depth]])

    def past(self, lags: IntArray) -> FloatArray:
        """Return the values (num_envs, k) from `lags` (num_envs,) steps ago, or the oldest."""
        oldest = len(self._values) - 1
        found: FloatArray = self._values[np.minimum(lags, oldest), np.arange(len(lags))]
        return found
