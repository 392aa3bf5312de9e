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

"""Rotations and homogeneous transformations: what nodes need at the message boundary.

Names, argument order and quaternion order (x, y, z, w) are those of ROS's tf_transformations, and
as there the work is done by transforms3d, whose quaternions are (w, x, y, z). Euler angles default
to 'sxyz', static axes: R = Rz(ak) Ry(aj) Rx(ai), ROS's roll, pitch, yaw.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from transforms3d import affines, axangles, euler, quaternions

__all__ = [
    "concatenate_matrices",
    "euler_from_matrix",
    "euler_from_quaternion",
    "euler_matrix",
    "identity_matrix",
    "inverse_matrix",
    "quaternion_about_axis",
    "quaternion_conjugate",
    "quaternion_from_euler",
    "quaternion_from_matrix",
    "quaternion_inverse",
    "quaternion_matrix",
    "quaternion_multiply",
    "rotation_matrix",
    "translation_from_matrix",
    "translation_matrix",
]

Quaternion = tuple[float, float, float, float]
Angles = tuple[float, float, float]


def _wxyz(quaternion: Sequence[float]) -> Quaternion:
    x, y, z, w = quaternion
    return w, x, y, z


def _xyzw(quaternion: Sequence[float]) -> Quaternion:
    w, x, y, z = quaternion
    return x, y, z, w


def _homogeneous(rotation: np.ndarray) -> np.ndarray:
    matrix = np.identity(4)
    matrix[:3, :3] = rotation
    return matrix


def identity_matrix() -> np.ndarray:
    """Return the 4x4 identity."""
    return np.identity(4)


def translation_matrix(direction: ArrayLike) -> np.ndarray:
    """Return the 4x4 matrix that translates by a vector [m]."""
    matrix = np.identity(4)
    matrix[:3, 3] = np.asarray(direction)[:3]
    return matrix


def translation_from_matrix(matrix: ArrayLike) -> np.ndarray:
    """Return the translation of a 4x4 matrix [m]."""
    return np.array(matrix, dtype=float)[:3, 3]


def rotation_matrix(
    angle: float, direction: ArrayLike, point: ArrayLike | None = None
) -> np.ndarray:
    """Return the 4x4 matrix that rotates by an angle [rad] about an axis (through a point)."""
    return axangles.axangle2aff(direction, angle, point=point)


def euler_matrix(ai: float, aj: float, ak: float, axes: str = "sxyz") -> np.ndarray:
    """Return the 4x4 rotation matrix of Euler angles [rad]."""
    return _homogeneous(euler.euler2mat(ai, aj, ak, axes=axes))


def euler_from_matrix(matrix: ArrayLike, axes: str = "sxyz") -> Angles:
    """Return the Euler angles [rad] of a rotation matrix."""
    return euler.mat2euler(np.asarray(matrix), axes=axes)


def euler_from_quaternion(quaternion: Sequence[float], axes: str = "sxyz") -> Angles:
    """Return the Euler angles [rad] of a quaternion x y z w."""
    return euler_from_matrix(quaternion_matrix(quaternion), axes)


def quaternion_from_euler(ai: float, aj: float, ak: float, axes: str = "sxyz") -> Quaternion:
    """Return the quaternion x y z w of Euler angles [rad]."""
    return _xyzw(euler.euler2quat(ai, aj, ak, axes=axes))


def quaternion_about_axis(angle: float, axis: ArrayLike) -> Quaternion:
    """Return the quaternion x y z w that rotates by an angle [rad] about an axis."""
    return _xyzw(quaternions.axangle2quat(axis, angle))


def quaternion_matrix(quaternion: Sequence[float]) -> np.ndarray:
    """Return the 4x4 rotation matrix of a quaternion x y z w, which need not be normalized."""
    return _homogeneous(quaternions.quat2mat(_wxyz(quaternion)))


def quaternion_from_matrix(matrix: ArrayLike) -> Quaternion:
    """Return the quaternion x y z w of the rotation in a 4x4 matrix, scaling set aside."""
    return _xyzw(quaternions.mat2quat(affines.decompose(np.asarray(matrix))[1]))


def quaternion_multiply(quaternion1: Sequence[float], quaternion0: Sequence[float]) -> Quaternion:
    """Return the product: the rotation by `quaternion0`, then by `quaternion1`."""
    return _xyzw(quaternions.qmult(_wxyz(quaternion1), _wxyz(quaternion0)))


def quaternion_conjugate(quaternion: Sequence[float]) -> np.ndarray:
    """Return the conjugate of a quaternion x y z w."""
    x, y, z, w = quaternion
    return np.array((-x, -y, -z, w), dtype=float)


def quaternion_inverse(quaternion: Sequence[float]) -> np.ndarray:
    """Return the inverse of a quaternion x y z w."""
    return quaternion_conjugate(quaternion) / np.dot(quaternion, quaternion)


def inverse_matrix(matrix: ArrayLike) -> np.ndarray:
    """Return the inverse of a square matrix."""
    return np.linalg.inv(matrix)


def concatenate_matrices(*matrices: ArrayLike) -> np.ndarray:
    """Return the product of 4x4 matrices from left to right; the identity if there are none."""
    product = np.identity(4)
    for matrix in matrices:
        product = product @ np.asarray(matrix)
    return product
