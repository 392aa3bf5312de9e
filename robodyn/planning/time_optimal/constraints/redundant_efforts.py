# SPDX-License-Identifier: Apache-2.0

"""Effort limits of mechanisms with more drives than degrees of freedom, such as cable robots.

Efforts with the same effect differ by internal efforts: t + N y, where the columns of N span the
null space. For every r + 1 drives, with r = n - f redundant drives, one combination of efforts is
independent of internal forces; its coefficients are minors of the rows of N. Efforts within the
limits exist if and only if all of these combinations are within the bounds that follow from the
limits. These bounds are the facets of the zonotope of available wrenches (Bouchard, Gosselin and
Moore, 2010). Like the wrench of the motion, they are linear in s'' and s'^2.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.kernels.intervals import PLACES
from robodyn.planning.time_optimal.constraints.base import MARGIN_BETWEEN, Excess
from robodyn.planning.time_optimal.constraints.efforts import Efforts, Quantities
from robodyn.planning.time_optimal.constraints.motor_curves import MotorCurves
from robodyn.planning.time_optimal.sampled_path import SampledPath

# Size of a combination, relative to the largest, below which it belongs to no facet.
NO_FACET = 1e-9


class RedundantEfforts(Efforts):
    """Effort limits of mechanisms with more drives than degrees of freedom.

    See `Efforts` for the interface. Each limited quantity is a normalized combination of efforts,
    minus its upper bound, plus 1; it is limited to 1. The second half of the quantities represents
    the lower bounds. Jumps of dry friction at reversals are not considered.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        limits: FloatArray,
        curves: MotorCurves,
        wrench: FloatArray | None,
    ) -> None:
        if curves.counts.any():
            raise InvalidInput(
                f"{mechanism.name}: torque-speed curves are not supported with more drives than "
                "degrees of freedom; plan for without_actuators(), with effort_limits and "
                "velocity_limits below the motors' curves",
                value=mechanism.name,
            )
        self._freedoms = mechanism.coordinates.velocity_size
        count = len(mechanism.joint_names)
        sets = list(combinations(range(count), count - self._freedoms + 1))
        super().__init__(mechanism, limits, curves, wrench)
        self._sets, self._bounds = np.array(sets), limits
        finite = np.where(np.isfinite(limits), np.abs(limits), 0.0).max(axis=1)
        self._weights = np.where(finite > 0.0, finite, 1.0)
        joints = mechanism.joint_names
        self.subjects = 2 * [", ".join(joints[k] for k in which) for which in sets]
        self.names = [f"efforts of {those}" for those in self.subjects]
        self.limits = np.tile([-1.0, 1.0], (len(self.names), 1))
        self.sizes = np.ones((2, len(self.names)))

    def excess(self, path: SampledPath, square: FloatArray, acceleration: FloatArray) -> Excess:
        """Compute combinations of efforts along a path, and their excess above 1.

        `square` is s'^2 and `acceleration` s'' (N, M, 1), where s is the path parameter. The result
        is that of `SecondOrder.excess`.
        """
        q, u, w = path.motion
        motion = u * np.sqrt(square), u * acceleration + w * square
        value = self._quantities(q)(self._mechanism, *motion)
        return Excess(value, value - (1.0 - MARGIN_BETWEEN), np.full(value.shape, -np.inf))

    def describe_shortage(self, row: int, value: float, where: str) -> str:
        """Return the message that no efforts within limits suffice for slow motion.

        `row` is the index of the limited quantity, and `where` describes the point on the path;
        `value` is not used.
        """
        return (
            f"no efforts of {self.subjects[row]} within their limits move the mechanism slowly at "
            f"{where}"
        )

    def _rates(self, path: SampledPath) -> FloatArray:
        """Return zeros, because a combination of efforts has no joint rate."""
        return np.zeros((len(path.steps), PLACES, len(self.names)))

    def _quantities(self, q: FloatArray) -> Quantities:
        factors, most = self._facets(q)

        def combine(mechanism: Mechanism, v: FloatArray, a: FloatArray) -> FloatArray:
            efforts = mechanism.inverse_dynamics(q, v, a, self._wrench)
            chosen = efforts[..., np.tile(self._sets, (2, 1))]
            return np.asarray((factors * chosen).sum(axis=-1) - most + 1.0)

        return combine

    def _facets(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return linear combinations of efforts that bound the set of available wrenches.

        Returns:
            Coefficients (..., K, r + 1) of K combinations of r + 1 efforts each, where r is the
            number of redundant drives; and upper bounds (..., K) of the combinations.
        """
        mechanism, f = self._mechanism, self._freedoms
        rates = [mechanism.joint_velocities(q, np.broadcast_to(e, (*q.shape[:-1], f)))
                 for e in np.eye(f)]  # fmt: skip
        N = np.linalg.qr(np.stack(rates, axis=-1), mode="complete")[0][..., f:]
        rows = N[..., self._sets, :]
        spare = range(rows.shape[-2])
        factors = np.stack(
            [(-1.0) ** k * np.linalg.det(np.delete(rows, k, axis=-2)) for k in spare], axis=-1
        )
        size = (np.abs(factors) * self._weights[self._sets]).sum(axis=-1, keepdims=True)
        none = size <= NO_FACET * size.max(axis=-2, keepdims=True)
        factors = np.where(none, 0.0, factors / np.where(none, 1.0, size))
        factors = np.concatenate([factors, -factors], axis=-2)
        ends = self._bounds[np.tile(self._sets, (2, 1))]
        with np.errstate(invalid="ignore"):  # zero times an infinite limit
            both = factors[..., None] * ends
        most = np.where(factors == 0.0, 0.0, both.max(axis=-1)).sum(axis=-1)
        # a combination without bound, or of no facet, is never reached
        idle = ~np.isfinite(most) | ~factors.any(axis=-1)
        return np.where(idle[..., None], 0.0, factors), np.where(idle, 1.0, most)
