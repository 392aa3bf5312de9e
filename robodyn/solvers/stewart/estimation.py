# SPDX-License-Identifier: Apache-2.0

"""Pose and twist of a Stewart platform from its leg lengths, one reading after another.

Up to 40 poses have the same leg lengths; see `algorithms.estimation` for the choice among them.

A displacement dx (6,) of the pose, [translation; rotation vector] in the base frame, changes the
leg lengths by H' dx, with the transposed force Jacobian H' (eq. 35 of Dasgupta and Mruthyunjaya,
1998), so errors dL in the lengths are errors dx = H'^-1 dL. The twist follows from the rates by
H(pose)' twist = rates; with errors in the pose,

    H' dtwist = drates - D dx,    D = d(H' twist)/d(pose) for constant twist.

With S = p + q - b the leg's vector, L its length, s = S/L, u = v + w x q the velocity of its tip
and u_n = u - s (s.u), row i of D is [u_n / L, q x u_n / L + q x (s x w)].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.algorithms.estimation import (
    Estimate,
    Estimator,
)
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_exact, as_pose
from robodyn.errors import InvalidInput, NoSolution, SingularConfiguration
from robodyn.solvers.stewart.kernels import covariance as kernels


def rate_sensitivity(platform: Any, pose: ArrayLike, twist: ArrayLike) -> FloatArray:
    """Compute the derivative (6, 6) of the leg rates w.r.t. the pose at constant twist.

    Args:
        platform: the mechanism.
        pose: (7,) in the base frame.
        twist: (6,) [m/s, rad/s], base frame.

    Returns:
        Matrix (6, 6): changes of the leg rates per unit of a displacement [translation; rotation
        vector].
    """
    where, moving = as_pose("pose", pose), as_exact("twist", twist, (6,), "m/s, rad/s")
    D = np.empty((6, 6))
    at_base, at_platform = platform.solver.joint_centers
    kernels.rate_sensitivity(at_base, at_platform, where, moving, D)
    return D


def motion_covariance(
    platform: Any,
    pose: ArrayLike,
    twist: ArrayLike,
    length_deviation: float,
    rate_deviation: float,
) -> tuple[FloatArray, FloatArray]:
    """Compute covariances (6, 6) of pose and twist from errors in the leg readings.

    The errors in the readings are independent.

    Args:
        platform: the mechanism.
        pose: (7,) estimate.
        twist: (6,) estimate.
        length_deviation: standard deviation of each leg's length [m].
        rate_deviation: standard deviation of each leg's rate [m/s].

    Returns:
        Pose covariance [m^2, m rad, rad^2] of the displacement [translation; rotation vector],
        and twist covariance, both in the base frame.

    Raises:
        SingularConfiguration: the lengths do not determine the pose.
    """
    H = platform.jacobian(pose)
    D = rate_sensitivity(platform, pose, twist)
    of_pose, of_twist = np.empty((6, 6)), np.empty((6, 6))
    variances = float(length_deviation) ** 2, float(rate_deviation) ** 2
    if not kernels.motion_covariance(H, D, *variances, of_pose, of_twist):
        U, values, _ = np.linalg.svd(H)
        raise SingularConfiguration(
            "singular configuration: the leg lengths do not determine the pose",
            smallest_singular_value=float(values[-1]),
            direction=U[:, -1],
            value=pose,
        )
    return of_pose, of_twist


class PlatformEstimator(Estimator):
    """Estimator of a platform's pose and twist from leg readings.

    It solves the forward kinematics, starting from the previous pose.
    """

    _mechanism: Any

    def _check(
        self, positions: ArrayLike, rates: ArrayLike | None
    ) -> tuple[FloatArray, FloatArray | None]:
        length, rate = super()._check(positions, rates)
        if (length <= 0.0).any():
            raise InvalidInput(
                f"lengths contains {length.min()}, expected positive numbers [m]", value=positions
            )
        return length, rate

    def _solve(self, stamp: int, guess: FloatArray | None, deviation: FloatArray) -> Estimate:
        forward = self._mechanism.forward_kinematics
        motion = None
        if guess is not None:
            try:
                motion = forward(self._positions, guess, rates=self._rates)
            except NoSolution:
                guess = None  # fall back to a search from home
        if motion is None:
            motion = forward(self._positions, self._start, rates=self._rates)
        pose, twist = motion.pose, motion.twist
        of_pose, of_twist = motion_covariance(
            self._mechanism, pose, twist, self._position_deviation[0], deviation[0]
        )
        return Estimate(stamp, pose, twist, of_pose, of_twist, guess is None, pose, twist)
