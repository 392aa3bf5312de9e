# SPDX-License-Identifier: Apache-2.0

"""Compiled loops over the functions of `rotations`; all arrays are flat batches (N, k)."""

from __future__ import annotations

from typing import Any

from robodyn.numerics.compiler import kernel
from robodyn.numerics.rotations import (
    advanced_pose,
    angular_motion,
    composed_motion,
    pose_difference,
    quaternion_from_matrix,
    quaternion_from_rpy,
    rotation_columns,
    rotation_vector_motion,
    rotation_vector_rate,
)
from robodyn.numerics.vectors import combine, resolve, store, vector


@kernel
def quaternions_from_rpy(rpy: Any, out: Any) -> None:
    """Write the quaternions (N, 4) of roll-pitch-yaw angles (N, 3) [rad] to `out`."""
    for n in range(rpy.shape[0]):
        q = quaternion_from_rpy(rpy[n, 0], rpy[n, 1], rpy[n, 2])
        for j in range(4):
            out[n, j] = q[j]


@kernel
def angular_motions(rpy: Any, rate: Any, acceleration: Any, omega: Any, alpha: Any) -> None:
    """Convert roll-pitch-yaw motions (N, 3) to angular velocities and accelerations.

    The motions are the angles and their first and second time derivatives. The results are written
    to `omega` and `alpha` (N, 3), in the base frame.
    """
    for n in range(rpy.shape[0]):
        velocity, derivative = angular_motion(
            vector(rpy[n], 0), vector(rate[n], 0), vector(acceleration[n], 0)
        )
        store(omega[n], 0, velocity)
        store(alpha[n], 0, derivative)


@kernel
def rotation_matrices(pose: Any, out: Any) -> None:
    """Write the rotation matrices (N, 3, 3) of poses (N, 7) to `out`."""
    for n in range(pose.shape[0]):
        x, y, z = rotation_columns(pose[n])
        for row in range(3):
            out[n, row, 0] = x[row]
            out[n, row, 1] = y[row]
            out[n, row, 2] = z[row]


@kernel
def quaternions_from_matrices(R: Any, out: Any) -> None:
    """Write the quaternions (N, 4), w >= 0, of rotation matrices (N, 3, 3) to `out`."""
    for n in range(R.shape[0]):
        q = quaternion_from_matrix((vector(R[n, 0], 0), vector(R[n, 1], 0), vector(R[n, 2], 0)))
        for j in range(4):
            out[n, j] = q[j]


@kernel
def pose_differences(start: Any, goal: Any, out: Any) -> None:
    """Write the displacements (N, 6) between poses (N, 7) to `out`.

    They lead from the poses `start` to the poses `goal`, and consist of translations and rotation
    vectors in the base frame.
    """
    for n in range(start.shape[0]):
        pose_difference(start[n], goal[n], out[n])


@kernel
def advanced_poses(pose: Any, displacement: Any, out: Any) -> None:
    """Compute the poses (N, 7) that displacements (N, 6) reach from other poses.

    It is the inverse of `pose_differences`. The results are written to `out`.
    """
    for n in range(pose.shape[0]):
        advanced_pose(pose[n], displacement[n], out[n])


@kernel
def resolved_pairs(pose: Any, pairs: Any, to_base: bool, out: Any) -> None:
    """Rotate pairs of vectors (N, 6) between the platform's axes and the base frame.

    The rotations are those of poses (N, 7) of the platform. The results, written to `out`, are in
    the base frame if `to_base`, else in the platform's axes.
    """
    for n in range(pose.shape[0]):
        x, y, z = rotation_columns(pose[n])
        for first in (0, 3):
            a = vector(pairs[n], first)
            store(out[n], first, combine(x, y, z, a) if to_base else resolve(x, y, z, a))


@kernel
def rotation_vector_motions(vectors: Any, rate: Any, acceleration: Any) -> None:
    """Convert derivatives of rotation vectors to angular velocities and accelerations.

    All arrays are (N, 3). The first and second derivatives are overwritten by the results, which
    are in the base frame.
    """
    for n in range(vectors.shape[0]):
        omega, alpha = rotation_vector_motion(
            vector(vectors[n], 0), vector(rate[n], 0), vector(acceleration[n], 0)
        )
        store(rate[n], 0, omega)
        store(acceleration[n], 0, alpha)


@kernel
def rotation_vector_rates(vectors: Any, omega: Any, out: Any) -> None:
    """Compute rates (N, 3) of rotation vectors from angular velocities omega (N, 3).

    The angular velocities are in the base frame, as for `rotation_vector_rate`. The rates are
    written to `out`.
    """
    for n in range(vectors.shape[0]):
        store(out[n], 0, rotation_vector_rate(vector(vectors[n], 0), vector(omega[n], 0)))


@kernel
def composed_motions(
    vectors: Any, omega: Any, alpha: Any, inner_omega: Any, inner_alpha: Any
) -> None:
    """Compute angular velocities and accelerations (N, 3) of products of two rotations.

    The products are exp(x) R with rotation vectors x (N, 3) and rotations R, both moving. `omega`
    and `alpha`, those of exp(x), are overwritten by the results; `inner_omega` and `inner_alpha`
    are those of R. All are in the base frame.
    """
    for n in range(vectors.shape[0]):
        velocity, derivative = composed_motion(
            vector(vectors[n], 0),
            vector(omega[n], 0),
            vector(alpha[n], 0),
            vector(inner_omega[n], 0),
            vector(inner_alpha[n], 0),
        )
        store(omega[n], 0, velocity)
        store(alpha[n], 0, derivative)
