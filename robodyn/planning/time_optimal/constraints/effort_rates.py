# SPDX-License-Identifier: Apache-2.0

"""Rate limits of the efforts: limits of their time derivatives, without dry friction.

The current of a drive takes time to change, and the pressure in a cylinder even more, so a jump of
the commanded effort does not reach the joint. Dry friction is excluded, because it jumps when a
joint reverses.
"""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.time_optimal.constraints.base import ThirdOrder
from robodyn.planning.time_optimal.constraints.efforts import without_friction
from robodyn.planning.time_optimal.program import ThirdOrderCoefficients
from robodyn.planning.time_optimal.sampled_path import IMPOSED, SmoothPath, derivatives


class EffortRates(ThirdOrder):
    """Symmetric limits (n,) [N/s or N m/s] of the efforts' rates of change.

    Infinity means no limit. See `ThirdOrder` for the interface.
    """

    quantity = "effort rate"

    def __init__(self, mechanism: Mechanism, limits: FloatArray, wrench: FloatArray | None) -> None:
        super().__init__(mechanism, limits)
        self._mechanism, self._wrench = mechanism, wrench

    def coefficients(self, course: SmoothPath, terms: FloatArray) -> ThirdOrderCoefficients:
        """Compute the coefficients of the joint efforts' derivatives w.r.t. r.

        For arguments and results see `ThirdOrder.coefficients`.
        """
        path = course.path
        g1, g2, g3 = course.imposed
        A, B, C = (terms[..., self.joints, k] for k in range(3))
        q = path.motion.configuration[:, path.imposed]
        rest = np.zeros((*q.shape[:2], path.motion.velocity.shape[-1]))
        ideal = without_friction(self._mechanism)
        weight = ideal.inverse_dynamics(q, rest, rest, self._wrench)
        D = weight[..., self.joints]
        by_r = derivatives(IMPOSED, IMPOSED)
        dA, dB, dC, dD = (by_r @ v / course.steps[:, None, None] for v in (A, B, C, D))
        return ThirdOrderCoefficients(
            0.5 * g1 * A,
            1.5 * g2 * A + 0.5 * g1 * dA + g1**2 * B,
            g3 * A + g2 * dA + 2.0 * g1 * g2 * B + g1**2 * dB,
            g2 * C + g1 * dC,
            g1 * C,
            dD,
        )

    def values(
        self, course: SmoothPath, terms: FloatArray, square: FloatArray, acceleration: FloatArray
    ) -> FloatArray:
        """Compute the joint efforts (N, M, K) whose time derivatives are limited.

        They are the efforts without dry friction. For the arguments see `ThirdOrder.values`.
        """
        q, u, w = course.path.motion
        speed = np.sqrt(square)
        effort = without_friction(self._mechanism).inverse_dynamics(
            q, u * speed, u * acceleration + w * square, self._wrench
        )
        # viscous friction, by parabolas through the places where it is known
        known = terms[:, :, : effort.shape[-1], 2]
        weights = np.vander(course.places, len(IMPOSED)) @ np.linalg.inv(np.vander(IMPOSED))
        return np.asarray((effort + weights @ known * speed)[..., self.joints])
