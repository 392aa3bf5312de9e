# SPDX-License-Identifier: Apache-2.0

"""There and back: a platform's motion as that of its legs, and from the legs again."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.control import joint_motion, trajectory_from_joints
from robodyn.errors import InvalidInput, NoSolution
from robodyn.trajectories import knot_times


@pytest.fixture
def path():
    return rd.paper_path("I")


@pytest.fixture
def times(path):
    return knot_times(path.duration, path.switching_times, 0.1)


def test_velocities_are_the_derivatives_of_positions_and_accelerations_of_velocities(
    dasgupta, puma, path, rng
):
    arm_path = rd.plan_joints(np.zeros(6), rng.normal(size=6), 6.0)
    h = 1e-4
    for mechanism, motion in ((dasgupta, path), (puma, arm_path)):
        before, here, after = (joint_motion(mechanism, motion, 0.7 + dt) for dt in (-h, 0.0, h))
        rate = (after.positions - before.positions) / (2 * h)
        np.testing.assert_allclose(here.velocities, rate, atol=1e-8)
        change = (after.velocities - before.velocities) / (2 * h)
        np.testing.assert_allclose(here.accelerations, change, atol=1e-8)


def test_efforts_do_the_work_that_the_energy_takes(dasgupta, path):
    platform = dasgupta.without_friction()
    h, t = 1e-4, 1.3
    motion = joint_motion(platform, path, t)
    energies = [sum(platform.energy(*path.sample(t + dt)[:2])[:2]) for dt in (-h, h)]
    power = (energies[1] - energies[0]) / (2 * h)
    assert motion.efforts @ motion.velocities == pytest.approx(power, rel=1e-6)


def test_shapes_follow_the_times(dasgupta, puma, path):
    for values in joint_motion(dasgupta, path, np.zeros((3, 2))):
        assert values.shape == (3, 2, 6)
    arm_path = rd.plan_joints(np.zeros(6), np.ones(6), 1.0)
    motion = joint_motion(puma, arm_path, [0.0, 0.5])
    for found, expected in zip(motion[:3], arm_path.sample([0.0, 0.5]), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(motion.efforts, puma.inverse_dynamics(*motion[:3]))


def test_from_the_legs_the_platform_moves_as_it_did(dasgupta, path, times):
    legs = joint_motion(dasgupta, path, times)
    found = trajectory_from_joints(dasgupta, times, *legs[:3], guess=path.sample(0.0).configuration)
    np.testing.assert_array_equal(found.times, times)
    expected = path.sample(times)
    error = dasgupta.difference(expected.configuration, found.knots.configuration)
    assert np.abs(error).max() < 1e-10
    np.testing.assert_allclose(found.knots.velocity, expected.velocity, atol=1e-10)
    np.testing.assert_allclose(found.knots.acceleration, expected.acceleration, atol=1e-9)
    # and between the knots
    t = np.linspace(0.0, 6.0, 333)
    error = dasgupta.difference(path.sample(t).configuration, found.sample(t).configuration)
    assert np.abs(error).max() < 1e-6


def test_accelerations_may_be_left_out(dasgupta, path, times):
    lengths, rates, *_ = joint_motion(dasgupta, path, times)
    found = trajectory_from_joints(dasgupta, times, lengths, rates)
    np.testing.assert_allclose(found.knots.velocity, path.sample(times).velocity, atol=1e-10)
    # legs at constant rate leave the platform what its turning takes
    accelerations = joint_motion(dasgupta, found, times).accelerations
    np.testing.assert_allclose(accelerations, 0.0, atol=1e-9)


def test_trajectory_from_joints_stays_on_the_branch_of_its_guess(dasgupta, path, times):
    mirrored = np.array(path.sample(0.0).configuration)
    mirrored[2] *= -1.0  # below its base
    legs = joint_motion(dasgupta, path, times)
    below = trajectory_from_joints(dasgupta, times, *legs[:3], guess=mirrored)
    assert (below.knots.configuration[:, 2] < -0.3).all()
    lengths = dasgupta.joint_positions(below.knots.configuration)
    np.testing.assert_allclose(lengths, legs.positions, atol=1e-9)


def test_lengths_of_no_pose_are_refused_with_their_knot(dasgupta, path, times):
    lengths, rates, *_ = joint_motion(dasgupta, path, times)
    lengths[5] = [0.1, 3.0, 0.1, 3.0, 0.1, 3.0]
    with pytest.raises(NoSolution, match=r"at element \[5\]"):
        trajectory_from_joints(dasgupta, times, lengths, rates)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"positions": np.ones((3, 6))}, r"positions has shape \(3, 6\), expected"),
        ({"velocities": np.ones((2, 5))}, r"velocities has shape \(2, 5\)"),
        ({"accelerations": np.full((2, 6), np.nan)}, r"accelerations\[0, 0\] is nan"),
        ({"positions": -np.ones((2, 6))}, "expected positive"),
        ({"times": [1.0, 1.0]}, "be strictly increasing"),
    ],
)
def test_trajectory_from_joints_rejects_invalid_leg_motions(dasgupta, change, text):
    lengths = np.tile(dasgupta.joint_positions(dasgupta.home), (2, 1))
    given = {"times": [0.0, 1.0], "positions": lengths, "velocities": np.zeros((2, 6))} | change
    with pytest.raises(InvalidInput, match=text):
        trajectory_from_joints(dasgupta, **given)


def test_limited_efforts_accelerate_along_the_motion():
    """A point whose efforts exceed limits keeps the direction of its acceleration."""
    m = rd.load("fivebar").without_friction()
    start = m.joint_positions(m.home)
    line = rd.plan_joints(start, start + np.array([0.4, -0.2]), duration=0.08, profile="quintic")
    times = np.linspace(0.0, line.duration, 50)
    path = trajectory_from_joints(m, times, *line.sample(times))
    required = joint_motion(m, path, times).efforts
    limited = joint_motion(m, path, times, is_limited=True).efforts
    exceeds = (np.abs(required) > m.effort_limits).any(axis=1)
    assert 5 < exceeds.sum() < 45
    np.testing.assert_array_equal(limited[~exceeds], required[~exceeds])
    assert (np.abs(limited) <= m.effort_limits).all()
    q, v, a = (part[exceeds] for part in path.sample(times))
    caused = m.forward_dynamics(q, v, limited[exceeds])
    fraction = (caused * a).sum(axis=1) / (a * a).sum(axis=1)
    assert (fraction < 1.0).all()
    np.testing.assert_allclose(caused, fraction[:, None] * a, atol=1e-6 * np.abs(a).max())
