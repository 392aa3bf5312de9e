# SPDX-License-Identifier: Apache-2.0

"""Joints through points: what is given is met, and rates and accelerations are derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from robodyn.errors import InvalidInput
from robodyn.trajectories import BLEND, through_points

TIMES = np.array([0.0, 0.8, 1.0, 2.7])


@pytest.fixture
def points(rng):
    positions, velocities, accelerations = rng.normal(size=(3, 4, 3))
    return positions, velocities, accelerations


@pytest.mark.parametrize("degree", [1, 2, 3], ids=["linear", "cubic", "quintic"])
def test_rates_and_accelerations_are_derivatives(points, degree):
    motion = through_points(TIMES, *points[:degree])
    assert motion.duration == TIMES[-1]
    switches = np.array([0.0, *motion.switching_times, motion.duration])
    t, h = np.linspace(0.003, 2.69, 301), 1e-5
    t = t[np.abs(t[:, None] - switches).min(axis=1) > 2 * h]
    before, here, after = (motion.sample(t + step) for step in (-h, 0.0, h))
    rates = (after.configuration - before.configuration) / (2 * h)
    np.testing.assert_allclose(rates, here.velocity, atol=1e-6)
    np.testing.assert_allclose(
        (after.velocity - before.velocity) / (2 * h), here.acceleration, atol=1e-4
    )


@pytest.mark.parametrize("degree", [2, 3], ids=["cubic", "quintic"])
def test_through_points_meets_the_given_points_from_both_sides(points, degree):
    motion = through_points(TIMES, *points[:degree])
    for side in (0.0, -1e-10):
        found = motion.sample(TIMES[1:-1] + side)
        for rows, given in zip(found[:degree], points[:degree], strict=False):
            np.testing.assert_allclose(rows, given[1:-1], atol=1e-5 * np.abs(rows).max())
    assert motion.sample(9.0).velocity.tolist() == [0.0, 0.0, 0.0]
    np.testing.assert_array_equal(motion.sample(9.0).configuration, points[0][-1])
    np.testing.assert_array_equal(motion.sample(-1.0).configuration, points[0][0])


def test_straight_segments_begin_and_end_at_rest_and_pass_points_closely(points):
    positions = points[0]
    motion = through_points(TIMES, positions)
    ends = motion.sample([0.0, TIMES[-1]])
    np.testing.assert_allclose(ends.configuration, positions[[0, -1]], atol=1e-12)
    np.testing.assert_allclose(ends.velocity, 0.0, atol=1e-12)
    # a corner is cut by an eighth of the change of rate times the blend
    rates = [motion.sample(t).velocity for t in (0.4, 0.9, 1.9)]
    missed = motion.sample(TIMES[1:-1]).configuration - positions[1:-1]
    for k in range(2):
        np.testing.assert_allclose(
            missed[k], (rates[k + 1] - rates[k]) * BLEND / 8.0, rtol=1e-6, atol=1e-9
        )
    # points as close as a controller's periods: blends as long as the segments
    times = np.linspace(0.0, 1.0, 101)
    close = through_points(times, np.sin(times)[:, None])
    middle = close.sample(np.linspace(0.1, 0.9, 50))
    np.testing.assert_allclose(middle.velocity[:, 0], np.cos(np.linspace(0.1, 0.9, 50)), atol=6e-3)


def test_a_quintic_that_is_given_a_parabola_is_it():
    t = TIMES[:, None]
    motion = through_points(TIMES, 3.0 * t**2 - t, 6.0 * t - 1.0, 0.0 * t + 6.0)
    s = np.linspace(0.0, 2.7, 40)
    found = motion.sample(s)
    np.testing.assert_allclose(found.configuration[:, 0], 3.0 * s**2 - s, atol=1e-12)
    np.testing.assert_allclose(found.acceleration[:, 0], 6.0, atol=1e-9)


def test_through_points_of_one_point_rests():
    motion = through_points([0.0], [[1.0, 2.0]])
    assert motion.sample([0.0, 1.0]).configuration.tolist() == [[1.0, 2.0]] * 2
    assert motion.duration == 0.0


@pytest.mark.parametrize(
    ("times", "positions", "velocities", "text"),
    [
        ([0.5, 1.0], [[0.0], [1.0]], None, "begin at 0"),
        ([0.0, 0.0], [[0.0], [1.0]], None, "be strictly increasing"),
        ([0.0, 1.0], [[0.0]], None, "expected"),
        ([0.0, 1.0], [[0.0], [np.nan]], None, "positions"),
        ([0.0, 1.0], [[0.0], [1.0]], [[0.0]], "velocities"),
        ([], np.zeros((0, 2)), None, "expected"),
    ],
)
def test_through_points_rejects_invalid_points(times, positions, velocities, text):
    with pytest.raises(InvalidInput, match=text):
        through_points(times, positions, velocities)
