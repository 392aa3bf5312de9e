# SPDX-License-Identifier: Apache-2.0

"""Accelerations of the driven joints: dp/ds s'' + d2p/ds2 s'^2.

If a path bends, the second term requires acceleration even at constant speed: a limit of it
bounds the speed in bends as well as how fast it changes.
"""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.kernels.intervals import PLACES
from robodyn.planning.time_optimal.constraints.base import (
    MARGIN,
    MARGIN_BETWEEN,
    Coefficients,
    Excess,
    OfJoints,
    SecondOrder,
)
from robodyn.planning.time_optimal.sampled_path import SampledPath


class Accelerations(OfJoints, SecondOrder):
    """Limits (n,) [m/s^2 or rad/s^2] either way; infinite for none. See `SecondOrder`."""

    quantity = "acceleration"

    def __init__(self, mechanism: Mechanism, limits: FloatArray) -> None:
        super().__init__(mechanism, limits)
        self.sizes = np.tile((1.0 - MARGIN_BETWEEN) * self.most, (2, 1))

    def coefficients(self, path: SampledPath, ends: tuple[float, float]) -> Coefficients:
        """Compute the terms of the acceleration limits along a path."""
        count, size = len(path.steps), len(self.joints)
        terms = np.zeros((count, PLACES, size, 7))
        terms[..., 0] = path.rates[:, path.imposed][..., self.joints]
        terms[..., 1] = path.bends[:, path.imposed][..., self.joints]
        bound = (1.0 - MARGIN) * np.tile(self.most, (count, 1))
        return Coefficients(terms, bound, -bound, curved=False)

    def excess(self, path: SampledPath, square: FloatArray, acceleration: FloatArray) -> Excess:
        """Compute accelerations and their excess for s'^2 and s'' (N, M, 1)."""
        driven = (path.rates * acceleration + path.bends * square)[..., self.joints]
        shares = driven / self.sizes[0]
        return Excess(driven, shares - 1.0, -shares - 1.0)
