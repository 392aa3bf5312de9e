# SPDX-License-Identifier: Apache-2.0

"""Initial estimate of the poses of tracker and target from nominal poses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray

ROUNDS = 20


class Frame(NamedTuple):
    """Pose of a coordinate frame: rotation matrix (3, 3) and origin (3,) [m]."""

    rotation: FloatArray
    origin: FloatArray

    @classmethod
    def identity(cls) -> Frame:
        """Create the identity frame."""
        return cls(np.eye(3), np.zeros(3))

    @property
    def pose(self) -> FloatArray:
        """Pose (7,) [m, -]: position x y z, quaternion x y z w."""
        # imported here: it takes a third of a second, and `robodyn --help` needs none of it
        from scipy.spatial.transform import Rotation

        return np.concatenate([self.origin, Rotation.from_matrix(self.rotation).as_quat()])

    def displace(self, step: FloatArray) -> Frame:
        """Return the frame displaced by a translation and a rotation about its origin.

        `step` (6,) is the translation [m] and the rotation vector [rad], both in the coordinates in
        which this pose is given.
        """
        from scipy.spatial.transform import Rotation

        turned = Rotation.from_rotvec(step[3:]).as_matrix() @ self.rotation
        return Frame(turned, self.origin + step[:3])


def frames_from_poses(
    R: FloatArray, t: FloatArray, R_seen: FloatArray, t_seen: FloatArray, base: bool, target: bool
) -> tuple[Frame, Frame]:
    """Estimate the poses of base and target from poses that a tracker measured.

    The measured pose of the target is B X E, with the base in the tracker's frame B, the body's
    pose X and the target on the body E.

    Rotations are estimated first (Shah 2013), then the origins by linear least squares. Known
    frames stay the identity.

    Args:
        R, t: (N, 3, 3), (N, 3) [m] nominal poses of the body, base frame.
        R_seen, t_seen: (N, 3, 3), (N, 3) [m] measured poses of the target, tracker's frame.
        base, target: whether B and E are unknown.

    Returns:
        Pose of the base in the tracker's frame, and of the target in the body's frame.
    """
    R_base, R_target = np.eye(3), np.eye(3)
    if base and target:
        R_base, R_target = _rotations(R, R_seen)
    elif base:
        R_base = nearest_rotation(np.einsum("nij,nkj->ik", R_seen, R))
    elif target:
        R_target = nearest_rotation(np.einsum("nji,njk->ik", R, R_seen))
    return _origins(R, t, t_seen, R_base, R_target, base, target)


def _rotations(R: FloatArray, R_seen: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Estimate rotations B and E in R_seen = B R E from N pairs of R_seen and R.

    The entries of B in row-major order are the first left singular vector of the sum of all R_seen
    kron R.
    """
    total = np.einsum("nij,nkl->ikjl", R_seen, R).reshape(9, 9)
    first = np.linalg.svd(total)[0][:, 0].reshape(3, 3)
    B = nearest_rotation(first * np.sign(np.linalg.det(first)))
    E = np.eye(3)
    for _ in range(ROUNDS):
        E = nearest_rotation(np.einsum("nji,njk->ik", B @ R, R_seen))
        B = nearest_rotation(np.einsum("nij,nkj->ik", R_seen, R @ E))
    return B, E


def frames_from_positions(
    R: FloatArray, t: FloatArray, t_seen: FloatArray, base: bool, target: bool
) -> tuple[Frame, Frame]:
    """Estimate the poses of base and target from positions that a tracker measured.

    Estimates of the base's pose and of the target's position alternate.

    Args:
        R, t: (N, 3, 3), (N, 3) [m] nominal poses of the body, base frame.
        t_seen: (N, 3) [m] measured positions of the target, tracker's frame.
        base, target: whether the base's and the target's pose are unknown; known ones stay the
            identity.

    Returns:
        Pose of the base in the tracker's frame, and of the target in the body's frame.
    """
    B, E = Frame.identity(), Frame.identity()
    for _ in range(ROUNDS if base and target else 1):
        if base:
            points = t + R @ E.origin
            mean, mean_seen = points.mean(axis=0), t_seen.mean(axis=0)
            turn = nearest_rotation((t_seen - mean_seen).T @ (points - mean))
            B = Frame(turn, mean_seen - turn @ mean)
        if target:
            B, E = _origins(R, t, t_seen, B.rotation, np.eye(3), base, target)
    return B, E


def _origins(
    R: FloatArray,
    t: FloatArray,
    t_seen: FloatArray,
    R_base: FloatArray,
    R_target: FloatArray,
    base: bool,
    target: bool,
) -> tuple[Frame, Frame]:
    """Estimate frame origins b and e in t_seen = b + B t + B R e by least squares."""
    count = len(t)
    matrix = np.zeros((count, 3, 6))
    if base:
        matrix[:, :, :3] = np.eye(3)
    if target:
        matrix[:, :, 3:] = R_base @ R
    right = t_seen - t @ R_base.T
    found = np.linalg.lstsq(matrix.reshape(-1, 6), right.reshape(-1), rcond=1e-9)[0]
    return Frame(R_base, found[:3]), Frame(R_target, found[3:])


def nearest_rotation(matrix: FloatArray) -> FloatArray:
    """Compute the rotation matrix (3, 3) nearest to a matrix (3, 3)."""
    u, _, v = np.linalg.svd(matrix)
    return np.asarray(u @ np.diag([1.0, 1.0, np.linalg.det(u @ v)]) @ v)


def plane_frame(points: FloatArray) -> Frame:
    """Fit a plane to points (N, 3) [m] in the base frame.

    Returns:
        Pose of the base in a frame whose plane z = 0 is the fitted plane.
    """
    middle = points.mean(axis=0)
    _, _, axes = np.linalg.svd(points - middle)
    turn = axes * np.linalg.det(axes)
    return Frame(turn, -turn @ middle)
