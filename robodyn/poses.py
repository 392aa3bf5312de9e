# SPDX-License-Identifier: Apache-2.0

"""Poses: position and quaternion (x, y, z, w), conversion to roll-pitch-yaw, and differences.

R = Rz(yaw) Ry(pitch) Rx(roll): Dasgupta and Mruthyunjaya (1998), eq. 38, and REP-103.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_exact, as_pose
from robodyn.errors import InvalidInput
from robodyn.numerics import rotations_batch as kernels
from robodyn.numerics.broadcasting import flatten, row

# Names of the translations along x, y, z and the rotations about them.
AXES = ("surge", "sway", "heave", "roll", "pitch", "yaw")

# Bound of sqrt(1 -+ sin pitch) below which the sum or difference of roll and yaw is rounding noise.
LOCKED = 1e-15


def pose_from_rpy(xyz: ArrayLike, rpy: ArrayLike) -> FloatArray:
    """Convert positions and roll, pitch, yaw into poses.

    Args:
        xyz: positions (..., 3) [m].
        rpy: roll, pitch and yaw (..., 3) [rad].

    Returns:
        Poses (..., 7) [m, -].

    Raises:
        InvalidInput: the shape is wrong or a value is not finite.
    """
    position, angles = as_array("xyz", xyz, (3,), "m"), as_array("rpy", rpy, (3,), "rad")
    shape, (position, angles) = flatten(xyz=position, rpy=angles)
    pose = np.empty((len(angles), 7))
    pose[:, :3] = position
    quaternion = np.empty((len(angles), 4))
    kernels.quaternions_from_rpy(angles, quaternion)
    pose[:, 3:] = quaternion
    return pose.reshape(*shape, 7)


def pose_from_matrix(matrix: Any) -> FloatArray:
    """Convert homogeneous matrices or rotations into poses.

    Args:
        matrix: (..., 4, 4) or (..., 3, 3); also a SciPy `Rotation` or `RigidTransform`, or an `SE3`
            of Pinocchio.

    Returns:
        Poses (..., 7) [m, -].

    Raises:
        InvalidInput: the shape is wrong, a value is not finite, or a matrix is not a rotation to
            within 1e-6.
    """
    plain = matrix.as_matrix() if hasattr(matrix, "as_matrix") else matrix
    given = as_array("matrix", getattr(plain, "homogeneous", plain), ())
    if given.shape[-2:] not in ((4, 4), (3, 3)):
        raise InvalidInput(
            f"matrix has shape {given.shape}, expected (..., 4, 4) or (..., 3, 3)", value=matrix
        )
    R, pose = given[..., :3, :3], np.zeros((*given.shape[:-2], 7))
    off = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(initial=0.0)
    last = np.abs(given[..., 3:, :] - np.eye(4)[3, : given.shape[-1]]).max(initial=0.0)
    if not (max(off, last) <= 1e-6 and (np.linalg.det(R) > 0.0).all()):
        raise InvalidInput(
            f"matrix is {np.array2string(given, precision=6)}, expected a rotation matrix (right-"
            "handed, orthonormal) and a last row of 0 0 0 1",
            value=matrix,
        )
    if given.shape[-1] == 4:
        pose[..., :3] = given[..., :3, 3]
    pose[..., 3:] = quaternion_of_rotation(R)
    return pose


def matrix_from_pose(pose: ArrayLike) -> FloatArray:
    """Convert poses into homogeneous matrices.

    Args:
        pose: (..., 7) [m, -] poses.

    Returns:
        Matrices (..., 4, 4) [-, m].

    Raises:
        InvalidInput: the shape is wrong, a value is not finite, or a quaternion is not of unit
            length.
    """
    checked = as_pose("pose", pose)
    out = np.zeros((*checked.shape[:-1], 4, 4))
    out[..., :3, :3], out[..., :3, 3] = rotation_matrix(checked), checked[..., :3]
    out[..., 3, 3] = 1.0
    return out


def axis_motion(kind: str, axis: FloatArray, value: ArrayLike) -> FloatArray:
    """Compute the transform of a joint's motion along or about its axis.

    Args:
        kind: `prismatic` for a translation; any other kind is a rotation.
        axis: (3,) unit vector of the joint's axis.
        value: (...) [m or rad] joint positions.

    Returns:
        Homogeneous transforms (..., 4, 4) from the moved frame to the frame at position 0.
    """
    values = np.asarray(value, dtype=np.float64)[..., None]
    out = np.zeros((*values.shape[:-1], 4, 4))
    out[...] = np.eye(4)
    if kind == "prismatic":
        out[..., :3, 3] = values * axis
        return out
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    sine, rest = np.sin(values)[..., None], 2.0 * np.sin(0.5 * values)[..., None] ** 2
    out[..., :3, :3] += sine * K + rest * K @ K
    return out


def rpy_from_pose(pose: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Convert poses into positions and roll, pitch, yaw.

    Pitch lies in [-pi/2, pi/2], roll and yaw in [-pi, pi]. At the ends of pitch (gimbal lock) roll
    and yaw turn about the same axis; roll is then zero. The angles are computed from the
    quaternion, via half the sum and half the difference of roll and yaw (Bernardes and Viollet,
    2022), so that they reproduce the rotation to the last digits even close to gimbal lock.

    Args:
        pose: (..., 7) [m, -] poses.

    Returns:
        Positions (..., 3) [m], and roll, pitch, yaw (..., 3) [rad].

    Raises:
        InvalidInput: the shape is wrong, a value is not finite, or a quaternion is not of unit
            length.
    """
    checked = as_pose("pose", pose)
    x, y, z, w = np.moveaxis(checked[..., 3:], -1, 0)
    up, down = np.hypot(x - z, w + y), np.hypot(x + z, w - y)  # sqrt(1 + sin), sqrt(1 - sin) pitch
    pitch = 0.5 * np.pi - 2.0 * np.arctan2(down, up)
    half_difference, half_sum = np.arctan2(x - z, w + y), np.arctan2(x + z, w - y)
    half_sum = np.where(down < LOCKED, -half_difference, half_sum)
    half_difference = np.where(up < LOCKED, -half_sum, half_difference)
    roll, yaw = _wrap(half_sum + half_difference), _wrap(half_sum - half_difference)
    return checked[..., :3].copy(), np.stack([roll, pitch, yaw], axis=-1)


