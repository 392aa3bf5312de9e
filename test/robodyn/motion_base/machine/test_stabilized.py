# SPDX-License-Identifier: Apache-2.0

"""A platform held in the world: where the base is by its IMU, and the motion that undoes it."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.base_motion import BaseMotion
from robodyn.errors import InvalidInput
from robodyn.motion_base.base import BasePoseEstimator, ImuNoise
from robodyn.motion_base.machine import PositionCommander, StabilizedSource, goal, seen_from
from robodyn.numerics import rotations_batch
from robodyn.poses import composed_pose, inverse_pose, pose_difference

DT, TICK = 0.02, 20_000_000
# [rad/s] of the waves, which no line of a model lies on
WAVES = np.array([0.63, 0.81, 1.07, 1.6])
SIZES = np.array([0.05, 0.04, 0.06, 0.03, 0.04, 0.02])  # [m], [rad]


def boat(times, rng, sizes=SIZES):
    """Poses (K, 7), twists and accels (K, 6) of a base in a short sea."""
    phases = rng.uniform(0.0, 2.0 * np.pi, (len(WAVES), 6))
    each = sizes * np.exp(1j * (times[:, None, None] * WAVES[:, None] + phases))
    moved = [((1j * WAVES[:, None]) ** k * each).real.sum(axis=1) for k in range(3)]
    omega, alpha = np.empty((2, len(times), 3))
    angles = [np.ascontiguousarray(part[:, 3:]) for part in moved]
    rotations_batch.angular_motions(*angles, omega, alpha)
    pose = rd.pose_from_rpy(moved[0][:, :3], angles[0])
    return pose, np.hstack([moved[1][:, :3], omega]), np.hstack([moved[2][:, :3], alpha])


@pytest.fixture(scope="module")
def settled(random_numbers):
    """A sea, and an estimator that has felt it up to its end, with biases and noise."""
    rng = random_numbers("sea")
    times = np.arange(0.0, 100.0, DT)
    pose, twist, accel = boat(times, rng)
    felt = BaseMotion.of(pose, twist, accel).rows[:, :6].copy()
    noise = ImuNoise()
    felt[:, :3] += 1e-3 + rng.normal(0.0, noise.accelerometer / np.sqrt(2 * DT), (len(times), 3))
    felt[:, 3:] += 1e-4 + rng.normal(0.0, noise.gyroscope / np.sqrt(2 * DT), (len(times), 3))
    estimator, found = BasePoseEstimator(noise), []
    for k, row in enumerate(felt[:-1]):
        estimator.step(k * TICK, BaseMotion(row[:3], row[3:]))
        found.append(estimator.at((k + 1) * TICK))
    return estimator, (pose, twist, accel), found


@pytest.mark.slow
def test_a_sea_is_found_without_lag(settled):
    """Samples are 20 ms old: that is predicted. Slow errors are those of the gyroscope's noise."""
    _, (pose, twist, _), found = settled
    assert found[1000] is None  # not settled yet
    late = range(3500, len(found))
    xyz, rpy = rd.rpy_from_pose(np.array([found[k][0] for k in late]))
    true_xyz, true_rpy = rd.rpy_from_pose(pose[1:][late])
    spread = np.hstack([true_xyz, true_rpy]).std(axis=0)
    error = np.hstack([xyz - true_xyz, rpy - true_rpy]).std(axis=0) / spread
    assert (error[:2] < 0.5).all()  # [m] some 30 mm, of 70
    assert error[2] < 0.15
    assert (error[3:5] < 0.01).all()
    assert error[5] < 0.03
    speeds = np.array([found[k][1] for k in late])[:, 2:]
    assert (np.abs(speeds - twist[1:][late][:, 2:]).std(axis=0) < 0.01).all()


def test_seen_from_agrees_with_differences_of_poses(rng):
    h = 1e-4
    times = np.arange(-2, 3) * h
    base, body = boat(times, rng), boat(times, rng)
    seen = [seen_from(*([part[k] for part in each] for each in (base, body))) for k in range(5)]
    poses = np.array([each[0] for each in seen])
    np.testing.assert_allclose(composed_pose(base[0], poses), body[0], atol=1e-12)
    speed = pose_difference(poses[1], poses[3]) / (2.0 * h)
    np.testing.assert_allclose(seen[2][1], speed, atol=1e-7)
    change = (seen[3][1] - seen[1][1]) / (2.0 * h)
    np.testing.assert_allclose(seen[2][2], change, atol=1e-7)


