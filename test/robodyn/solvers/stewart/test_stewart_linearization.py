# SPDX-License-Identifier: Apache-2.0

"""The state matrix compared with second derivatives of the energy, and stability."""

import numpy as np
import pytest
from finite_differences import along, derivatives
from stewart_mechanisms import random_motion, random_platform

from robodyn.trajectories import paper_path


def parts(platform, pose, wrench=None):
    """Stiffness and damping matrix: M a = -K x - D v."""
    A = platform.linearize(pose, wrench=wrench).state_matrix
    M = platform.mass_matrix(pose)
    np.testing.assert_array_equal(A[:6], np.hstack([np.zeros((6, 6)), np.eye(6)]))
    return -M @ A[6:, :6], -M @ A[6:, 6:]


def test_stiffness_is_the_hessian_of_the_potential_less_the_forces_work(rng, platform):
    pose, *_ = random_motion(rng, platform)
    K, _ = parts(platform, pose)
    scale = np.abs(K).max()
    np.testing.assert_allclose(K, K.T, atol=1e-9 * scale)
    forces = platform.linearize(pose).efforts
    still = np.zeros(6)

    def held(x):
        moved = platform.advance(pose, x)
        return platform.energy(moved, still).potential - forces @ platform.joint_positions(moved)

    for _ in range(4):
        x = rng.normal(size=6)
        _, second = derivatives(lambda t, x=x: held(x * t))
        assert x @ K @ x == pytest.approx(second, abs=2e-7 * scale * (x @ x))


def test_damping_is_symmetric_and_takes_energy(rng, platform):
    pose, twist, *_ = random_motion(rng, platform)
    _, D = parts(platform, pose)
    np.testing.assert_allclose(D, D.T, atol=1e-10 * np.abs(D).max())
    assert np.linalg.eigvalsh(0.5 * (D + D.T)).min() > 0.0
    rate, _ = derivatives(lambda t: platform.bias(pose, twist * t))
    np.testing.assert_allclose(D @ twist, rate, atol=1e-8 * np.abs(D).max())


def test_without_friction_eigenvalues_come_in_opposite_pairs(rng):
    platform = random_platform(rng, friction=False)
    pose, *_ = random_motion(rng, platform)
    values = platform.linearize(pose).eigenvalues
    scale = np.abs(values).max()
    for value in values:
        assert np.abs(values + value).min() < 1e-6 * scale


def test_accelerations_near_the_equilibrium_are_those_of_the_state_matrix(rng, platform):
    pose, _, _, wrench = random_motion(rng, platform)
    linear = platform.linearize(pose, wrench=wrench)
    np.testing.assert_array_equal(
        linear.efforts, platform.inverse_dynamics(pose, np.zeros(6), np.zeros(6), wrench)
    )
    x, v = rng.normal(size=6), rng.normal(size=6)
    curve = along(platform, pose, x, np.zeros(6))
    rate, _ = derivatives(
        lambda t: platform.forward_dynamics(curve(t), v * t, linear.efforts, wrench)
    )
    scale = np.abs(linear.state_matrix).max()
    expected = linear.state_matrix[6:] @ np.concatenate([x, v])
    np.testing.assert_allclose(rate, expected, atol=1e-8 * scale)


def test_path_one_is_an_inverted_pendulum(paper_platform):
    linear = paper_platform.linearize(paper_path("I").sample(0.0).configuration)
    assert linear.growth_rate == pytest.approx(28.0, abs=0.1)
    assert linear.growth_rate == linear.eigenvalues[0].real
