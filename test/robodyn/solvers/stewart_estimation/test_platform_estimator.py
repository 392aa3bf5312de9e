# SPDX-License-Identifier: Apache-2.0

"""The estimator finds the pose again: on paths, from random readings, and after what goes wrong."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import Encoders
from robodyn.errors import InvalidInput, KinematicsError, NoSolution
from robodyn.solvers.stewart.estimation import PlatformEstimator

PERIOD = 5_000_000  # [ns]


@pytest.fixture
def platform(dasgupta):
    return dasgupta


def readings(platform, path, step=PERIOD):
    t = np.arange(0.0, 6.0, step * 1e-9)
    motion = rd.paper_path(path).sample(t)
    lengths = platform.joint_positions(motion.configuration)
    rates = platform.joint_velocities(motion.configuration, motion.velocity)
    stamps = 1_000_000_000 + step * np.arange(len(t))
    return stamps.tolist(), lengths, rates, motion


def errors(platform, estimate, motion, i):
    pose = np.abs(platform.difference(motion.configuration[i], estimate.pose)).max()
    return pose, np.abs(estimate.twist - motion.velocity[i]).max()


@pytest.mark.parametrize("path", ["I", "II"])
@pytest.mark.parametrize("dropped", [0.0, 0.01, 0.5])
def test_a_path_is_reproduced_though_messages_are_lost(platform, path, dropped, rng):
    stamps, lengths, rates, motion = readings(platform, path)
    estimator = PlatformEstimator(platform)
    received = np.flatnonzero(rng.random(len(stamps)) >= dropped)
    for i in received:
        estimate = estimator.update(stamps[i], lengths[i], rates[i])
        pose, twist = errors(platform, estimate, motion, i)
        assert pose < 1e-9
        assert twist < 1e-9
    assert estimator.counts.accepted == len(received)
    assert estimator.counts.acquisitions == 1
    assert estimator.counts.failures == estimator.counts.jumps == 0


def test_random_motions_are_followed_from_one_reading_to_the_next(platform, rng):
    pose, twist = platform.home, rng.normal(size=6) * np.repeat([0.05, 0.1], 3)
    estimator = PlatformEstimator(platform)
    step = 0.01
    for k in range(300):
        change = rng.normal(size=6) * np.repeat([0.3, 1.0], 3) * step
        home = platform.difference(pose, platform.home)
        # drawn back home, so that the walk stays far from singular poses
        twist = 0.98 * twist + change + 5.0 * step * home
        pose = platform.advance(pose, step * twist)
        estimate = estimator.update(
            (k + 1) * 10_000_000,
            platform.joint_positions(pose),
            platform.joint_velocities(pose, twist),
        )
        assert np.abs(platform.difference(pose, estimate.pose)).max() < 1e-9
        assert np.allclose(estimate.twist, twist, atol=1e-9)
    assert estimator.counts.acquisitions == 1


@pytest.mark.slow
def test_without_rates_the_twist_is_the_change_of_the_lengths(platform):
    step = 1_000_000
    stamps, lengths, _, motion = readings(platform, "I", step)
    estimator = PlatformEstimator(platform)
    first = estimator.update(stamps[0], lengths[0])
    assert (first.twist == 0.0).all()
    # of first order: half a step times the acceleration
    bound = 0.6 * step * 1e-9 * np.abs(motion.acceleration).max() + 1e-9
    for i in range(1, 3000):
        estimate = estimator.update(stamps[i], lengths[i])
        pose, twist = errors(platform, estimate, motion, i)
        assert pose < 1e-9
        assert twist < 2.0 * bound


def test_late_and_repeated_readings_are_dropped_and_counted(platform):
    stamps, lengths, rates, _ = readings(platform, "I")
    estimator = PlatformEstimator(platform)
    for i in (0, 1, 5):
        estimator.update(stamps[i], lengths[i], rates[i])
    before = estimator.last
    for i in (5, 3, 4, 0):
        assert estimator.update(stamps[i], lengths[i], rates[i]) is None
    assert estimator.last is before
    assert estimator.counts.stale == 4
    assert estimator.update(stamps[6], lengths[6], rates[6]).stamp == stamps[6]


def test_a_clock_set_back_begins_anew(platform):
    stamps, lengths, rates, _ = readings(platform, "I")
    estimator = PlatformEstimator(platform)
    estimator.update(10_000_000_000, lengths[-1], rates[-1])
    again = estimator.update(stamps[0], lengths[0], rates[0])
    assert again.acquired
    assert estimator.counts.set_backs == 1
    # by less than a second it is detected by the number of old readings
    taken = [estimator.update(stamps[0] - 10**8 + k, lengths[0], rates[0]) for k in range(102)]
    assert taken[:100] == [None] * 100
    assert taken[101] is not None
    assert estimator.counts.set_backs == 2


def test_after_a_jump_it_is_acquired_from_home(platform):
    stamps, lengths, rates, motion = readings(platform, "I")
    estimator = PlatformEstimator(platform)
    assert estimator.update(stamps[0], lengths[0], rates[0]).acquired
    assert not estimator.update(stamps[1], lengths[1], rates[1]).acquired
    # an encoder that lost a turn reads another mechanism's pose, and then the right one again
    last = len(stamps) - 1
    estimate = estimator.update(stamps[2], lengths[last], rates[last])
    assert estimate.acquired
    assert errors(platform, estimate, motion, last)[0] < 1e-9
    assert estimator.counts.jumps == 1
    assert not estimator.update(stamps[3], lengths[last], 0.0 * rates[last]).acquired


def test_lengths_no_pose_has_are_reported_and_forgotten(platform):
    stamps, lengths, rates, motion = readings(platform, "I")
    estimator = PlatformEstimator(platform)
    estimator.update(stamps[0], lengths[0], rates[0])
    impossible = lengths[0].copy()
    impossible[0] = 30.0
    with pytest.raises(NoSolution):
        estimator.update(stamps[1], impossible, rates[0])
    assert estimator.last is None
    assert estimator.counts.failures == 1
    estimate = estimator.update(stamps[2], lengths[2], rates[2])
    assert estimate.acquired
    assert errors(platform, estimate, motion, 2)[0] < 1e-9


def test_a_pause_longer_than_a_prediction_is_bridged(platform):
    stamps, lengths, rates, motion = readings(platform, "I")
    estimator = PlatformEstimator(platform)
    estimator.update(stamps[600], lengths[600], rates[600])
    # 0.4 s later; the legs moved by less than a jump
    estimate = estimator.update(stamps[680], lengths[680], rates[680])
    assert not estimate.acquired
    assert errors(platform, estimate, motion, 680)[0] < 1e-9


def test_beyond_the_horizon_the_last_twist_has_no_effect(platform):
    """Seen at speed, it came to rest where it was: no leg has jumped, though none went on."""
    pose = platform.home
    twist = np.array([0.0, 0.0, 0.2, 0.0, 0.0, 0.0])
    lengths, rates = platform.joint_positions(pose), platform.joint_velocities(pose, twist)
    estimator = PlatformEstimator(platform)
    estimator.update(0, lengths, rates)
    assert np.abs(rates).min() * 1.0 > 0.05  # in a second it would have gone by more than a jump
    estimate = estimator.update(1_000_000_000, lengths, np.zeros(6))
    assert not estimate.acquired
    assert estimator.counts.jumps == 0
    assert np.abs(platform.difference(pose, estimate.pose)).max() < 1e-9


@pytest.mark.parametrize(
    "bad",
    [[1.0] * 5, [[1.0] * 6], [np.nan] * 6, [np.inf] + [1.0] * 5, [1.0] * 5 + [0.0], ["a"] * 6],
)
def test_an_invalid_reading_does_not_change_the_estimator(platform, bad):
    stamps, lengths, rates, _ = readings(platform, "I")
    estimator = PlatformEstimator(platform)
    estimator.update(stamps[0], lengths[0], rates[0])
    before = estimator.last
    with pytest.raises(InvalidInput):
        estimator.update(stamps[1], bad, rates[1])
    if bad[-1] != 0.0:  # a rate may be zero
        with pytest.raises(InvalidInput):
            estimator.update(stamps[1], lengths[1], bad)
    assert estimator.last is before
    assert not estimator.update(stamps[1], lengths[1], rates[1]).acquired


@pytest.mark.parametrize(
    ("start", "encoders"),
    [(None, {"length": 0.0}), (None, {"rate": -1.0}), (None, {"jump": np.nan}), ([0.0] * 7, {})],
)
def test_parameters_out_of_range_are_refused(platform, start, encoders):
    with pytest.raises(InvalidInput):
        PlatformEstimator(platform, start, Encoders(**encoders))


def test_nothing_comes_out_that_is_not_finite_whatever_goes_in(platform, rng):
    stamps, lengths, rates, _ = readings(platform, "III")
    estimator = PlatformEstimator(platform)
    stamp = 0
    for _ in range(2000):
        i = rng.integers(len(stamps))
        stamp += int(rng.integers(-20, 100) * 1_000_000)
        length = lengths[i] * rng.choice([1.0, 1.0, 1.0, rng.uniform(0.1, 3.0), np.nan, -1.0])
        rate = rates[i] * rng.choice([1.0, 1.0, 1e3, np.inf])
        try:
            estimate = estimator.update(stamp, length, rate)
        except (InvalidInput, KinematicsError):
            continue
        if estimate is not None:
            for values in estimate[1:5]:
                assert np.isfinite(values).all()
            assert abs(np.linalg.norm(estimate.pose[3:]) - 1.0) < 1e-12


def test_readings_are_the_inverse_of_urdf_values(platform, rng):
    pose = platform.advance(platform.home, 0.05 * rng.normal(size=6))
    twist = rng.normal(size=6)
    names, positions, velocities = platform.joint_states(pose, twist)
    driven = [names.index(name) for name in platform.joint_names]
    lengths = platform.drives.signs * positions[driven] + platform.drives.offsets
    rates = platform.drives.signs * velocities[driven]
    assert np.allclose(lengths, platform.joint_positions(pose), rtol=0, atol=1e-12)
    assert np.allclose(rates, platform.joint_velocities(pose, twist), rtol=0, atol=1e-12)