def rotation_matrix(pose: ArrayLike) -> FloatArray:
    """Compute the rotation matrix from the platform frame of a pose to the base frame.

    Args:
        pose: (..., 7) [m, -] poses.

    Returns:
        Rotation matrix (..., 3, 3).
    """
    shape, (flat,) = flatten(pose=as_pose("pose", pose))
    out = np.empty((len(flat), 3, 3))
    kernels.rotation_matrices(flat, out)
    return out.reshape(*shape, 3, 3)


def rpy_of_rotation(rotation: FloatArray) -> FloatArray:
    """Compute roll, pitch and yaw (3,) [rad] of a matrix R = Rz Ry Rx (3, 3).

    The angles reproduce the rotation to rounding at every pitch: near gimbal lock yaw is
    inaccurate, and roll is computed from the rotation that remains after yaw.
    """
    R, level = rotation, float(np.hypot(rotation[0, 0], rotation[1, 0]))
    pitch = np.arctan2(-R[2, 0], level)
    if level <= 1e-12:
        # roll and yaw turn about the same axis: the whole angle is yaw
        return np.array([0.0, pitch, np.arctan2(-R[0, 1], R[1, 1])])
    yaw = np.arctan2(R[1, 0], R[0, 0])
    row = np.cos(yaw) * R[1] - np.sin(yaw) * R[0]
    return np.array([np.arctan2(-row[2], row[1]), pitch, yaw])


def quaternion_of_rotation(rotation: FloatArray) -> FloatArray:
    """Convert rotation matrices to quaternions x y z w with w >= 0.

    The largest of the four components is computed first, so that none is the square root of a small
    difference (Shepperd 1978).

    Args:
        rotation: (..., 3, 3) rotation matrices.

    Returns:
        Quaternions (..., 4).
    """
    R = np.ascontiguousarray(rotation, dtype=np.float64)
    out = np.empty((*R.shape[:-2], 4))
    kernels.quaternions_from_matrices(R.reshape(-1, 3, 3), out.reshape(-1, 4))
    return out


