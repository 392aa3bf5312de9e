# SPDX-License-Identifier: Apache-2.0

"""Standstill, in which dry friction holds any effort, so that efforts say nothing of parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from robodyn.arrays import FloatArray

# What travels less than this part of its whole range within so many periods of the efforts' filter,
# and within so long [s], stands still. Motion that turns round is far from that.
STILL, PERIODS, SHORTEST = 1e-3, 2.0, 0.1


def at_rest(position: FloatArray, frequency: float, cutoff: float) -> NDArray[np.bool_]:
    """Whether positions (K, n) at a frequency [Hz] stand still; `cutoff` [Hz] is of efforts."""
    width = 1 + max(1, round(max(PERIODS / cutoff, SHORTEST) * frequency))
    if len(position) < width:
        return np.zeros(position.shape, dtype=bool)
    windows = sliding_window_view(position, width, axis=0)
    still = windows.max(axis=-1) - windows.min(axis=-1) < STILL * np.ptp(position, axis=0)
    out = np.zeros(position.shape, dtype=bool)
    for first in range(width):
        out[first : first + len(still)] |= still
    return out


def held(rate: FloatArray, still: NDArray[np.bool_], slowest: float, count: int) -> FloatArray:
    """Rates (K,), where still those of the nearest motion within `count` samples, slowed down.

    Dry friction does not vanish when motion ends; what vanished would be smeared by the filters
    over samples of motion.
    """
    out: FloatArray = rate.copy()
    edges = np.flatnonzero(np.diff(still.astype(np.int8)))
    for last in edges.tolist():
        # after motion that ends here, or before motion that begins
        ends = bool(still[last + 1])
        moved = float(rate[last] if ends else rate[last + 1])
        rows = (
            slice(last + 1, last + 1 + count) if ends else slice(max(0, last + 1 - count), last + 1)
        )
        out[rows] = np.where(still[rows], np.sign(moved) * slowest, out[rows])
    return out
