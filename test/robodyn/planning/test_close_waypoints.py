# SPDX-License-Identifier: Apache-2.0

"""Paths through waypoints at any distances from each other stay near the polygon of these."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.planning.time_optimal import WaypointSpline, coordinate_weights

# How far waypoints are spread about home [rad, or parts of the mechanism's size].
SPREAD = {"puma560": 0.5, "stewart_symmetric": 0.05, "delta": 0.05}


@pytest.fixture(scope="module", params=SPREAD)
def mechanism(request):
    return rd.load(request.param).without_friction()


def places(mechanism, configurations):
    """Displacements (K, nv) from home, in radians and parts of the mechanism's size."""
    return coordinate_weights(mechanism) * mechanism.difference(mechanism.home, configurations)


def configurations(mechanism, at):
    return np.array(
        [mechanism.advance(mechanism.home, way / coordinate_weights(mechanism)) for way in at]
    )


def deviation(mechanism, points):
    """The largest distance of the path through points from their polygon."""
    at = places(mechanism, WaypointSpline(mechanism, points).sample(np.linspace(0.0, 1.0, 801))[0])
    corners = places(mechanism, points)
    nearest = np.full(len(at), np.inf)
    for start, end in zip(corners[:-1], corners[1:], strict=True):
        way = end - start
        along = np.clip((at - start) @ way / max(float(way @ way), 1e-300), 0.0, 1.0)
        aside = np.linalg.norm(at - start - along[:, None] * way, axis=1)
        nearest = np.minimum(nearest, aside)
    return float(nearest.max())


def test_a_path_stays_near_the_polygon_whatever_the_distances_of_its_points(mechanism, rng):
    """Bounded by the largest distance, times 0.5; an S through equal ones has 0.2."""
    size = mechanism.coordinates.velocity_size
    for _ in range(12):
        ways = rng.normal(size=(int(rng.integers(2, 9)), size))
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        ways *= SPREAD[mechanism.name] * 10.0 ** rng.uniform(-12.0, 0.0, (len(ways), 1))
        at = np.concatenate([np.zeros((1, size)), np.cumsum(ways, axis=0)])
        longest = float(np.linalg.norm(ways, axis=1).max())
        if longest < 1e-6 * SPREAD[mechanism.name]:
            continue
        assert deviation(mechanism, configurations(mechanism, at)) < 0.5 * longest


@pytest.mark.parametrize("gap", [1e-12, 1.1e-9, 1e-7, 1e-5, 1e-3])
def test_a_point_that_was_taught_twice_changes_nothing(mechanism, rng, gap):
    """But for the distance between the two points."""
    size, spread = mechanism.coordinates.velocity_size, SPREAD[mechanism.name]
    at = spread * np.array([[0.0, 0.5, -0.5], [0.6, 0.8, -0.3], [1.0, 0.2, 0.4]])
    at = np.pad(at, ((0, 0), (0, size - 3)))
    way = rng.normal(size=size)
    way *= gap * spread / np.linalg.norm(way)
    once = WaypointSpline(mechanism, configurations(mechanism, at))
    t = np.linspace(0.0, 1.0, 301)
    expected = places(mechanism, once.sample(t).configuration)
    for k, order in ((0, [0, 0, 1, 2]), (1, [0, 1, 1, 2]), (2, [0, 1, 2, 2])):
        again = at[order]
        again[k + 1] += way * (k < 2)
        again[k] -= way * (k == 2)
        path = WaypointSpline(mechanism, configurations(mechanism, again))
        found = places(mechanism, path.sample(t).configuration)
        np.testing.assert_allclose(found, expected, atol=2.0 * gap * spread + 1e-9)


@pytest.mark.parametrize("gap", [0.0, 1.1e-9, 1e-6, 1e-3, 0.03])
def test_the_fastest_motion_through_close_points_takes_no_detour(gap, rng):
    """1.1e-9 rad apart, it left the path by 40 rad and took 40 s."""
    arm = rd.load("puma560").without_friction()
    at = np.array(
        [[0.0, 0.3, 0.2, 0, 0.4, 0], [0.7, 0.0, 0.5, 0.5, 0.3, 1], [0.2, 0.2, -0.4, 1, 1, 0]]
    )
    once = rd.time_optimal(arm, at, points=100)
    way = rng.normal(size=6)
    way *= gap / np.linalg.norm(way)
    motion = rd.time_optimal(arm, np.vstack([at[:2], at[1:2] + way, at[2:]]), points=100)
    # at worst it stops there
    assert motion.duration < (1.02 if gap < 0.01 else 2.0) * once.duration
    t = np.linspace(0.0, 1.0, 501)
    apart = [m.sample(t * m.duration).configuration for m in (motion, once)]
    outside = [np.maximum(q - at.max(axis=0), at.min(axis=0) - q).max() for q in apart]
    assert outside[0] < max(outside[1], 0.0) + 2.0 * gap + 1e-9


def test_small_details_of_a_dense_path_are_kept(rng):
    """Only points that stand alone with another count as taught twice."""
    arm = rd.load("puma560")
    angle = np.linspace(0.0, 2.0 * np.pi, 41)
    # a circle of 2 mrad, and a long way from it
    at = np.tile(arm.home, (42, 1))
    at[:41, 0] += 2e-3 * np.cos(angle)
    at[:41, 1] += 2e-3 * np.sin(angle)
    at[41, 0] += 1.0
    path = WaypointSpline(arm, at).sample(np.linspace(0.0, 1.0, 4001)).configuration
    for point in at:
        assert np.linalg.norm(path - point, axis=1).min() < 1e-4


def test_points_that_are_all_the_same_are_refused():
    arm = rd.load("puma560")
    for gap in (0.0, 1e-11):
        points = arm.home + gap * np.arange(3)[:, None]
        with pytest.raises(rd.InvalidInput, match="all configurations of the path are the same"):
            rd.time_optimal(arm, points)
