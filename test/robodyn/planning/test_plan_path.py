# SPDX-License-Identifier: Apache-2.0

"""Paths round singularities: within their bounds everywhere, or the right thing in the way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from six_legs import six_legs, with_legs

import robodyn as rd
from robodyn.algorithms import conditioning
from robodyn.planning.paths import around_singularities, segment_distances

# On the straight way between these the determinant of H changes its sign twice.
ENDS = ([0.1, 0.0, 0.4], [0.0, 0.0, -0.2]), ([0.0, 0.0, 0.4], [-0.2, 1.0, 0.0])
LIMIT = 60.0


@pytest.fixture(scope="module")
def ends():
    return [rd.pose_from_rpy(*end) for end in ENDS]


@pytest.fixture(scope="module")
def path(dasgupta, ends):
    return rd.plan_path(dasgupta, *ends, LIMIT, duration=5.0)


def along(mechanism, path, count):
    return path.sample(np.linspace(0.0, path.duration, count)).configuration


@pytest.mark.slow
def test_path_keeps_to_its_bounds_between_its_samples_too(dasgupta, ends, path):
    straight = rd.plan_line(*ends, duration=1.0)
    assert dasgupta.condition_number(along(dasgupta, straight, 500)).max() > 1e4
    places = along(dasgupta, path, 20001)
    assert dasgupta.condition_number(places).max() < LIMIT
    assert path.largest_condition < LIMIT
    signs = np.sign(conditioning.determinant(dasgupta, places))
    assert (signs == signs[0]).all()
    lengths = dasgupta.joint_positions(places)
    lower, upper = dasgupta.position_limits.T
    assert ((lengths > lower) & (lengths < upper)).all()
    for place, end in zip(places[[0, -1]], ends, strict=True):
        np.testing.assert_allclose(dasgupta.difference(end, place), 0.0, atol=1e-12)


def test_path_moves_as_it_says_and_is_smooth(dasgupta, path):
    t, h = np.linspace(0.2, 4.8, 47), 1e-4
    before, here, after = (path.sample(t + shift) for shift in (-h, 0.0, h))
    velocity = dasgupta.difference(before.configuration, after.configuration) / (2.0 * h)
    np.testing.assert_allclose(velocity, here.velocity, atol=1e-6)
    acceleration = (after.velocity - before.velocity) / (2.0 * h)
    np.testing.assert_allclose(acceleration, here.acceleration, atol=1e-4)
    rest = path.sample(np.array([0.0, 5.0]))
    np.testing.assert_allclose(rest.velocity, 0.0, atol=1e-12)
    np.testing.assert_allclose(rest.acceleration, 0.0, atol=1e-12)


@pytest.mark.slow
def test_path_is_the_same_again_for_a_seed(dasgupta, ends, path):
    again = rd.plan_path(dasgupta, *ends, LIMIT, duration=5.0)
    np.testing.assert_array_equal(along(dasgupta, again, 50), along(dasgupta, path, 50))


def test_motion_that_keeps_to_the_bound_is_left_as_it_is(dasgupta):
    line = rd.paper_path("I")
    assert around_singularities(dasgupta, line, LIMIT) is line


def test_sides_of_the_singular_surface_are_distinguished(dasgupta):
    ends = rd.paper_path("III").sample(np.array([0.0, 6.0])).configuration
    with pytest.raises(rd.NoPath, match="different sides of the singular surface") as refused:
        rd.plan_path(dasgupta, *ends)
    assert (refused.value.separated_by, refused.value.certain) == ("singular surface", True)
    crossing = rd.paper_path("III").sample(3.670504110).configuration
    # the straight way in position and rotation vector is not quite the one in angles
    apart = dasgupta.difference(crossing, refused.value.configuration)
    np.testing.assert_allclose(apart, 0.0, atol=0.05)
    assert dasgupta.condition_number(refused.value.configuration) > 1e6


def test_end_that_breaks_a_bound_is_named_with_the_number(dasgupta, ends):
    far = ends[0].copy()
    far[2] = 9.0
    longest = dasgupta.joint_positions(far).argmax()
    with pytest.raises(
        rd.NoPath, match=f"goal itself violates a bound: leg {longest + 1} "
    ) as refused:
        rd.plan_path(dasgupta, ends[0], far)
    assert refused.value.joint == dasgupta.joint_names[longest]
    assert refused.value.limit == 3.5
    with pytest.raises(rd.NoPath, match=r"start itself .* condition number is 38.08.* 30"):
        rd.plan_path(dasgupta, *ends, 30.0)


def test_path_keeps_to_a_limit_just_above_that_of_its_ends(dasgupta):
    start, goal = (rd.pose_from_rpy([0.0, 0.0, z], [0.0, 0.0, 0.0]) for z in (0.25, 0.9))
    numbers = dasgupta.condition_number(np.stack([start, goal]))
    limit = 1.001 * numbers.max()
    path = rd.plan_path(dasgupta, start, goal, limit)
    assert dasgupta.condition_number(along(dasgupta, path, 2001)).max() <= limit


@pytest.mark.slow
def test_arm_keeps_to_its_joints_and_to_its_condition_where_asked(puma):
    start = np.array([0.2, -1.0, 0.3, 0.1, 0.8, 0.0])
    goal = np.array([1.0, -0.4, 0.6, -0.4, -0.8, 0.5])
    free = rd.plan_path(puma, start, goal)
    assert puma.condition_number(along(puma, free, 2001)).max() > 1000.0
    limit = 1.3 * puma.condition_number(np.stack([start, goal])).max()
    with pytest.raises(rd.NoPath) as refused:
        rd.plan_path(puma, start, goal, limit, timeout=1.0)
    # a wrist that flips passes its singularity; the other way is beyond what was searched
    assert refused.value.separated_by in {"condition limit", "unknown"}


@pytest.mark.slow
def test_five_bar_goes_round_within_one_sheet():
    loop = rd.load("fivebar")
    start = loop.assemble([2.4, 0.7])
    goal = loop.assemble([1.7, 1.2])
    path = rd.plan_path(loop, start, goal, duration=1.0, timeout=20.0)
    places = along(loop, path, 101)
    np.testing.assert_allclose(places[-1], goal, atol=1e-9)
    assert loop.condition_number(places).max() < 1000.0
    assert np.abs(np.diff(places, axis=0)).max() < 0.1


def test_two_assemblies_of_a_five_bar_are_separated():
    loop = rd.load("fivebar")
    modes = loop.assemblies([2.4, 0.7], searches=30)
    assert len(modes) == 2
    with pytest.raises(rd.NoPath, match="different sides of the singular surface") as refused:
        rd.plan_path(loop, *modes)
    assert refused.value.separated_by == "assembly mode"
    assert refused.value.certain


def test_clearance_keeps_parts_apart(dasgupta, ends):
    with pytest.raises(rd.NoPath, match=r"m apart, .* 0.4 m") as refused:
        rd.plan_path(dasgupta, *ends, LIMIT, clearance=0.4)
    assert refused.value.separated_by == "start"


def test_distance_of_segments_is_the_least_of_their_points(rng):
    one, other = rng.normal(size=(2, 20, 2, 3))
    s = np.linspace(0.0, 1.0, 201)[:, None, None]
    points = [part[:, 0] + s * (part[:, 1] - part[:, 0]) for part in (one, other)]
    between = np.linalg.norm(points[0][:, None] - points[1][None], axis=-1).min(axis=(0, 1))
    ours = segment_distances(one, other)
    assert (ours <= between + 1e-12).all()
    np.testing.assert_allclose(ours, between, atol=0.02)


def test_contradictory_limits_are_refused(dasgupta, ends):
    legs = six_legs(dasgupta).legs
    limits = replace(legs[0].limits, length=(0.7, 0.71))
    tight = with_legs(dasgupta, [replace(legs[0], limits=limits), *legs[1:]])
    with pytest.raises(rd.NoPath, match=r"start itself violates a bound: leg 1 .* 0\.7 m"):
        rd.plan_path(tight, *ends)