def test_an_inverse_pose_takes_back(rng):
    pose = rd.pose_from_rpy(rng.normal(size=(5, 3)), rng.normal(size=(5, 3)))
    there = composed_pose(pose, inverse_pose(pose))
    np.testing.assert_allclose(there, np.tile([0, 0, 0, 0, 0, 0, 1.0], (5, 1)), atol=1e-12)


class Known:
    """An estimator that knows."""

    patience = 0.0

    def __init__(self, rng, sizes):
        self.rng_state = rng.bit_generator.state
        self.rng, self.sizes = rng, sizes

    def at(self, time):
        self.rng.bit_generator.state = self.rng_state
        return tuple(part[0] for part in boat(np.array([1e-9 * time]), self.rng, self.sizes))


@pytest.mark.slow
def test_a_platform_stays_in_the_world_when_its_base_is_known(rng):
    m, base = rd.load("stewart_symmetric"), Known(rng, 0.4 * SIZES)
    commander = PositionCommander(m, 0.005)
    aside = m.joint_positions(m.advance(m.home, [0.02, 0.0, 0.02, 0.0, 0.0, 0.1]))
    commander.motion_source = StabilizedSource(commander, base)
    commander.motion_source.motion_source = still = goal(m, aside, m.home)
    for k in range(1, 400):
        commander.step(k * 5_000_000)
    assert commander.has_arrived
    there = composed_pose(base.at(399 * 5_000_000)[0], commander.configuration)
    error = pose_difference(m.body_pose(still.at(0).configuration), there)
    assert np.abs(error).max() < 1e-5
    assert commander.motion_source.fraction == 1.0


@pytest.mark.slow
def test_a_sea_too_large_for_a_platform_is_taken_back_in_part_and_it_stays_level(rng):
    m, base = rd.load("stewart_symmetric"), Known(rng, SIZES * [8.0, 8.0, 8.0, 1.0, 1.0, 1.0])
    commander, left = PositionCommander(m, 0.02), []
    commander.motion_source = StabilizedSource(commander, base)
    commander.motion_source.motion_source = goal(m, m.joint_positions(m.home), m.home)
    for k in range(1, 1200):
        commander.step(k * TICK)
        if k > 700:
            left.append(composed_pose(base.at(k * TICK)[0], commander.configuration))
    assert commander.motion_source.fraction < 0.5
    turned = np.array(rd.rpy_from_pose(np.array(left))[1])
    assert np.sqrt(np.mean(turned**2)) < 0.3 * np.sqrt(2.0) * SIZES[3]


def test_implausible_base_motions_are_refused_and_a_silent_imu_brings_the_base_to_rest(settled):
    estimator = settled[0]
    stamp = round(100.0 / DT) * TICK
    for felt, words in (
        (BaseMotion([0.0, 0.0, 200.0]), "200 m/s"),
        (BaseMotion([0.0, 0.0, 9.8], [9.0, 0.0, 0.0]), "9 rad/s"),
    ):
        with pytest.raises(InvalidInput, match=words):
            estimator.step(stamp, felt)
    with pytest.raises(InvalidInput, match="after the previous"):
        estimator.step(0, BaseMotion([0.0, 0.0, 9.8]))
    m = rd.load("stewart_symmetric")
    commander = PositionCommander(m, DT)
    commander.motion_source = StabilizedSource(commander, estimator)
    commander.motion_source.motion_source = goal(m, m.joint_positions(m.home), m.home)
    assert not commander.step(stamp).problem
    point = commander.step(stamp + 10**9)
    assert "base_imu" in point.problem
    assert not commander.step(stamp).problem
    estimator.step(stamp + 2 * 10**9, BaseMotion([0.0, 0.0, 9.8]))  # starts again
    assert estimator.at(stamp + 2 * 10**9) is None
    with pytest.raises(InvalidInput, match="moves its body in 3 of six degrees of freedom"):
        StabilizedSource(PositionCommander(rd.load("delta"), DT), estimator)
