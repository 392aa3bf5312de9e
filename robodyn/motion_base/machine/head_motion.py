# SPDX-License-Identifier: Apache-2.0

"""Motion of a platform for a given motion of a head on it."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.base_motion import BaseMotion
from robodyn.checks import as_exact
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.motion_base.kernels import brakes as kernels
from robodyn.poses import AXES, rotation_matrix

GRAVITY = 9.81
REST = np.array([0.0, 0.0, GRAVITY])
# Rotation times the characteristic length, relative to the whole motion, below which the body
# counts as not rotating.
TURNS = 0.1
# Cosine of the largest inclination of a platform at home.
UPRIGHT = 0.9


class Cue(NamedTuple):
    """Motion of a platform at one instant, or at K instants (K, ...), base frame.

    Attributes:
        pose: (7,) position [m] of its reference point and quaternion x y z w.
        twist: (6,) linear [m/s] and angular velocity [rad/s].
        accel: (6,) linear [m/s^2] and angular acceleration [rad/s^2].
    """

    pose: FloatArray
    twist: FloatArray
    accel: FloatArray


class HeadMotion:
    """Conversion of a head's motion to the motion of the platform under it.

    The head's motion is given in the axes of the neutral pose. The axes of the head are those of
    the platform, or, if the z axis of the platform points down at home, rotated from these by half
    a turn about x: x forward, y left, z up.

    Args:
        mechanism: mechanism whose body moves around its home pose.
        head: (3,) [m] position of the head in the platform's frame.

    Attributes:
        neutral: (7,) pose of the platform at home.
        axes: (3, 3) axes of the head at home, the columns, in the base frame.
        turned: (3,) 1 or -1, the sign of each of the head's axes relative to the platform's axis.
        head: (3,) [m] of the head, in its own axes, from the platform's origin.
        freedoms: (k,) indices in `AXES` of the body's degrees of freedom.
        rows: (k,) components of the body's pose and twist, base frame, that determine these; empty
            if there are six.
        coupling: (6, k) rates of the head at home per rate of each degree of freedom, parasitic
            motion included.

    Raises:
        InvalidInput: the head is not three finite numbers, or the body does not move at home, is at
            rest while joints move, or is tilted.
    """

    def __init__(self, mechanism: Mechanism, head: ArrayLike) -> None:
        self.neutral = np.array(mechanism.body_pose(mechanism.home))
        axes = rotation_matrix(self.neutral)
        if abs(axes[2, 2]) < UPRIGHT:
            raise InvalidInput(
                f"{mechanism.name}: the z axis of its body points neither up nor down at home, "
                "unlike that of a driver's seat",
                value=mechanism,
            )
        self.turned = np.ones(3) if axes[2, 2] > 0.0 else np.array([1.0, -1.0, -1.0])
        self.axes = axes * self.turned
        self.head = as_exact("head", head, (3,), "m") * self.turned
        twist = np.array(mechanism.twist_jacobian(mechanism.home))
        own = np.concatenate([self.axes.T @ twist[:3], self.axes.T @ twist[3:]])
        self.freedoms = body_freedoms(mechanism, own)
        self.rows: tuple[int, ...] = ()
        self.coupling = np.eye(6)
        if len(self.freedoms) < 6:
            self.rows = body_freedoms(mechanism, twist)
            own[:3] += np.cross(own[3:], self.head, axis=0)
            self.coupling = own @ np.linalg.inv(own[list(self.freedoms)])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the body's degrees of freedom."""
        return tuple(AXES[each] for each in self.freedoms)

    @property
    def text(self) -> str:
        """Description of the reproduced axes, and of the cues that are left out."""
        tilts = [("surge", "pitch"), ("sway", "roll")]
        traded = [force for force, tilt in tilts if force not in self.names and tilt in self.names]
        missing = [each for each in AXES if each not in (*self.names, *traded)]
        parts = [", ".join(self.names)]
        if traded:
            parts.append(f"{' and '.join(traded)} only by tilt")
        if missing:
            parts.append(f"without {', '.join(missing)}")
        return "; ".join(parts)

    def cue(self, place: FloatArray) -> Cue:
        """Compute the platform's motion for a motion of the head.

        Args:
            place: (3, K, 6) [m, rad] displacement of the head from neutral and roll, pitch and yaw,
                in the axes of the neutral pose, with first and second derivatives.

        Returns:
            Poses, twists and accelerations (K, ...) of the platform, base frame.
        """
        count = place.shape[1]
        cue = Cue(np.empty((count, 7)), np.empty((count, 6)), np.empty((count, 6)))
        neutral = self._turn(self.neutral)
        kernels.head_motions(np.ascontiguousarray(place), neutral, self.head, *cue)
        return cue._replace(pose=self._turn(cue.pose))

    def felt_in(self, cue: Cue) -> tuple[FloatArray, FloatArray]:
        """Compute the specific force and angular velocity felt by a head on the platform.

        Args:
            cue: motion of the platform, base frame.

        Returns:
            Specific force (..., 3) [m/s^2] and angular velocity (..., 3) [rad/s], in the head's
            axes.
        """
        force, rate = felt_at(self.head * self.turned, cue)
        return force * self.turned, rate * self.turned

    def rotations(self, poses: FloatArray) -> FloatArray:
        """Compute rotation matrices from the head's axes to its axes at home.

        Args:
            poses: (K, 7) poses of the platform, base frame.

        Returns:
            Matrices (K, 3, 3).
        """
        return np.asarray(self.axes.T @ rotation_matrix(poses) * self.turned)

    def _turn(self, poses: FloatArray) -> FloatArray:
        """Convert poses (..., 7) between platform and head axes (half a turn about x)."""
        if self.turned[2] > 0.0:
            return poses
        x, y, z, w = np.moveaxis(poses[..., 3:], -1, 0)
        return np.concatenate([poses[..., :3], np.stack([w, z, -y, -x], axis=-1)], axis=-1)


