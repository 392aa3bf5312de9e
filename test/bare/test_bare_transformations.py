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

"""tf_transformations against scipy and known values."""

import numpy as np
import pytest
import tf_transformations as tf
from scipy.spatial.transform import Rotation

RNG = np.random.default_rng(7)
ANGLES = RNG.uniform(-1.5, 1.5, (20, 3))


def same_rotation(a, b) -> bool:
    return abs(abs(np.dot(a, b)) - 1.0) < 1e-12


def test_known_values():
    half = np.sqrt(0.5)
    np.testing.assert_allclose(tf.quaternion_from_euler(0, 0, np.pi / 2), (0, 0, half, half))
    np.testing.assert_allclose(tf.quaternion_from_euler(np.pi / 2, 0, 0), (half, 0, 0, half))
    assert tf.euler_from_quaternion((0, 0, 0, 1)) == (0, 0, 0)
    np.testing.assert_allclose(
        tf.quaternion_multiply((1, -2, 3, 4), (-5, 6, 7, 8)), (-44, -14, 48, 28)
    )
    np.testing.assert_allclose(tf.quaternion_conjugate((1, 2, 3, 4)), (-1, -2, -3, 4))
    np.testing.assert_allclose(
        tf.quaternion_about_axis(0.123, (1, 0, 0)), (0.06146124, 0, 0, 0.99810947), atol=1e-8
    )
    np.testing.assert_allclose(
        tf.quaternion_from_euler(1, 2, 3, "ryxz"),
        (0.310622, -0.718287, 0.444435, 0.435953),
        atol=1e-6,
    )


@pytest.mark.parametrize("rpy", ANGLES)
def test_against_scipy(rpy):
    reference = Rotation.from_euler("xyz", rpy)
    quaternion = tf.quaternion_from_euler(*rpy)
    assert same_rotation(quaternion, reference.as_quat())
    np.testing.assert_allclose(tf.euler_from_quaternion(quaternion), rpy, atol=1e-12)
    matrix = tf.quaternion_matrix(quaternion)
    np.testing.assert_allclose(matrix[:3, :3], reference.as_matrix(), atol=1e-12)
    np.testing.assert_allclose(matrix[3], (0, 0, 0, 1))
    np.testing.assert_allclose(tf.euler_matrix(*rpy), matrix, atol=1e-12)
    assert same_rotation(tf.quaternion_from_matrix(matrix), quaternion)
    np.testing.assert_allclose(tf.euler_from_matrix(matrix), rpy, atol=1e-12)
    # Not normalized: the same rotation.
    np.testing.assert_allclose(tf.quaternion_matrix(3 * np.array(quaternion)), matrix, atol=1e-12)


def test_product_and_inverse():
    a, b = (Rotation.from_euler("xyz", rpy) for rpy in ANGLES[:2])
    product = tf.quaternion_multiply(a.as_quat(), b.as_quat())
    assert same_rotation(product, (a * b).as_quat())
    unit = tf.quaternion_multiply((1, 2, 3, 4), tf.quaternion_inverse((1, 2, 3, 4)))
    np.testing.assert_allclose(unit, (0, 0, 0, 1), atol=1e-15)


def test_matrices():
    move, turn = tf.translation_matrix((1, 2, 3)), tf.euler_matrix(0, 0, np.pi / 2)
    both = tf.concatenate_matrices(move, turn)
    np.testing.assert_allclose(both @ (1, 0, 0, 1), (1, 3, 3, 1), atol=1e-15)
    np.testing.assert_allclose(tf.translation_from_matrix(both), (1, 2, 3))
    np.testing.assert_allclose(tf.inverse_matrix(both) @ both, np.identity(4), atol=1e-15)
    np.testing.assert_allclose(tf.concatenate_matrices(), tf.identity_matrix())
    np.testing.assert_allclose(tf.rotation_matrix(np.pi / 2, (0, 0, 1)), turn, atol=1e-15)
