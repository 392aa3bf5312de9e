# SPDX-License-Identifier: Apache-2.0

"""tf_transformations as the nodes use it: quaternions of R = Rz(yaw) Ry(pitch) Rx(roll)."""

import numpy as np
import pytest
from tf_transformations import euler_from_quaternion, quaternion_from_euler

from robodyn.poses import rotation_matrix


def about(axis, angle):
    """The rotation about a coordinate axis."""
    (c, s), (i, j) = (np.cos(angle), np.sin(angle)), [k for k in range(3) if k != axis]
    matrix = np.eye(3)
    matrix[[i, i, j, j], [i, j, i, j]] = (c, s, -s, c) if axis == 1 else (c, -s, s, c)
    return matrix


def rotation(quaternion):
    return rotation_matrix([0.0, 0.0, 0.0, *quaternion])


def test_the_axes_are_the_papers(rng):
    for roll, pitch, yaw in rng.uniform(-3.0, 3.0, (50, 3)):
        expected = about(2, yaw) @ about(1, pitch) @ about(0, roll)
        assert rotation(quaternion_from_euler(roll, pitch, yaw)) == pytest.approx(expected)


def test_angles_return(rng):
    for angles in rng.uniform(-1.5, 1.5, (50, 3)):
        quaternion = np.array(quaternion_from_euler(*angles))
        assert euler_from_quaternion(quaternion) == pytest.approx(tuple(angles))
        assert euler_from_quaternion(-2.0 * quaternion) == pytest.approx(tuple(angles))


@pytest.mark.parametrize("pitch", [np.pi / 2.0, -np.pi / 2.0])
def test_at_gimbal_lock_the_rotation_returns_without_yaw(pitch):
    quaternion = quaternion_from_euler(0.3, pitch, 0.5)
    angles = euler_from_quaternion(quaternion)
    assert rotation(quaternion_from_euler(*angles)) == pytest.approx(rotation(quaternion), abs=1e-7)
