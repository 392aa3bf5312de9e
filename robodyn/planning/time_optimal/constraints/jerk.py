# SPDX-License-Identifier: Apache-2.0

"""Jerk of the driven joints: the time derivative of dp/ds s'' + d2p/ds2 s'^2.

A jump of acceleration excites elastic parts behind the drive. With a limit of jerk accelerations
are continuous, and zero at rests.
"""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.planning.time_optimal.constraints.base import ThirdOrder
from robodyn.planning.time_optimal.program import ThirdOrderCoefficients
from robodyn.planning.time_optimal.sampled_path import VERIFIED, SmoothPath, derivatives


class Jerk(ThirdOrder):
    """Symmetric jerk limits (n,) [m/s^3 or rad/s^3]; infinite for none. See `ThirdOrder`."""

    quantity = "jerk"

    def coefficients(self, course: SmoothPath, terms: FloatArray) -> ThirdOrderCoefficients:
        """Compute the terms of the derivatives of accelerations."""
        path = course.path
        g1, g2, g3 = course.imposed
        rates, bends = (v[:, path.imposed][..., self.joints] for v in (path.rates, path.bends))
        by_r = derivatives(VERIFIED, VERIFIED)[path.imposed]
        turns = (by_r @ path.bends)[..., self.joints] / course.steps[:, None, None]
        zero = np.zeros(rates.shape)
        return ThirdOrderCoefficients(
            0.5 * g1 * rates,
            1.5 * g2 * rates + 1.5 * g1**2 * bends,
            g3 * rates + 3.0 * g1 * g2 * bends + g1**2 * turns,
            zero,
            zero,
            zero,
        )

    def values(
        self, course: SmoothPath, terms: FloatArray, square: FloatArray, acceleration: FloatArray
    ) -> FloatArray:
        """Compute the accelerations (N, M, K) whose derivatives by time are limited."""
        driven = course.path.rates * acceleration + course.path.bends * square
        return np.asarray(driven[..., self.joints])
