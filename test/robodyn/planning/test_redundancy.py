# SPDX-License-Identifier: Apache-2.0

"""Free coordinates are chosen to improve the worst place of a path, consistently."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.planning.paths import FreeMotion


def largest(mechanism, motion, samples=301):
    times = np.linspace(0.0, motion.duration, samples)
    return mechanism.condition_number(motion.sample(times).configuration).max()


@pytest.mark.slow
def test_optimize_redundancy_of_a_constant_finds_the_best_of_an_exhaustive_search(dasgupta):
    path = rd.paper_path("I")
    best = rd.optimize_redundancy(dasgupta, path, [], constant=["rx"])
    tried = [FreeMotion(path, {"rx": np.full(6, value)}) for value in np.linspace(-1.0, 1.0, 81)]
    assert best.after < 1.01 * min(largest(dasgupta, motion) for motion in tried)
    assert best.before == pytest.approx(largest(dasgupta, path), rel=1e-3)
    assert best.after == pytest.approx(largest(dasgupta, best.trajectory), rel=1e-3)


@pytest.mark.slow
def test_optimize_redundancy_along_the_path_is_better_and_consistent(dasgupta):
    path = rd.paper_path("I")
    best = rd.optimize_redundancy(dasgupta, path, ["rx"], controls=6)
    assert best.after < 0.8 * best.before
    times = np.linspace(0.0, path.duration, 51)
    planned, chosen = (one.sample(times).configuration for one in (path, best.trajectory))
    # constant coordinates are unchanged
    np.testing.assert_allclose(chosen[:, :3], planned[:, :3], atol=1e-12)
    t, h = np.linspace(0.53, 5.47, 20), 1e-5
    before, here, after = (best.trajectory.sample(t + shift) for shift in (-h, 0.0, h))
    velocity = dasgupta.difference(before.configuration, after.configuration) / (2.0 * h)
    np.testing.assert_allclose(velocity, here.velocity, atol=1e-7)
    change = (after.velocity - before.velocity) / (2.0 * h)
    np.testing.assert_allclose(change, here.acceleration, atol=1e-7)


@pytest.mark.slow
def test_spin_turns_about_the_bodys_own_axis(dasgupta):
    path = rd.paper_path("I")
    best = rd.optimize_redundancy(dasgupta, path, [], constant=["spin"], objective="effort")
    times = np.linspace(0.0, path.duration, 11)
    axes = []
    for motion in (path, best.trajectory):
        x, y, z, w = motion.sample(times).configuration[:, 3:].T
        axes.append([2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)])
    np.testing.assert_allclose(axes[0], axes[1], atol=1e-12)
    assert best.after <= best.before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"free": ["height"]}, "free coordinates are height"),
        ({"ranges": {"rx": (0.2, 0.1)}}, "range of rx is 0.2 to 0.1"),
        ({"ranges": {"z": (0.0, 0.1)}}, "ranges contains z, expected only free coordinates"),
        ({"objective": "time"}, "objective is 'time'"),
    ],
)
def test_invalid_settings_of_redundancy_are_refused(dasgupta, options, message):
    with pytest.raises(rd.InvalidInput, match=message):
        rd.optimize_redundancy(dasgupta, rd.paper_path("I"), **options)
