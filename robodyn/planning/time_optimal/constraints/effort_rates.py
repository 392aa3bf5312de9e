# SPDX-License-Identifier: Apache-2.0

"""Rates of the efforts: the derivative by time of what they are without dry friction.

Drives build up their current in a finite time, and pressure in a cylinder takes longer still: an
effort that jumps is not what the joint gets. Dry friction is left out, as it does jump where a
joint turns round.
"""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.planning.time_optimal.along import IMPOSED
from robodyn.planning.time_optimal.constraints.base import limited
from robodyn.planning.time_optimal.constraints.efforts import without_friction
from robodyn.planning.time_optimal.course import Course, Moved, derivatives
from robodyn.planning.time_optimal.programme import Changes


class EffortRates:
    """Limits (n,) [N/s or N m/s] either way; infinite for none. See `ThirdOrder`."""

    quantity = "the efforts' rate"

    def __init__(self, mechanism: Mechanism, limits: FloatArray, wrench: FloatArray | None) -> None:
        self._mechanism, self._wrench = mechanism, wrench
        self._joints = limited(limits)
        self.most = limits[self._joints]
        self.names = [f"effort rate of {mechanism.joint_names[i]}" for i in self._joints]

    def coefficients(self, course: Course) -> Changes:
        """See `ThirdOrder.coefficients`; the efforts are the first of what limits the course."""
        path = course.path
        g1, g2, g3 = course.imposed
        A, B, C = (course.problem.terms[..., self._joints, k] for k in range(3))
        q = path.motion.configuration[:, path.imposed]
        rest = np.zeros((*q.shape[:2], path.motion.velocity.shape[-1]))
        ideal = without_friction(self._mechanism)
        weight = ideal.inverse_dynamics(q, rest, rest, self._wrench)
        D = weight[..., self._joints]
        by_r = derivatives(IMPOSED, IMPOSED)
        dA, dB, dC, dD = (by_r @ v / course.steps[:, None, None] for v in (A, B, C, D))
        return Changes(
            0.5 * g1 * A,
            1.5 * g2 * A + 0.5 * g1 * dA + g1**2 * B,
            g3 * A + g2 * dA + 2.0 * g1 * g2 * B + g1**2 * dB,
            g2 * C + g1 * dC,
            g1 * C,
            dD,
        )

    def values(self, course: Course, moved: Moved) -> FloatArray:
        """See `ThirdOrder.values`."""
        q, u, w = moved.motion
        effort = without_friction(self._mechanism).inverse_dynamics(
            q,
            u * np.sqrt(moved.square),
            u * moved.acceleration + w * moved.square,
            self._wrench,
        )
        # viscous friction, by parabolas through the places where it is known
        known = course.problem.terms[moved.intervals, :, : effort.shape[-1], 2]
        weights = np.vander(moved.places, len(IMPOSED)) @ np.linalg.inv(np.vander(IMPOSED))
        return np.asarray((effort + weights @ known * np.sqrt(moved.square))[..., self._joints])
