# SPDX-License-Identifier: Apache-2.0

"""Knots from a message: exact at knots, exact for parabolic blends, no trouble at gimbal lock."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import InvalidInput
from robodyn.poses import pose_difference
from robodyn.trajectories import Motion, SampledTrajectory, knot_times, plan_line_rpy


def sampled(mechanism, trajectory, period):
    times = knot_times(trajectory.duration, trajectory.switching_times, period)
    return SampledTrajectory(mechanism, times, trajectory.sample(times))


@pytest.mark.parametrize("name", ["I", "II", "III", "P1"])
def test_a_knot_is_answered_as_it_is(dasgupta, name):
    path = rd.paper_path(name)
    knots = sampled(dasgupta, path, 0.05)
    for found, given in zip(knots.sample(knots.times), path.sample(knots.times), strict=True):
        np.testing.assert_array_equal(found, given)
    assert knots.duration == pytest.approx(path.duration, abs=1e-9)
    assert knots.switching_times == tuple(knots.times[1:-1])


@pytest.mark.parametrize("name", ["I", "II", "P1"])
def test_parabolic_blends_about_one_axis_are_exact_between_knots(dasgupta, rng, name):
    path = rd.paper_path(name)
    knots = sampled(dasgupta, path, 0.05 * path.duration)
    t = rng.uniform(0.0, path.duration, 200)
    # knots are whole nanoseconds, so the switch itself is off by half of one
    t = t[np.abs(t[:, None] - path.switching_times).min(axis=1, initial=1.0) > 1e-6]
    found, exact = knots.sample(t), path.sample(t)
    assert np.abs(pose_difference(exact.configuration, found.configuration)).max() < 1e-9
    np.testing.assert_allclose(found.velocity, exact.velocity, atol=1e-8)
    np.testing.assert_allclose(found.acceleration, exact.acceleration, atol=2e-6)


@pytest.mark.parametrize("pitch", [0.4, 0.5 * np.pi])
def test_orientation_is_of_order_four_whatever_the_pitch(dasgupta, pitch):
    rpy = [[0.1, pitch - 0.3, 0.2], [0.5, pitch + 0.3, -0.4]]
    path = plan_line_rpy(np.zeros((2, 3)) + 0.5, rpy, 2.0, profile="quintic")
    t = np.linspace(0.0, 2.0, 977)
    errors = []
    for period in (0.1, 0.05):
        found, exact = sampled(dasgupta, path, period).sample(t), path.sample(t)
        errors.append(np.abs(pose_difference(exact.configuration, found.configuration)).max())
        assert np.abs(found.velocity - exact.velocity).max() < 50 * period**3
        assert np.abs(found.acceleration - exact.acceleration).max() < 50 * period**2
    assert errors[0] < 1e-5
    assert errors[0] / errors[1] > 12.0


def test_sampled_rates_are_the_derivatives_of_its_poses(dasgupta):
    path = plan_line_rpy([[0, 0, 0.5], [1, 0, 1]], [[0, 0, 0], [2, 1, 3]], 2.0, profile="cubic")
    knots = sampled(dasgupta, path, 0.5)  # coarse: between knots the cubic speaks for itself
    h = 1e-4
    for t in (0.13, 0.77, 1.9):
        before, here, after = (knots.sample(t + dt) for dt in (-h, 0.0, h))
        rate = pose_difference(before.configuration, after.configuration) / (2 * h)
        np.testing.assert_allclose(here.velocity, rate, atol=1e-6)
        change = (after.velocity - before.velocity) / (2 * h)
        np.testing.assert_allclose(here.acceleration, change, atol=1e-5)


def test_pose_and_twist_are_continuous_at_knots(dasgupta):
    path = plan_line_rpy([[0, 0, 0.5], [1, 0, 1]], [[0, 0, 0], [2, 1, 3]], 2.0, profile="cubic")
    knots = sampled(dasgupta, path, 0.5)
    at, before = knots.sample(knots.times[1:]), knots.sample(knots.times[1:] - 1e-9)
    assert np.abs(pose_difference(before.configuration, at.configuration)).max() < 1e-8
    np.testing.assert_allclose(before.velocity, at.velocity, atol=1e-7)


def test_rest_before_the_first_and_after_the_last_knot(dasgupta):
    path = rd.paper_path("I")
    times = np.array([1.0, 2.0, 3.0])  # a motion cut out of another, still moving at its ends
    knots = SampledTrajectory(dasgupta, times, path.sample(times))
    motion = knots.sample([0.0, 4.0])
    np.testing.assert_array_equal(motion.configuration, path.sample([1.0, 3.0]).configuration)
    np.testing.assert_array_equal(motion.velocity, 0.0)
    np.testing.assert_array_equal(motion.acceleration, 0.0)


def test_an_arm_passes_through_the_same_code(puma, rng):
    path = rd.plan_joints(np.zeros(6), rng.normal(size=6), duration=1.0)
    knots = sampled(puma, path, 0.1)
    t = np.linspace(0.0, 1.0, 101)
    np.testing.assert_allclose(
        knots.sample(t).configuration, path.sample(t).configuration, atol=1e-8
    )


def test_a_single_knot_is_a_place_to_rest(dasgupta):
    knots = SampledTrajectory(
        dasgupta, [0.0], Motion(dasgupta.home[None], np.zeros((1, 6)), np.zeros((1, 6)))
    )
    motion = knots.sample([[-1.0], [0.0], [5.0]])
    np.testing.assert_array_equal(motion.configuration, np.tile(dasgupta.home, (3, 1, 1)))
    assert (knots.duration, knots.switching_times) == (0.0, ())


def knots_with(dasgupta, **changes):
    given = {
        "times": [0.0, 1.0],
        "configuration": np.tile(dasgupta.home, (2, 1)),
        "velocity": np.zeros((2, 6)),
        "acceleration": np.zeros((2, 6)),
    } | changes
    return SampledTrajectory(dasgupta, given.pop("times"), Motion(**given))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"times": []}, r"times has shape \(0,\)"),
        ({"times": [[0.0, 1.0]]}, r"times has shape \(1, 2\)"),
        (
            {"times": [0.0, 0.0]},
            r"times\[1\] is 0.0, but the previous time is 0.0; .* must be strictly increasing",
        ),
        ({"times": [1.0, 0.5]}, r"times\[1\] is 0.5, but the previous time is 1.0"),
        ({"times": [-1.0, 0.0]}, "the first time of a trajectory is -1.0"),
        ({"times": [0.0, np.inf]}, r"times\[1\] is inf"),
        ({"times": [0.0, 1.0, 2.0]}, r"configuration has shape \(2, 7\), expected \(3, 7\)"),
        ({"configuration": np.zeros((2, 7))}, "the quaternion"),
        ({"configuration": np.zeros((2, 3))}, r"shape \(2, 3\), expected \(\.\.\., 7\)"),
        ({"velocity": np.zeros((2, 5))}, r"velocity has shape \(2, 5\), expected \(2, 6\)"),
        ({"velocity": [[0.0], [0.0, 1.0]]}, "velocity must be numbers"),
        ({"acceleration": np.full((2, 6), np.nan)}, r"acceleration\[0, 0\] is nan"),
        ({"acceleration": np.zeros(6)}, r"acceleration has shape \(6,\)"),
    ],
)
def test_knots_that_cannot_be_are_refused(dasgupta, changes, text):
    with pytest.raises(InvalidInput, match=text):
        knots_with(dasgupta, **changes)


@pytest.mark.parametrize("fractions", [None, "x", 1.0, [[0.5], [0.5, 1.0]], [0.5, 1.1], [-0.1]])
def test_fractions_of_intervals_that_cannot_be_are_refused(dasgupta, fractions):
    with pytest.raises(InvalidInput, match=r"^fractions"):
        knots_with(dasgupta).between_knots(fractions)


@pytest.mark.parametrize("name", ["stewart_dasgupta", "fivebar"])
def test_no_fractions_are_no_places(name):
    mechanism = rd.load(name)
    still = np.zeros((3, mechanism.coordinates.velocity_size))
    motion = Motion(np.tile(mechanism.home, (3, 1)), still, still)
    found = SampledTrajectory(mechanism, [0.0, 1.0, 2.0], motion).between_knots([])
    assert found.configuration.shape == (2, 0, len(mechanism.home))
    assert found.velocity.shape == found.acceleration.shape == (2, 0, still.shape[1])


def test_knots_are_whole_nanoseconds_on_the_grid_at_switches_and_at_the_end():
    times = knot_times(0.6, (0.1, 0.2464466094067263), 0.25)
    np.testing.assert_array_equal(
        times, np.array([0, 100_000_000, 246_446_609, 250_000_000, 500_000_000, 600_000_000]) * 1e-9
    )


@pytest.mark.parametrize("period", [0.0, -1.0, 1e-12, np.nan])
def test_a_grid_needs_a_period(period):
    with pytest.raises(InvalidInput, match="period is"):
        knot_times(1.0, (), period)


def test_a_motion_without_end_is_not_cut_into_knots():
    with pytest.raises(InvalidInput, match="lengthen the intervals"):
        knot_times(1e12, (), 0.005)


@pytest.mark.parametrize("name", ["stewart_dasgupta", "puma560", "fivebar"])
def test_all_intervals_at_once_are_what_single_times_are(name, rng):
    mechanism = rd.load(name)
    steps = rng.uniform(-0.05, 0.05, (7, mechanism.coordinates.velocity_size))
    configurations = np.array([mechanism.advance(mechanism.home, step) for step in steps])
    velocities, accelerations = rng.normal(size=(2, *steps.shape))
    times = np.cumsum(rng.uniform(0.5, 1.5, len(steps)))
    knots = SampledTrajectory(mechanism, times, Motion(configurations, velocities, accelerations))
    fractions = np.array([1e-6, 0.2, 0.5, 0.9, 1.0 - 1e-6])
    found = knots.between_knots(fractions)
    for k in range(len(steps) - 1):
        for j, fraction in enumerate(fractions):
            one = knots.sample(float(times[k] + fraction * (times[k + 1] - times[k])))
            # next to a knot a mechanism that has to close its loops is at the knot
            apart = mechanism.difference(one.configuration, found.configuration[k, j])
            np.testing.assert_allclose(apart, 0.0, atol=1e-11 if 0.1 < fraction < 0.95 else 1e-5)
            np.testing.assert_allclose(found.velocity[k, j], one.velocity, rtol=1e-8, atol=1e-9)
            np.testing.assert_allclose(
                found.acceleration[k, j], one.acceleration, rtol=1e-8, atol=1e-8
            )


def test_switches_a_nanosecond_off_the_grid_make_no_accelerations(puma):
    """Clients cut times to whole nanoseconds, a neighbor of where the grid has its points."""
    path = rd.plan_joints(puma.home + 1.0 / 3.0, puma.home + 1.0, duration=12.0)
    switches = tuple(t - 1e-9 * (i % 2) for i, t in enumerate(np.arange(1, 120) * 0.1))
    times = knot_times(path.duration, switches, 0.01)
    assert np.diff(times).min() > 0.009
    assert set(np.rint(np.array(switches) * 1e9)) <= set(np.rint(times * 1e9))
    knots = SampledTrajectory(puma, times, path.sample(times))
    between = np.sort(np.concatenate([times[:-1] + np.diff(times) * s for s in (0.1, 0.5, 0.9)]))
    found, exact = knots.sample(between).acceleration, path.sample(between).acceleration
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-3 * np.abs(exact).max())
