# SPDX-License-Identifier: Apache-2.0

"""Past actions and observations, for delays that differ between rows."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray, IntArray


class History:
    """Past values of each row, the newest first.

    Args:
        values: (rows, k) of all rows.
    """

    def __init__(self, values: FloatArray) -> None:
        self._values = values[None].copy()

    def begin(self, rows: IntArray, values: FloatArray | float) -> None:
        """Replace the past of rows by constant values."""
        self._values[:, rows] = values

    def push(self, values: FloatArray, depth: int) -> None:
        """Add the newest values and keep `depth` older ones."""
        self._values = np.concatenate([values[None], self._values[:depth]])

    def past(self, lags: IntArray) -> FloatArray:
        """Return the value of each row `lags` steps ago (rows,), or its oldest value."""
        oldest = len(self._values) - 1
        found: FloatArray = self._values[np.minimum(lags, oldest), np.arange(len(lags))]
        return found
