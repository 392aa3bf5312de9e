# SPDX-License-Identifier: Apache-2.0

"""Rotation kernels against finite differences of what they differentiate, and as inverses."""

import numpy as np
import pytest

from robodyn.numerics import rotations
from robodyn.poses import pose_difference, pose_from_rpy

# Central differences of order 6.
WEIGHTS = {1: 0.75, 2: -0.15, 3: 1.0 / 60.0}
ANGLES = [0.0, 1e-12, 1e-7, 9.9e-5, 1.01e-4, 0.0199, 0.0201, 1.0, 3.0, np.pi - 1e-9, np.pi]


def derivative(function, h):
    return sum(w * (function(k * h) - function(-k * h)) for k, w in WEIGHTS.items()) / h


def unit(rng):
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


def product(a, b):
    return np.array(rotations.quaternion_product(tuple(a), tuple(b)))


def exp(x):
    return np.array(rotations.quaternion_exp(tuple(x)))


def test_angular_motion_is_the_motion_of_the_angles(rng):
    rpy, rate, acceleration = rng.uniform(-2.0, 2.0, (3, 3))
    omega, alpha = rotations.angular_motion(tuple(rpy), tuple(rate), tuple(acceleration))

    def angles(t):
        return rpy + rate * t + 0.5 * acceleration * t * t

    here = pose_from_rpy(np.zeros(3), rpy)

    def rotate(t):
        return pose_difference(here, pose_from_rpy(np.zeros(3), angles(t)))[3:]

    def velocity(t):
        moving = tuple(rate + acceleration * t)
        return np.array(rotations.angular_motion(tuple(angles(t)), moving, tuple(acceleration))[0])

    # at zero displacement the rotation vector's rate is the angular velocity
    np.testing.assert_allclose(omega, derivative(rotate, 3e-3), atol=1e-11)
    np.testing.assert_allclose(alpha, derivative(velocity, 3e-3), atol=1e-10)


@pytest.mark.parametrize("angle", ANGLES)
def test_rotation_vectors_there_and_back(rng, angle):
    x = angle * unit(rng)
    q = exp(x)
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-15)
    for same in (q, -q):
        back = np.array(rotations.quaternion_log(tuple(same)))
        if angle == np.pi:  # either sense of half a turn is right
            back *= np.sign(back @ x)
        np.testing.assert_allclose(back, x, rtol=1e-14, atol=4e-15)


@pytest.mark.parametrize("angle", [3.5, 5.0, 6.2])
def test_the_logarithm_takes_the_shorter_way_round(rng, angle):
    axis = unit(rng)
    back = rotations.quaternion_log(tuple(exp(angle * axis)))
    np.testing.assert_allclose(back, (angle - 2.0 * np.pi) * axis, atol=1e-14)


def test_the_exponential_of_parallel_vectors_adds(rng):
    axis = unit(rng)
    np.testing.assert_allclose(
        product(exp(0.3 * axis), exp(1.1 * axis)), exp(1.4 * axis), atol=1e-15
    )


@pytest.mark.parametrize("angle", ANGLES)
def test_rotation_vector_motion_is_the_motion_of_its_exponential(rng, angle):
    x, rate, acceleration = angle * unit(rng), rng.normal(size=3), rng.normal(size=3)
    omega, alpha = rotations.rotation_vector_motion(tuple(x), tuple(rate), tuple(acceleration))

    def vector(t):
        return x + rate * t + 0.5 * acceleration * t * t

    inverse = exp(-x)

    def rotate(t):
        return np.array(rotations.quaternion_log(tuple(product(exp(vector(t)), inverse))))

    def velocity(t):
        moving = tuple(rate + acceleration * t)
        found = rotations.rotation_vector_motion(tuple(vector(t)), moving, tuple(acceleration))
        return np.array(found[0])

    np.testing.assert_allclose(omega, derivative(rotate, 3e-3), atol=1e-10)
    np.testing.assert_allclose(alpha, derivative(velocity, 3e-3), atol=1e-9)


@pytest.mark.parametrize("angle", [*ANGLES, 6.0])
def test_rotation_vector_rate_undoes_rotation_vector_motion(rng, angle):
    x, rate = angle * unit(rng), rng.normal(size=3)
    omega, _ = rotations.rotation_vector_motion(tuple(x), tuple(rate), (0.0, 0.0, 0.0))
    np.testing.assert_allclose(
        rotations.rotation_vector_rate(tuple(x), omega), rate, atol=1e-13 if angle < 4 else 1e-11
    )


def test_the_series_meets_the_closed_form(rng):
    axis, rate, acceleration = unit(rng), rng.normal(size=3), rng.normal(size=3)
    below, above = (
        np.concatenate(
            rotations.rotation_vector_motion(tuple(a * axis), tuple(rate), tuple(acceleration))
        )
        for a in (0.02 * (1 - 1e-13), 0.02 * (1 + 1e-13))
    )
    np.testing.assert_allclose(below, above, atol=3e-12)


def test_a_quaternion_turns_a_vector_as_its_matrix_does(rng):
    q = exp(rng.normal(size=3))
    columns = rotations.rotation_columns(np.concatenate([np.zeros(3), q]))
    a = rng.normal(size=3)
    np.testing.assert_allclose(
        rotations.rotate(tuple(q), tuple(a)), np.column_stack(columns) @ a, atol=1e-14
    )


@pytest.mark.parametrize("angle", [0.0, 1e-6, 1.0, 3.0])
def test_a_composed_motion_is_the_motion_of_the_product(rng, angle):
    x, outer, inner = angle * unit(rng), rng.normal(size=(2, 3)), rng.normal(size=(2, 3))

    def turn(motion, t):  # at t = 0 it turns with motion[0] and accelerates with motion[1]
        return exp(motion[0] * t + 0.5 * motion[1] * t * t)

    def product_at(t):
        return product(product(turn(outer, t), exp(x)), turn(inner, t))

    inverse = product_at(0.0) * [-1, -1, -1, 1]

    def rotate(t):
        return np.array(rotations.quaternion_log(tuple(product(product_at(t), inverse))))

    vectors = (tuple(v) for v in (x, *outer, *inner))
    omega, alpha = rotations.composed_motion(*vectors)
    h = 1e-3
    np.testing.assert_allclose(omega, derivative(rotate, h), atol=1e-10)
    # at zero displacement the rotation vector's second derivative is the angular acceleration
    second = sum(
        w * (rotate(k * h) + rotate(-k * h)) for k, w in {1: 1.5, 2: -0.15, 3: 1.0 / 90.0}.items()
    )
    np.testing.assert_allclose(alpha, second / h**2, atol=1e-7)
