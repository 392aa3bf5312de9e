# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""How the encoders' errors become errors of the platform's pose and twist, to first order.

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

from robodyn.checks import as_exact, as_pose, as_scalar
from robodyn.errors import SingularConfiguration
from robodyn.poses import rotation_matrix

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from robodyn.stewart.platform import StewartPlatform

    FloatArray = NDArray[np.float64]

_YZX, _ZXY = [1, 2, 0], [2, 0, 1]


def quantisation_deviation(resolution: float) -> float:
    """Standard deviation of the error of a reading rounded to multiples of `resolution`.

    Raises:
        InvalidInput: not a positive number.
    """
    return as_scalar("resolution", resolution, above=0.0) / float(np.sqrt(12.0))


def rate_sensitivity(platform: StewartPlatform, pose: ArrayLike, twist: ArrayLike) -> FloatArray:
    """D (6, 6): how the leg rates of a held twist (6,) change with a displacement of pose (7,)."""
    where, moving = as_pose("pose", pose), as_exact("twist", twist, (6,), "m/s, rad/s")
    v, w = moving[:3], moving[3:]
    base, tips = platform.joint_centres
    q = tips @ rotation_matrix(where).T
    S = where[:3] + q - base
    L = np.sqrt((S * S).sum(axis=1, keepdims=True))
    s = S / L
    u = v + _cross(w[None], q)
    across = (u - s * (s * u).sum(axis=1, keepdims=True)) / L
    D = np.empty((6, 6))
    D[:, :3] = across
    D[:, 3:] = _cross(q, across + _cross(s, w[None]))
    return D


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Cross products of rows; for six of them np.cross takes three times as long."""
    return np.asarray(a[:, _YZX] * b[:, _ZXY] - a[:, _ZXY] * b[:, _YZX])


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
    try:
        G = np.linalg.inv(H.T)
    except np.linalg.LinAlgError as error:
        U, values, _ = np.linalg.svd(H)
        raise SingularConfiguration(
            "singular configuration: the leg lengths do not determine the pose",
            smallest_singular_value=float(values[-1]),
            direction=U[:, -1],
            value=pose,
        ) from error
    of_pose = length_deviation**2 * (G @ G.T)
    D = rate_sensitivity(platform, pose, twist)
    of_rates = rate_deviation**2 * np.eye(6) + D @ of_pose @ D.T
    of_twist = G @ of_rates @ G.T
    return of_pose, 0.5 * (of_twist + of_twist.T)


def twist_covariance_in_body(pose: ArrayLike, covariance: ArrayLike) -> FloatArray:
    """Covariance (6, 6) of a twist in the base frame, resolved in the platform's own axes.

    Raises:
        InvalidInput: wrong shape, not finite, or a quaternion not of unit length.
    """
    R = rotation_matrix(pose)
    turned = np.zeros((6, 6))
    turned[:3, :3] = turned[3:, 3:] = R.T
    return np.asarray(turned @ as_exact("covariance", covariance, (6, 6)) @ turned.T)
