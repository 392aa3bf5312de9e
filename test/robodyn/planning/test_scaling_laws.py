# SPDX-License-Identifier: Apache-2.0

"""Laws that every fastest motion and every smooth path obeys: scale, reversal, ends."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.planning.paths import Curve, PlannedPath
from robodyn.planning.time_optimal import (
    Easing,
    PathPieces,
    WaypointSpline,
    coordinate_weights,
    cubic_to_goal,
    grade,
)
from robodyn.trajectories import make_profile

ROUTE = np.array(
    [[0.0, 0.3, 0.2, 0, 0.4, 0], [0.4, -0.1, 0.4, 0.3, 0, 0.6], [0.2, 0.2, 0, 0, 1, 0]]
)


@pytest.fixture(scope="module")
def floating():
    """An arm without friction in free fall: its efforts are those of inertia alone."""
    return rd.load("puma560", gravity=[0, 0, 0]).without_friction()


@pytest.fixture(scope="module")
def platform():
    return rd.load("stewart_symmetric")


def fastest(arm, route, fraction):
    """The fastest motion with a share of the efforts, at any speed."""
    return rd.time_optimal(
        arm, route, effort_limits=fraction * arm.effort_limits,
        velocity_limits=np.full(6, 1e3), points=120,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("factor", [2.0, 3.0])
def test_efforts_k_squared_times_as_large_take_a_kth_of_the_time(floating, factor):
    """Efforts of inertia are quadratic in 1 / time, so the motion is the same, only faster."""
    slow, quick = (fastest(floating, ROUTE, fraction) for fraction in (0.1, 0.1 * factor**2))
    assert slow.duration / quick.duration == pytest.approx(factor, rel=1e-4)
    fractions = np.linspace(0.0, 1.0, 9)
    one, other = (each.sample(fractions * each.duration) for each in (slow, quick))
    np.testing.assert_allclose(other.configuration, one.configuration, atol=1e-4)
    np.testing.assert_allclose(other.velocity, factor * one.velocity, atol=2e-3 * factor)


@pytest.mark.slow
def test_backwards_it_takes_as_long(floating):
    """Without weight and friction a motion and its reversal need the same efforts."""
    there, back = (fastest(floating, route, 0.3) for route in (ROUTE, ROUTE[::-1]))
    assert there.duration == pytest.approx(back.duration, rel=1e-3)


@pytest.mark.slow
def test_a_machine_twice_as_heavy_with_motors_twice_as_strong_is_as_fast():
    """Efforts are linear in masses, rotors and friction, weight included."""
    arm = rd.load("puma560")
    heavy = rd.with_parameters(arm, 2.0 * arm.parameters.values)
    light, strong = (
        rd.time_optimal(m, ROUTE, effort_limits=factor * arm.effort_limits, points=120)
        for m, factor in ((arm, 1.0), (heavy, 2.0))
    )
    assert strong.duration == pytest.approx(light.duration, rel=1e-9)


@pytest.mark.slow
def test_the_timing_of_the_given_path_does_not_matter(floating):
    slow, quick = (
        fastest(floating, rd.plan_joints(ROUTE[0], ROUTE[1], duration), 0.3)
        for duration in (3.0, 5.0)
    )
    assert slow.duration == pytest.approx(quick.duration, rel=1e-6)
    halfway = [each.sample(0.5 * each.duration).configuration for each in (slow, quick)]
    np.testing.assert_allclose(halfway[0], halfway[1], atol=1e-6)


@pytest.mark.slow
def test_speed_limits_alone_scale_the_time(floating):
    """With all but unlimited efforts the time is in proportion to the inverse of the speeds."""
    limits = np.full(6, 0.5)
    times = [
        rd.time_optimal(
            floating, ROUTE, effort_limits=np.full(6, 1e7), velocity_limits=each, points=120
        ).duration
        for each in (limits, 2.0 * limits)
    ]
    assert times[0] / times[1] == pytest.approx(2.0, rel=0.02)


@pytest.mark.parametrize("name", ["floating", "platform"])
def test_a_path_passes_through_its_points_and_begins_without_curvature(name, request, rng):
    mechanism = request.getfixturevalue(name)
    size = mechanism.coordinates.velocity_size
    points = mechanism.advance(mechanism.home, rng.uniform(-0.1, 0.1, (4, size)))
    path = WaypointSpline(mechanism, points)
    dense = path.sample(np.linspace(0.0, 1.0, 2001)).configuration
    weights = coordinate_weights(mechanism)
    for point in points:
        gaps = mechanism.difference(dense, np.broadcast_to(point, dense.shape)) * weights
        assert np.linalg.norm(gaps, axis=1).min() < 2e-3
    ends = path.sample(np.array([0.0, 1.0]))
    np.testing.assert_allclose(ends.acceleration[:, :3], 0.0, atol=1e-9)
    np.testing.assert_allclose(path.velocity(np.array([0.0, 1.0])), ends.velocity, atol=1e-9)


@pytest.mark.parametrize("name", ["floating", "platform"])
def test_a_reversed_path_is_the_same_curve(name, request, rng):
    mechanism = request.getfixturevalue(name)
    size = mechanism.coordinates.velocity_size
    points = mechanism.advance(mechanism.home, rng.uniform(-0.1, 0.1, (4, size)))
    s = np.linspace(0.0, 1.0, 21)
    there = WaypointSpline(mechanism, points).sample(s)
    back = WaypointSpline(mechanism, points[::-1]).sample(1.0 - s)
    gaps = mechanism.difference(there.configuration, back.configuration)
    # between two knots a turn is a cubic about the earlier one
    np.testing.assert_allclose(gaps, 0.0, atol=1e-4)
    np.testing.assert_allclose(there.velocity, -back.velocity, atol=1e-3)


@pytest.mark.parametrize("name", ["floating", "platform"])
def test_two_points_are_joined_by_a_straight_line(name, request, rng):
    mechanism = request.getfixturevalue(name)
    size = mechanism.coordinates.velocity_size
    points = mechanism.advance(mechanism.home, rng.uniform(-0.1, 0.1, (2, size)))
    s = np.linspace(0.0, 1.0, 11)
    found = WaypointSpline(mechanism, points).sample(s).configuration
    straight = mechanism.advance(points[0], s[:, None] * mechanism.difference(*points))
    np.testing.assert_allclose(mechanism.difference(found, straight), 0.0, atol=1e-9)


@pytest.mark.parametrize("carried", [0.0, 0.4])
def test_a_swerve_begins_with_the_velocity_and_ends_at_the_goal(floating, rng, carried):
    start, goal = ROUTE[:2]
    velocity = rng.uniform(-0.5, 0.5, 6)
    found = cubic_to_goal(floating, start, velocity, goal, carried).sample(np.array([0.0, 1.0]))
    np.testing.assert_allclose(found.configuration, [start, goal], atol=1e-12)
    expected = carried * velocity if carried else goal - start
    np.testing.assert_allclose(found.velocity[0], expected, atol=1e-12)


@pytest.mark.parametrize("factor", [0.5, 4.0])
def test_a_planned_path_in_another_time_is_the_same_path(rng, factor):
    """Velocities fall with the time, accelerations with its square; it rests at both ends."""
    profile = make_profile("quintic", 2.0, 0.0, None, "the path")
    path = PlannedPath(Curve(rng.normal(size=(9, 3))), profile, 1.0, 1.0, 1, 0.0)
    other = path.with_duration(2.0 * factor)
    assert other.duration == pytest.approx(2.0 * factor)
    t = np.linspace(0.0, 2.0, 15)
    one, two = path.sample(t), other.sample(factor * t)
    np.testing.assert_allclose(two.configuration, one.configuration, atol=1e-12)
    np.testing.assert_allclose(two.velocity, one.velocity / factor, atol=1e-9)
    np.testing.assert_allclose(two.acceleration, one.acceleration / factor**2, atol=1e-8)
    np.testing.assert_allclose(one.velocity[[0, -1]], 0.0, atol=1e-9)


def test_a_path_through_a_singularity_has_an_infinite_condition_number(rng):
    """Only rounding error makes it finite there."""
    profile = make_profile("quintic", 2.0, 0.0, None, "the path")
    path = PlannedPath(Curve(rng.normal(size=(9, 3))), profile, 1.0, 4.9e21, 1, 0.0)
    assert "condition number up to infinite, " in path.text


def test_places_are_denser_towards_both_ends_and_smooth():
    t = np.linspace(0.0, 1.0, 1001)
    places = grade(t)
    steps = np.diff(places)
    np.testing.assert_allclose(places[[0, 500, -1]], [0.0, 0.5, 1.0], atol=1e-12)
    np.testing.assert_allclose(steps, steps[::-1], atol=1e-12)
    assert (steps > 0.0).all()
    assert steps[0] < 0.1 * steps[500]
    assert np.abs(np.diff(steps)).max() < 0.02 * steps.max()


RESTS = [(True, True), (True, False), (False, True), (False, False)]


@pytest.mark.parametrize("rests", RESTS)
def test_easing_is_undone_by_its_inverse(rests):
    easing, r = Easing(*rests), np.linspace(0.0, 1.0, 101)
    places, slope, _, _ = easing.at(r)
    np.testing.assert_allclose(places[[0, -1]], [0.0, 1.0], atol=1e-12)
    assert (np.diff(places) > 0.0).all()
    np.testing.assert_allclose(easing.at(easing.inverse(places))[0], places, atol=1e-12)
    np.testing.assert_allclose(easing.inverse(places), r, atol=1e-5)
    # at a rest the speed falls to zero; elsewhere the motion runs on
    np.testing.assert_array_equal(slope[[0, -1]] < 1e-9, rests)


@pytest.mark.parametrize("rests", RESTS)
@pytest.mark.parametrize("count", [20, 57])
def test_knots_and_nodes_of_an_eased_motion_increase(rests, count):
    easing = Easing(*rests)
    knots = easing.nodes(count)
    steps = easing.steps(knots)
    for places in (knots, steps):
        np.testing.assert_array_equal(places[[0, -1]], [0.0, 1.0])
        assert (np.diff(places) > 0.0).all()
    # between the ends, each knot is a node
    inner = easing.inverse(knots[2:-2])
    assert np.abs(inner[:, None] - steps).min(axis=1).max() < 1e-12


@pytest.mark.parametrize("points", [40, 90])
def test_intervals_of_a_path_cover_it_in_order(floating, points):
    (piece,) = PathPieces(floating, WaypointSpline(floating, ROUTE)).cut(points)
    assert len(piece.nodes) == points + 1
    np.testing.assert_array_equal(piece.nodes[[0, -1]], [0.0, 1.0])
    assert (np.diff(piece.nodes) > 0.0).all()
    dense = piece.curve.sample(np.linspace(0.0, 1.0, 4001)).configuration
    weights = coordinate_weights(floating)
    steps = np.linalg.norm(floating.difference(dense[:-1], dense[1:]) * weights, axis=1)
    assert piece.length == pytest.approx(steps.sum(), rel=5e-3)


@pytest.mark.slow
def test_more_of_any_limit_never_takes_longer(floating):
    times = [fastest(floating, ROUTE, fraction).duration for fraction in (0.05, 0.1, 0.4)]
    assert times == sorted(times, reverse=True)
    one_joint = 0.1 * floating.effort_limits
    one_joint[0] *= 3.0
    eased = rd.time_optimal(
        floating, ROUTE, effort_limits=one_joint, velocity_limits=np.full(6, 1e3), points=120
    )
    assert eased.duration <= times[1] * (1.0 + 1e-6)
