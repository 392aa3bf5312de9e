# SPDX-License-Identifier: Apache-2.0

"""Finding how far along its path a mechanism is, however slowly it follows."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.control import PathProgress
from robodyn.trajectories import Sequence

PERIOD = 20_000_000


@pytest.fixture(scope="module")
def platform():
    return rd.load("stewart_symmetric")


@pytest.fixture(scope="module")
def there_and_back(platform):
    """Out along x, a rest of a second, and the same way back: 2 + 1 + 2 seconds."""
    x, y, z = platform.home[:3]
    there = rd.pose_from_rpy([x + 0.2, y, z], [0.0, 0.0, 0.0])
    out = rd.plan_line(platform.home, there, duration=2.0)
    rest = rd.plan_line(there, there, duration=1.0)
    back = rd.plan_line(there, platform.home, duration=2.0)
    return Sequence([out, rest, back])


def follow(progress, path, speed, until, *, begin=0.0, time=0, noise=None):
    """States of a mechanism that follows at a speed; path times true and found."""
    true, found = [], []
    s = begin
    while s <= until:
        pose = path.sample(s).configuration
        if noise is not None:
            pose = progress._mechanism.advance(pose, 1e-5 * noise.normal(size=6))
        true.append(s)
        found.append(progress.at(time, pose))
        s += speed(s) * PERIOD * 1e-9
        time += PERIOD
    return np.array(true), np.array(found, dtype=float), time


def test_a_path_followed_as_planned_is_where_time_says(platform, there_and_back):
    start = 7_000_000_000
    progress = PathProgress(platform, there_and_back, start)
    true, found, _ = follow(progress, there_and_back, lambda _: 1.0, 5.0, time=start)
    np.testing.assert_allclose(found, true, atol=2e-3)


@pytest.mark.slow
def test_a_path_followed_slowly_is_found_by_where_the_mechanism_is(platform, there_and_back, rng):
    progress = PathProgress(platform, there_and_back)
    true, found, _ = follow(
        progress, there_and_back, lambda s: 0.3 + 0.2 * np.sin(9.0 * s), 1.9, noise=rng
    )
    where, seen = (there_and_back.sample(s).configuration for s in (true, found))
    apart = np.linalg.norm(platform.difference(where, seen), axis=1)
    assert apart.max() < 2e-3
    # from the middle of the way on, in time as well
    assert np.abs(found - true)[true > 0.3].max() < 0.05


@pytest.mark.slow
def test_path_progress_distinguishes_standing_on_the_way_out_from_the_way_back(
    platform, there_and_back
):
    progress = PathProgress(platform, there_and_back)
    _, _, time = follow(progress, there_and_back, lambda _: 1.0, 1.5)
    still = there_and_back.sample(1.5).configuration
    for _ in range(250):  # five seconds, in which the way back would have passed here
        time += PERIOD
        found = progress.at(time, still)
        assert found == pytest.approx(1.5, abs=0.02)


@pytest.mark.slow
def test_the_rest_on_the_way_is_passed_through(platform, there_and_back):
    """The elapsed part of the rest is unknown, but the way back is detected at once."""
    progress = PathProgress(platform, there_and_back)
    true, found, _ = follow(progress, there_and_back, lambda _: 0.5, 5.0)
    back = true > 3.2
    where, seen = (there_and_back.sample(s).configuration for s in (true[back], found[back]))
    assert np.linalg.norm(platform.difference(where, seen), axis=1).max() < 2e-3
    assert (found[back] >= 2.9).all()


def test_a_clock_set_back_begins_anew(platform, there_and_back):
    progress = PathProgress(platform, there_and_back)
    _, _, time = follow(progress, there_and_back, lambda _: 1.0, 1.0, time=9_000_000_000)
    assert progress.at(time - 1_000_000_000, there_and_back.sample(0.0).configuration) == 0.0


def test_path_progress_is_none_away_from_the_path(platform, there_and_back):
    progress = PathProgress(platform, there_and_back)
    elsewhere = platform.advance(platform.home, [0.0, 0.1, 0.0, 0.0, 0.0, 0.0])
    assert progress.at(0, elsewhere) is None