def pose_difference(start: ArrayLike, goal: ArrayLike) -> FloatArray:
    """Compute the displacement from one pose to another.

    It consists of the translation and the rotation vector of R_goal R_start', where R_start and
    R_goal are the rotation matrices of the poses.

    Args:
        start, goal: poses (..., 7).

    Returns:
        Displacement (..., 6) [m, rad], base frame.
    """
    first, last = as_pose("start", start), as_pose("goal", goal)
    shape, (first, last) = flatten(start=first, goal=last)
    out = np.empty((len(first), 6))
    kernels.pose_differences(first, last, out)
    return out.reshape(*shape, 6)


def advance_pose(pose: ArrayLike, displacement: ArrayLike) -> FloatArray:
    """Apply a displacement to a pose; the inverse of `pose_difference`.

    Args:
        pose: (..., 7) [m, -] pose to displace.
        displacement: (..., 6) [m, rad], base frame.

    Returns:
        Pose (..., 7).
    """
    start = as_pose("pose", pose)
    step = as_array("displacement", displacement, (6,), "m, rad")
    shape, (start, step) = flatten(pose=start, displacement=step)
    out = np.empty((len(start), 7))
    kernels.advanced_poses(start, step, out)
    return out.reshape(*shape, 7)


def left_jacobian(turn: FloatArray) -> FloatArray:
    """Compute the left Jacobians of rotation vectors.

    They map the time derivative of a rotation vector to the angular velocity, both in the base
    frame.

    Args:
        turn: (..., 3) [rad] rotation vectors.

    Returns:
        Matrices (..., 3, 3).
    """
    vectors = np.repeat(turn.reshape(-1, 3), 3, axis=0)
    columns: FloatArray = np.tile(np.eye(3), (turn.size // 3, 1))
    kernels.rotation_vector_motions(vectors, columns, np.zeros_like(columns))
    return np.asarray(columns.reshape(*turn.shape, 3).swapaxes(-1, -2))


def cross_matrices(vectors: FloatArray) -> FloatArray:
    """Return the skew-symmetric cross-product matrices of vectors.

    Args:
        vectors: (N, 3) vectors a.

    Returns:
        Matrices (N, 3, 3); multiplied by a vector b, they give the cross product a x b.
    """
    out = np.zeros((len(vectors), 3, 3))
    x, y, z = vectors.T
    out[:, 0, 1], out[:, 0, 2], out[:, 1, 2] = -z, y, -x
    return np.asarray(out - out.swapaxes(1, 2))


def composed_pose(outer: ArrayLike, inner: ArrayLike) -> FloatArray:
    """Compose two poses: transform a pose from a frame `outer` to the base frame.

    Args:
        outer: pose (..., 7) of the frame `outer` in the base frame.
        inner: pose (..., 7) in the frame `outer`.

    Returns:
        Pose (..., 7) in the base frame.

    Raises:
        InvalidInput: the shape is wrong, a value is not finite, or a quaternion is not of unit
            length.
    """
    shape, (first, second) = flatten(outer=as_pose("outer", outer), inner=as_pose("inner", inner))
    out = np.empty((len(first), 7))
    turned = np.einsum("nij,nj->ni", rotation_matrix(first), second[:, :3])
    out[:, :3] = first[:, :3] + turned
    a, v, b, w = first[:, 6:], first[:, 3:6], second[:, 6:], second[:, 3:6]
    out[:, 3:6] = a * w + b * v + np.cross(v, w)
    out[:, 6:] = a * b - (v * w).sum(axis=1, keepdims=True)
    return out.reshape(*shape, 7)


def inverse_pose(pose: ArrayLike) -> FloatArray:
    """Invert a pose: compute the pose of the base frame relative to the posed frame.

    Args:
        pose: (..., 7) pose of the frame in the base frame.

    Returns:
        Pose (..., 7) of the base frame in that frame.

    Raises:
        InvalidInput: the shape is wrong, a value is not finite, or a quaternion is not of unit
            length.
    """
    given = as_pose("pose", pose)
    shift = -(given[..., None, :3] @ rotation_matrix(given))[..., 0, :]
    return np.concatenate([shift, given[..., 3:] * [-1.0, -1.0, -1.0, 1.0]], axis=-1)


def wrench_about_base(pose: ArrayLike, wrench: ArrayLike) -> FloatArray:
    """Transform a wrench from a frame to the base frame, about the base's origin.

    Args:
        pose: (..., 7) pose of that frame in the base frame.
        wrench: (..., 6) [N, N m] force, then moment about the frame's origin, in its axes.

    Returns:
        Wrench (..., 6) about the base's origin, base frame.

    Raises:
        InvalidInput: as for `composed_pose`.
    """
    turned = _resolve(True, pose, wrench, "wrench", "N, N m")
    turned[..., 3:] += np.cross(as_pose("pose", pose)[..., :3], turned[..., :3])
    return turned


def twist_in_body(pose: ArrayLike, twist: ArrayLike) -> FloatArray:
    """Resolve a twist, given in the base frame, in the platform's axes.

    Only the axes change: the linear velocity remains that of the same point.

    Args:
        pose: (..., 7) pose of the platform.
        twist: (..., 6) [m/s, rad/s], base frame.

    Returns:
        Twist (..., 6) in the platform's axes.

    Raises:
        InvalidInput: the shape is wrong, a value is not finite, or a quaternion is not of unit
            length.
    """
    return _resolve(False, pose, twist)


def twist_in_base(pose: ArrayLike, twist: ArrayLike) -> FloatArray:
    """Resolve a twist, given in the platform's axes, in the base frame.

    Only the axes change: the linear velocity remains that of the same point.

    Args:
        pose: (..., 7) pose of the platform.
        twist: (..., 6) [m/s, rad/s], platform's axes.

    Returns:
        Twist (..., 6) in the base frame.

    Raises:
        InvalidInput: as for `twist_in_body`.
    """
    return _resolve(True, pose, twist)


def twist_covariance_in_body(pose: ArrayLike, covariance: ArrayLike) -> FloatArray:
    """Transform a twist's covariance from the base frame to the platform's axes.

    Args:
        pose: (7,) pose of the platform.
        covariance: (6, 6), base frame.

    Returns:
        Covariance (6, 6) in the platform's axes.

    Raises:
        InvalidInput: the shape is wrong, a value is not finite, or a quaternion is not of unit
            length.
    """
    where = as_exact("pose", as_pose("pose", pose), (7,))
    half = _resolve(False, where, as_exact("covariance", covariance, (6, 6)))
    turned = _resolve(False, where, half.T)
    # symmetric to the last bit
    return np.asarray(0.5 * (turned + turned.T))


def _resolve(
    to_base: bool, pose: ArrayLike, pair: ArrayLike, name: str = "twist", unit: str = "m/s, rad/s"
) -> FloatArray:
    vectors, where = as_array(name, pair, (6,), unit), as_pose("pose", pose)
    if where.ndim == vectors.ndim == 1:
        return resolved_unchecked(where, vectors, to_base)
    shape, (where, vectors) = flatten(pose=where, **{name: vectors})
    out = np.empty((len(where), 6))
    kernels.resolved_pairs(where, vectors, to_base, out)
    return out.reshape(*shape, 6)


def resolved_unchecked(pose: FloatArray, pair: FloatArray, to_base: bool) -> FloatArray:
    """Rotate two vectors between the axes of a pose and those of the base frame.

    The arguments are not checked.

    Args:
        pose: (7,) pose of a frame in the base frame.
        pair: (6,) two vectors, such as force and moment.
        to_base: whether to convert to the base frame; otherwise to the axes of the pose.

    Returns:
        The vectors (6,).
    """
    out = np.empty((1, 6))
    kernels.resolved_pairs(row(pose), row(pair), to_base, out)
    single: FloatArray = out[0]
    return single


def _wrap(angle: FloatArray) -> FloatArray:
    return np.where(np.abs(angle) > np.pi, angle - 2.0 * np.pi * np.sign(angle), angle)
