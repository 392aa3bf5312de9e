# SPDX-License-Identifier: Apache-2.0

"""Limits of the motion itself: rates, accelerations and jerk of driven joints, speed of the tip.

With positions p(s) of the driven joints and x(s) of the tip along the path, these are limits of:

- rates |dp/ds| s', because screws, gears and motors have a largest speed. Near a singularity of the
  inverse kinematics dp/ds grows without bound, so the speed along the path falls;
- the tip's speed |dx/ds| s', for processes or people beside the machine;
- accelerations dp/ds s'' + d2p/ds2 s'^2: if a path bends, the second term requires acceleration
  even at constant speed, so an acceleration limit bounds the speed in bends;
- jerk, the time derivative of accelerations, whose jumps excite elastic parts behind the drive.
  With a jerk limit, accelerations are continuous, and zero whenever the motion rests.
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
    FirstOrder,
    JointQuantity,
    SecondOrder,
    ThirdOrder,
)
from robodyn.planning.time_optimal.program import ThirdOrderCoefficients
from robodyn.planning.time_optimal.sampled_path import (
    VERIFIED,
    SampledPath,
    SmoothPath,
    derivatives,
)


class Rates(FirstOrder):
    """Symmetric velocity limits (n,) [m/s or rad/s] of the driven joints.

    Infinity means no limit. See `FirstOrder` for the interface.
    """

    def __init__(self, mechanism: Mechanism, limits: FloatArray) -> None:
        self._limits = limits
        self.names = [f"rate of {name}" for name in mechanism.joint_names]

    def bound(self, path: SampledPath) -> FloatArray:
        """Compute the largest path speed s' (N, M) within the velocity limits."""
        return np.asarray((self._limits / np.abs(path.rates)).min(axis=-1))

    def fractions(self, path: SampledPath, speed: FloatArray) -> FloatArray:
        """Compute the joint velocities as fractions (N, M, n) of their limits.

        `speed` contains the path speeds s' (N, M, 1).
        """
        return np.asarray(np.abs(path.rates * speed) / self._limits)


class TipSpeed(FirstOrder):
    """Limit [m/s] of the tip's speed; see `FirstOrder` for the interface."""

    def __init__(self, mechanism: Mechanism, limit: float) -> None:
        self._mechanism, self._limit = mechanism, limit
        self.names = ["speed of the tip"]

    def bound(self, path: SampledPath) -> FloatArray:
        """Compute the largest path speed s' (N, M) within the tip's speed limit."""
        return self._limit / self._speed(path)

    def fractions(self, path: SampledPath, speed: FloatArray) -> FloatArray:
        """Compute the tip's speed as a fraction (N, M, 1) of its limit.

        `speed` contains the path speeds s' (N, M, 1).
        """
        return self._speed(path)[..., None] * speed / self._limit

    def _speed(self, path: SampledPath) -> FloatArray:
        """Compute the tip's travel (N, M) [m] per unit of the path parameter s."""
        q, u, _ = path.motion
        twist = self._mechanism.twist_jacobian(q) @ u[..., None]
        return np.asarray(np.linalg.norm(twist[..., :3, 0], axis=-1))


class Accelerations(JointQuantity, SecondOrder):
    """Symmetric acceleration limits (n,) [m/s^2 or rad/s^2] of the driven joints.

    Infinity means no limit. See `SecondOrder` for the interface.
    """

    quantity = "acceleration"

    def __init__(self, mechanism: Mechanism, limits: FloatArray) -> None:
        super().__init__(mechanism, limits)
        self.sizes = np.tile((1.0 - MARGIN_BETWEEN) * self.most, (2, 1))

    def coefficients(self, path: SampledPath, ends: tuple[float, float]) -> Coefficients:
        """Compute coefficients of the joint accelerations along a path, and their limits.

        For arguments and results see `SecondOrder.coefficients`.
        """
        count, size = len(path.steps), len(self.joints)
        terms = np.zeros((count, PLACES, size, 7))
        terms[..., 0] = path.rates[:, path.imposed][..., self.joints]
        terms[..., 1] = path.bends[:, path.imposed][..., self.joints]
        bound = (1.0 - MARGIN) * np.tile(self.most, (count, 1))
        return Coefficients(terms, bound, -bound, curved=False)

    def excess(self, path: SampledPath, square: FloatArray, acceleration: FloatArray) -> Excess:
        """Compute joint accelerations along a path, and how far they exceed their limits.

        `square` is s'^2 and `acceleration` s'' (N, M, 1), where s is the path parameter. The result
        is that of `SecondOrder.excess`.
        """
        driven = (path.rates * acceleration + path.bends * square)[..., self.joints]
        fractions = driven / self.sizes[0]
        return Excess(driven, fractions - 1.0, -fractions - 1.0)


class Jerk(ThirdOrder):
    """Symmetric jerk limits (n,) [m/s^3 or rad/s^3] of the driven joints.

    Infinity means no limit. See `ThirdOrder` for the interface.
    """

    quantity = "jerk"

    def coefficients(self, course: SmoothPath, terms: FloatArray) -> ThirdOrderCoefficients:
        """Compute the coefficients of the joint accelerations' derivatives w.r.t. r.

        For arguments and results see `ThirdOrder.coefficients`.
        """
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
        """Compute the joint accelerations (N, M, K) whose time derivatives are limited.

        For the arguments see `ThirdOrder.values`.
        """
        driven = course.path.rates * acceleration + course.path.bends * square
        return np.asarray(driven[..., self.joints])
