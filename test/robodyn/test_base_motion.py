# SPDX-License-Identifier: Apache-2.0

"""Motions of a base: from poses, in other frames, from samples of an IMU."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import robodyn as rd
from robodyn.errors import InvalidInput
from robodyn.poses import composed_pose


def test_specific_force_equals_differences_of_the_base_motion(rng):
    """Of a second frame, carried along: its own motion, differentiated."""
    pose, mounted = (rd.pose_from_rpy(*rng.uniform(-1.0, 1.0, (2, 3))) for _ in range(2))
    twist, accel = rng.normal(size=(2, 6))

    def moved(t):
        turn = Rotation.from_rotvec(t * twist[3:] + 0.5 * t**2 * accel[3:])
        shift = pose[:3] + t * twist[:3] + 0.5 * t**2 * accel[:3]
        quaternion = (turn * Rotation.from_quat(pose[3:])).as_quat()
        return composed_pose(np.concatenate([shift, quaternion]), mounted)

    h = 1e-4
    later, now, sooner = moved(h), moved(0.0), moved(-h)
    force = (later[:3] - 2.0 * now[:3] + sooner[:3]) / h**2 + [0.0, 0.0, 9.81]
    R = Rotation.from_quat(now[3:])
    base = rd.BaseMotion.of(pose, twist, accel)
    there = base.felt_at(mounted)
    np.testing.assert_allclose(there.specific_force, R.inv().apply(force), atol=1e-5)
    np.testing.assert_allclose(there.angular_velocity, R.inv().apply(twist[3:]), atol=1e-12)
    np.testing.assert_allclose(there.angular_acceleration, R.inv().apply(accel[3:]), atol=1e-12)


def test_a_filter_finds_the_angular_acceleration_of_a_roll():
    """Late by 1 / cutoff, the rest of the amplitude kept; samples come when they come."""
    w, cutoff = 2.0, 100.0
    unit = rd.BaseMotionFilter(cutoff)
    times = np.cumsum(np.tile([0.004, 0.007, 0.005], 400))
    found = [unit.step(t, [0.0, 0.0, 9.81], [np.sin(w * t), 0.0, 0.0]).rows[6] for t in times]
    gain, late = 1.0 / np.hypot(1.0, w / cutoff), np.arctan(w / cutoff)
    expected = w * gain * np.cos(w * times - late)
    # a slope is that of the middle between two samples
    assert np.abs(np.array(found) - expected)[100:].max() < 0.5 * 0.007 * w**2 * 1.01


def test_a_filter_begins_anew_after_a_gap_and_refuses_the_past():
    unit = rd.BaseMotionFilter(pose=rd.pose_from_rpy([0.0, 0.0, 0.0], [0.0, 0.0, -np.pi / 2]))
    assert not unit.step(1.0, [1.0, 0.0, 9.81], [0.0, 0.0, 0.0]).angular_acceleration.any()
    moved = unit.step(1.01, [1.0, 0.0, 9.81], [0.1, 0.0, 0.0])
    assert np.abs(moved.angular_acceleration).max() > 1.0
    np.testing.assert_allclose(moved.specific_force, [0.0, -1.0, 9.81], atol=1e-12)
    for wrong in ((1.01, np.zeros(3), np.zeros(3)), (2.0, [np.nan] * 3, np.zeros(3))):
        with pytest.raises(InvalidInput):
            unit.step(*wrong)
    assert not unit.step(2.0, np.zeros(3), [5.0, 0.0, 0.0]).angular_acceleration.any()


def test_the_place_of_an_imu_does_not_matter(rng):
    base = rd.BaseMotion(*rng.normal(size=(2, 3)))
    mounted = rd.pose_from_rpy(*rng.uniform(-1.0, 1.0, (2, 3)))
    felt = base.felt_at(mounted)
    found = rd.BaseMotionFilter(pose=mounted).step(0.0, *np.split(felt.rows[:6], 2))
    np.testing.assert_allclose(found.rows, base.rows, atol=1e-12)


def test_batches_are_indexed_by_their_leading_dimensions(rng):
    many = rd.BaseMotion(*rng.normal(size=(3, 4, 2, 3)))
    np.testing.assert_array_equal(many[1, 0].rows, many.rows[1, 0])
    np.testing.assert_array_equal(many[..., None].rows, many.rows[..., None, :])
    with pytest.raises(ValueError, match="read-only"):
        many.rows[0] = 0.0
    with pytest.raises(InvalidInput, match="angular_velocity"):
        rd.BaseMotion([0.0, 0.0, 9.81], [0.0])
