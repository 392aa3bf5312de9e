# SPDX-License-Identifier: Apache-2.0

"""Accuracy of a body's pose from the accuracy of drives and geometry, to first order."""

from __future__ import annotations

import numpy as np

from robodyn.algorithms.geometry import geometry_of
from robodyn.arrays import FloatArray
from robodyn.designing.requirements import Accuracy
from robodyn.mechanism.mechanism import Mechanism


def pose_accuracy(m: Mechanism, accuracy: Accuracy, configurations: FloatArray) -> FloatArray:
    """Compute the standard deviations of the body's pose due to inaccurate parts.

    The result is the largest over all configurations. Errors of the drives' positions q and of the
    coordinates g of the joints' centers are independent; the covariance of the pose is X_q s_q^2
    X_q' + X_g s_g^2 X_g' with the derivatives X of the pose with respect to q and g.

    Args:
        m: mechanism.
        accuracy: standard deviations s_q of the drives' positions and s_g of the joints' centers.
        configurations: (K, nq) at which the accuracy is computed.

    Returns:
        Standard deviations (6,) [m, rad] of the body's position and of its rotation about x, y and
        z of the base frame.

    Raises:
        InvalidInput: a standard deviation of the geometry is given, but the dimensions of this kind
            of mechanism are not known.
    """
    if accuracy.geometry:
        geometry = geometry_of(m)
        values = np.array([each.value for each in geometry.parameters])
        centers = [
            each.unit == "m" and not each.name.endswith((".offset", ".length"))
            for each in geometry.parameters
        ]
        placed = geometry.place(values, m.joint_positions(configurations),
                                m.body_pose(configurations))  # fmt: skip
        by_joint, by_center = placed.by_joint, placed.by_parameter[..., centers]
    else:
        rates = np.linalg.pinv(m.joint_jacobian(configurations))
        by_joint = m.twist_jacobian(configurations) @ rates
        by_center = np.zeros((len(configurations), 6, 0))
    variance = (accuracy.position * by_joint) ** 2
    of_geometry = (accuracy.geometry * by_center) ** 2
    total = variance.sum(axis=-1) + of_geometry.sum(axis=-1)
    return np.asarray(np.sqrt(total.max(axis=0)))
