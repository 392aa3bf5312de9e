# SPDX-License-Identifier: Apache-2.0

"""How much of a leg's force is due to the legs' own mass and friction: Dasgupta (1998), eq. 42."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray


# The fraction means nothing where the total force passes through zero; instants at which it is
# below this share of the leg's own peak are left out of its peak.
SMALLEST_FORCE = 0.05


def dynamic_fraction(total: FloatArray, massless: FloatArray) -> FloatArray:
    """Fd/F (..., n) of forces F and those F0 with massless legs, Fd = F - F0.

    Infinite, or not a number, where F is zero.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((total - massless) / total)


def peak_dynamic_fraction(total: FloatArray, massless: FloatArray) -> FloatArray:
    """(n,) largest |Fd/F| in histories (N, n), where F is not near zero (see SMALLEST_FORCE)."""
    fraction = np.abs(dynamic_fraction(total, massless))
    magnitude = np.abs(total)
    known = np.isfinite(fraction) & np.isfinite(magnitude)
    peak = np.max(magnitude, axis=0, where=known, initial=0.0)
    counts = known & (magnitude >= SMALLEST_FORCE * peak)
    return np.asarray(np.max(fraction, axis=0, where=counts, initial=0.0))
