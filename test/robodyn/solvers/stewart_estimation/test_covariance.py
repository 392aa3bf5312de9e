# SPDX-License-Identifier: Apache-2.0

"""Covariances against differences of the kinematics and against drawn errors."""

import numpy as np
import pytest

from robodyn.algorithms import Encoders, quantization_deviation
from robodyn.errors import InvalidInput, SingularConfiguration
from robodyn.poses import rotation_matrix, twist_covariance_in_body, twist_in_body
from robodyn.solvers.stewart.estimation import (
    PlatformEstimator,
    motion_covariance,
    rate_sensitivity,
)

RESOLUTION, RATE_RESOLUTION = 1e-5, 1e-4


@pytest.fixture
def pose(dasgupta, rng):
    while True:
        step = rng.normal(size=6) * np.repeat([0.05, 0.2], 3)
        found = dasgupta.advance(dasgupta.home, step)
        if dasgupta.condition_number(found) < 100.0:
            return found


def test_rates_change_with_the_pose_as_differences_say(dasgupta, pose, rng):
    twist = rng.normal(size=6)
    h = 1e-6
    steps = h * np.eye(6)
    ahead, backward = dasgupta.advance(pose, steps), dasgupta.advance(pose, -steps)
    rates = [dasgupta.joint_velocities(p, np.tile(twist, (6, 1))) for p in (ahead, backward)]
    expected = ((rates[0] - rates[1]) / (2.0 * h)).T
    assert np.allclose(rate_sensitivity(dasgupta, pose, twist), expected, rtol=0, atol=1e-7)


def test_drawn_readings_scatter_as_the_covariance_says(dasgupta, pose, rng):
    """Rounded encoders, 20 000 readings: covariances to within their own sampling errors."""
    twist = rng.normal(size=6)
    n = 20_000
    lengths = dasgupta.joint_positions(pose) + rng.uniform(-0.5, 0.5, (n, 6)) * RESOLUTION
    rates = (
        dasgupta.joint_velocities(pose, twist) + rng.uniform(-0.5, 0.5, (n, 6)) * RATE_RESOLUTION
    )
    drawn = dasgupta.forward_kinematics(lengths, pose, rates=rates)
    expected = motion_covariance(
        dasgupta,
        pose,
        twist,
        quantization_deviation(RESOLUTION),
        quantization_deviation(RATE_RESOLUTION),
    )
    samples = dasgupta.difference(pose, drawn.pose), drawn.twist - twist
    for sample, covariance in zip(samples, expected, strict=True):
        # whitened errors have the unit matrix as covariance; six standard errors of 1/sqrt(n)
        white = np.linalg.solve(np.linalg.cholesky(covariance), (sample - sample.mean(axis=0)).T)
        assert np.abs(white @ white.T / n - np.eye(6)).max() < 6.0 * np.sqrt(2.0 / n)


def test_covariances_are_symmetric_and_positive(dasgupta, pose, rng):
    for covariance in motion_covariance(dasgupta, pose, rng.normal(size=6), 1e-5, 1e-4):
        assert (covariance == covariance.T).all()
        assert np.linalg.eigvalsh(covariance).min() > 0.0


def test_an_estimate_carries_the_covariances_of_its_readings(dasgupta, pose, rng):
    twist = rng.normal(size=6)
    estimator = PlatformEstimator(dasgupta, pose, Encoders(RESOLUTION, RATE_RESOLUTION))
    lengths = dasgupta.joint_positions(pose)
    estimate = estimator.update(1, lengths, dasgupta.joint_velocities(pose, twist))
    of_length = quantization_deviation(RESOLUTION)
    of_pose, of_twist = motion_covariance(
        dasgupta, pose, twist, of_length, quantization_deviation(RATE_RESOLUTION)
    )
    assert np.allclose(estimate.pose_covariance, of_pose, rtol=1e-6, atol=0)
    assert np.allclose(estimate.twist_covariance, of_twist, rtol=1e-6, atol=1e-18)
    # differences of two rounded lengths, 0.1 s apart, are rates of that precision
    second = estimator.update(100_000_001, lengths)
    _, coarse = motion_covariance(
        dasgupta, pose, second.twist, of_length, np.sqrt(2.0) * of_length / 0.1
    )
    assert np.allclose(second.twist_covariance, coarse, rtol=1e-6, atol=1e-18)


def test_the_uncertainty_of_a_twist_turns_with_the_platform(dasgupta, pose, rng):
    root = rng.normal(size=(6, 6))
    covariance = root @ root.T
    turned = twist_covariance_in_body(pose, covariance)
    # for any twist, the information it carries is the same in both frames
    twist = rng.normal(size=6)
    in_body = twist_in_body(pose, twist)
    information = twist @ np.linalg.solve(covariance, twist)
    assert np.isclose(in_body @ np.linalg.solve(turned, in_body), information, rtol=1e-8)
    R = rotation_matrix(pose)
    assert np.allclose(turned[:3, 3:], R.T @ covariance[:3, 3:] @ R)


def test_uniform_rounding_has_the_deviation_of_a_uniform_error(rng):
    errors = rng.uniform(-0.5, 0.5, 200_000) * 3e-4
    assert np.isclose(quantization_deviation(3e-4), errors.std(), rtol=0.02)
    for bad in (0.0, -1.0, np.nan):
        with pytest.raises(InvalidInput, match="length of the encoders"):
            Encoders(length=bad)


def test_where_lengths_do_not_determine_the_pose_it_is_said(dasgupta, monkeypatch):
    H = np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 0.0])
    monkeypatch.setattr(type(dasgupta), "jacobian", lambda self, pose: H)
    with pytest.raises(SingularConfiguration) as caught:
        motion_covariance(dasgupta, dasgupta.home, np.zeros(6), 1e-5, 1e-4)
    assert caught.value.smallest_singular_value == 0.0
    assert abs(caught.value.direction[5]) == pytest.approx(1.0)
