# SPDX-License-Identifier: Apache-2.0

"""First-order propagation of encoder errors to errors of the platform's pose and twist.

A displacement dx (6,) of the pose, [translation; rotation vector] in the base frame, changes the
leg lengths by H' dx (eq. 35 of Dasgupta and Mruthyunjaya, 1998), so errors dL of the lengths are
errors dx = H'^-1 dL. The twist follows from the rates by H(pose)' twist = rates, in which the pose
errs as well:

    H' dtwist = drates - D dx,    D = d(H' twist)/d(pose), twist held.

With S = p + q - b the leg's vector, L its length, s = S/L, u = v + w x q the velocity of its tip
and u_n = u - s (s.u), row i of D is [u_n / L, q x u_n / L + q x (s x w)].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.checks import as_exact, as_pose
from robodyn.errors import SingularConfiguration
from robodyn.mechanisms.stewart.kernels import covariance as kernels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.stewart.platform import StewartPlatform


def rate_sensitivity(platform: StewartPlatform, pose: ArrayLike, twist: ArrayLike) -> FloatArray:
    """D (6, 6): how the leg rates of a held twist (6,) change with a displacement of pose (7,)."""
    where, moving = as_pose("pose", pose), as_exact("twist", twist, (6,), "m/s, rad/s")
    D = np.empty((6, 6))
    kernels.rate_sensitivity(*platform.joint_centres, where, moving, D)
    return D


def motion_covariance(
    platform: StewartPlatform,
    pose: ArrayLike,
    twist: ArrayLike,
    length_deviation: float,
    rate_deviation: float,
) -> tuple[FloatArray, FloatArray]:
    """Covariances (6, 6) of pose and twist for independent errors of the legs' readings.

    Args:
        platform: the mechanism.
        pose: (7,) the estimate.
        twist: (6,) the estimate.
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
