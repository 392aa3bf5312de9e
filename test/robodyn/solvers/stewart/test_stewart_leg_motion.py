# SPDX-License-Identifier: Apache-2.0

"""The legs' motion against differences of the platform's geometry, and its constraints."""

import numpy as np
import pytest
from finite_differences import along, derivatives
from six_legs import six_legs
from stewart_mechanisms import random_motion, random_platform

from robodyn.poses import rotation_matrix
from robodyn.solvers.stewart.leg_shape import universal_zero_frame


def leg_frames(platform, pose):
    """Axes [s y z] (6, 3, 3) and lengths (6,) from the definition of the leg frame alone."""
    model = six_legs(platform)
    R = rotation_matrix(pose)
    S = np.array([pose[:3] + R @ leg.platform - leg.base for leg in model.legs])
    length = np.linalg.norm(S, axis=1)
    s = S / length[:, None]
    y = np.cross([leg.universal_axis for leg in model.legs], s)
    y /= np.linalg.norm(y, axis=1)[:, None]
    return np.stack([s, y, np.cross(s, y)], axis=-1), length


def vee(matrix):
    skew = 0.5 * (matrix - np.swapaxes(matrix, -1, -2))
    return np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)


def test_every_rate_is_the_derivative_of_the_geometry(rng, platform):
    pose, twist, accel, _ = random_motion(rng, platform)
    curve = along(platform, pose, twist, accel)
    legs = platform.leg_motion(pose, twist, accel)
    frames, length = leg_frames(platform, pose)
    np.testing.assert_allclose(legs.length, length, rtol=1e-14)
    np.testing.assert_allclose(legs.direction, frames[..., 0], atol=1e-14)

    rate, acceleration = derivatives(lambda t: platform.inverse_kinematics(curve(t)))
    np.testing.assert_allclose(legs.rate, rate, atol=1e-8)
    np.testing.assert_allclose(legs.acceleration, acceleration, atol=1e-7)
    np.testing.assert_allclose(platform.joint_velocities(pose, twist), legs.rate, atol=1e-13)

    # T' = [W]x T and T'' = ([A]x + [W]x [W]x) T
    first, second = derivatives(lambda t: leg_frames(platform, curve(t))[0])
    transposed = np.swapaxes(frames, -1, -2)
    np.testing.assert_allclose(legs.angular_velocity, vee(first @ transposed), atol=1e-7)
    np.testing.assert_allclose(legs.angular_acceleration, vee(second @ transposed), atol=2e-6)


def test_jacobian_is_the_derivative_of_the_lengths(rng, platform):
    pose, *_ = random_motion(rng, platform)
    H = platform.jacobian(pose)
    for j, direction in enumerate(np.eye(6)):
        curve = along(platform, pose, direction, np.zeros(6))
        rate, _ = derivatives(lambda t, curve=curve: platform.inverse_kinematics(curve(t)))
        np.testing.assert_allclose(H[j], rate, atol=1e-10)


def test_universal_joint_turns_about_its_two_axes_only(rng, platform):
    pose, twist, accel, _ = random_motion(rng, platform)
    legs = platform.leg_motion(pose, twist, accel)
    k = np.array([leg.universal_axis for leg in six_legs(platform).legs])
    y = leg_frames(platform, pose)[0][..., 1]
    about_k, about_y = legs.universal_rates[..., :1], legs.universal_rates[..., 1:]
    np.testing.assert_allclose(legs.angular_velocity, about_k * k + about_y * y, atol=1e-12)


def test_platform_point_moves_with_its_leg(rng, platform):
    """L' s + L W x s is the velocity of the platform's point: two ways to the same joint."""
    pose, twist, accel, _ = random_motion(rng, platform)
    legs = platform.leg_motion(pose, twist, accel)
    R = rotation_matrix(pose)
    for i, leg in enumerate(six_legs(platform).legs):
        q, s, W = R @ leg.platform, legs.direction[i], legs.angular_velocity[i]
        by_leg = legs.rate[i] * s + legs.length[i] * np.cross(W, s)
        np.testing.assert_allclose(by_leg, twist[:3] + np.cross(twist[3:], q), atol=1e-12)
        by_leg = (
            legs.acceleration[i] * s
            + 2.0 * legs.rate[i] * np.cross(W, s)
            + legs.length[i] * np.cross(legs.angular_acceleration[i], s)
            + legs.length[i] * np.cross(W, np.cross(W, s))
        )
        turning = np.cross(accel[3:], q) + np.cross(twist[3:], np.cross(twist[3:], q))
        np.testing.assert_allclose(by_leg, accel[:3] + turning, atol=1e-11)


def test_urdf_joint_values_rebuild_the_leg_frame(rng, platform):
    pose, twist, _, _ = random_motion(rng, platform)
    joints = platform.joint_states(pose, twist)
    frames, length = leg_frames(platform, pose)
    assert joints.names[3:6] == ("leg2_universal_1", "leg2_universal_2", "leg2_actuator")
    for i, leg in enumerate(six_legs(platform).legs):
        q1, q2, q3 = joints.positions[3 * i : 3 * i + 3]
        turn_z = [[np.cos(q1), -np.sin(q1), 0], [np.sin(q1), np.cos(q1), 0], [0, 0, 1]]
        turn_y = [[np.cos(q2), 0, np.sin(q2)], [0, 1, 0], [-np.sin(q2), 0, np.cos(q2)]]
        T = universal_zero_frame(leg.universal_axis) @ turn_z @ turn_y
        np.testing.assert_allclose(T, frames[i], atol=1e-13)
        assert q3 == pytest.approx(length[i])
    curve = along(platform, pose, twist, np.zeros(6))
    rate, _ = derivatives(lambda t: platform.joint_states(curve(t)).positions)
    np.testing.assert_allclose(joints.velocities, rate, atol=1e-7)


def test_a_leg_on_a_spherical_joint_does_not_spin(rng):
    platform = random_platform(rng, base_joint="spherical")
    pose, twist, accel, _ = random_motion(rng, platform)
    legs = platform.leg_motion(pose, twist, accel)
    spin = (legs.direction * legs.angular_velocity).sum(axis=-1)
    np.testing.assert_allclose(spin, 0.0, atol=1e-13)
    np.testing.assert_allclose(
        (legs.direction * legs.angular_acceleration).sum(axis=-1), 0.0, atol=1e-12
    )
    curve = along(platform, pose, twist, accel)
    first, _ = derivatives(lambda t: platform.leg_motion(curve(t)).direction)
    np.testing.assert_allclose(np.cross(legs.angular_velocity, legs.direction), first, atol=1e-8)