def body_freedoms(mechanism: Mechanism, jacobian: FloatArray) -> tuple[int, ...]:
    """Find the axes along and about which a body can move, as degrees of freedom.

    Translations that only accompany rotations do not count. If a body rotates about a distant
    pivot, the rotation is a degree of freedom, and the translation is parasitic.

    Args:
        mechanism: mechanism with the body.
        jacobian: (6, nv) Jacobian of the body's twist, in the axes to be named.

    Returns:
        Indices in `AXES`, in ascending order.

    Raises:
        InvalidInput: the body does not move, or joints of a mechanism with fewer than six degrees
            of freedom move while it is at rest.
    """
    lengths = np.repeat([mechanism.characteristic_length, 1.0], 3)[:, None]
    U, values, _ = np.linalg.svd(jacobian / lengths)
    count = int((values > 1e-6 * max(values.max(), 1e-12)).sum())
    if count < min(jacobian.shape[1], 6) or not np.abs(jacobian).max() > 1e-9:
        raise InvalidInput(
            f"{mechanism.name}: at home, its {jacobian.shape[1]} degrees of freedom move the body "
            f"in only {count} ways; motion cueing requires that the body's pose determines all "
            "joints",
            value=mechanism,
        )
    _, turns, V = np.linalg.svd(U[3:, :count])
    rotations = int((turns > TURNS).sum())

    def best(moved: FloatArray, first: int) -> tuple[int, ...]:
        """Return indices of the n rows of `moved` (3, n) with the largest |determinant|.

        `first` is added to each index.
        """
        found = combinations(range(3), moved.shape[1])
        chosen = max(found, key=lambda rows: abs(np.linalg.det(moved[list(rows)])))
        return tuple(first + row for row in chosen)

    turned, shifted = U[3:, :count] @ V[:rotations].T, U[:3, :count] @ V[rotations:].T
    return best(shifted, 0) + best(turned, 3)


def refuse_fewer_freedoms(mechanism: Mechanism, purpose: str) -> None:
    """Reject a mechanism whose body has fewer than six degrees of freedom at home.

    `purpose` names the feature that requires all six, for the message.

    Raises:
        InvalidInput: it has fewer than six degrees of freedom.
    """
    freedoms = np.linalg.matrix_rank(mechanism.twist_jacobian(mechanism.home), tol=1e-6)
    if freedoms < 6:
        raise InvalidInput(
            f"{mechanism.name} moves its body in {freedoms} of six degrees of freedom at home; "
            f"{purpose} needs all six",
            value=mechanism,
        )


def felt_at(head: FloatArray, cue: Cue) -> tuple[FloatArray, FloatArray]:
    """Compute the specific force and angular velocity felt at a point of a platform.

    Args:
        head: (3,) [m] the point, in the platform's frame.
        cue: motion of the platform, base frame.

    Returns:
        Specific force (..., 3) [m/s^2] and angular velocity (..., 3) [rad/s], in the platform's
        axes.
    """
    felt = BaseMotion.of(*cue).felt_at([*head, 0.0, 0.0, 0.0, 1.0])
    return felt.specific_force, felt.angular_velocity


def spatial_rates(rpy: FloatArray) -> FloatArray:
    """Compute the matrices that map rates of roll, pitch and yaw to angular velocity.

    Args:
        rpy: (K, 3) [rad] roll, pitch and yaw.

    Returns:
        Matrices (K, 3, 3); the angular velocity is in non-rotating axes.
    """
    cp, sp, cy, sy = (f(rpy[:, i]) for i in (1, 2) for f in (np.cos, np.sin))
    E = np.zeros((len(rpy), 3, 3))
    E[:, 0, 0], E[:, 1, 0], E[:, 2, 0] = cy * cp, sy * cp, -sp
    E[:, 0, 1], E[:, 1, 1], E[:, 2, 2] = -sy, cy, 1.0
    return E


def weight_by_angles(rpy: FloatArray) -> FloatArray:
    """Compute the derivatives of the specific force at rest w.r.t. roll, pitch, yaw.

    Args:
        rpy: (K, 3) [rad] roll, pitch and yaw.

    Returns:
        Derivatives (K, 3, 3) [m/s^2 per rad] of the force in the tilted axes; the last index is
        that of the angle.
    """
    cr, sr, cp, sp = (f(rpy[:, i]) for i in (0, 1) for f in (np.cos, np.sin))
    G = np.zeros((len(rpy), 3, 3))
    G[:, 1, 0], G[:, 2, 0] = cp * cr, -cp * sr
    G[:, 0, 1], G[:, 1, 1], G[:, 2, 1] = -cp, -sp * sr, -sp * cr
    return G * GRAVITY
