# SPDX-License-Identifier: Apache-2.0

"""Exciting motions keep to all limits, start and end at rest, fly from a file, and excite."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.errors import InfeasibleTrajectory, InvalidInput, OutputError, PathError
from robodyn.trajectories import FourierSeries

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["puma560", "stewart_symmetric", "fivebar"])
def found(request):
    m = rd.load(request.param)
    return m, rd.exciting_trajectory(m, 6.0, seed=2, trials=4)


def test_exciting_trajectory_rests_at_both_ends(found):
    _, path = found
    ends = path.sample(np.array([0.0, path.duration]))
    np.testing.assert_allclose(ends.velocity, 0.0, atol=1e-9)
    np.testing.assert_allclose(ends.configuration[0], ends.configuration[1], atol=1e-9)
    np.testing.assert_allclose(path.knots.acceleration[[0, -1]], 0.0, atol=1e-9)


def test_exciting_trajectory_keeps_to_limits(found):
    m, path = found
    motion = path.sample(np.linspace(0.0, path.duration, 200))
    driven = motions.driven_motion(m, *motion)
    low, high = m.position_limits.T
    assert ((driven.positions >= low) & (driven.positions <= high)).all()
    assert (np.abs(driven.velocities) <= m.velocity_limits).all()
    assert (np.abs(m.inverse_dynamics(*motion)) <= m.effort_limits).all()
    assert np.ptp(driven.positions, axis=0).min() > 0.01


def test_a_file_of_it_is_the_same_path(found, tmp_path):
    m, path = found
    with pytest.raises(OutputError, match=r"paths are written as \.yaml files"):
        path.save(tmp_path / "exciting.txt")
    file = tmp_path / "exciting.yaml"
    path.save(file)
    again = rd.load_path(file, m)
    times = np.linspace(0.0, path.duration, 9)
    for ours, theirs in zip(path.sample(times), again.sample(times), strict=True):
        np.testing.assert_allclose(theirs, ours, atol=1e-12)
    other = rd.load("delta")
    with pytest.raises(PathError, match="joints"):
        rd.load_path(file, other)


def test_rates_and_accelerations_of_a_series_are_its_derivatives(rng):
    sine, cosine = rng.normal(size=(2, 3, 2))
    series = FourierSeries(4.0, 1.0, np.array([0.3, -0.2]), sine, cosine)
    times, h = np.linspace(0.1, 3.9, 40), 1e-5
    before, after = series.at(times - h), series.at(times + h)
    for n in range(2):
        slope = (after[n] - before[n]) / (2.0 * h)
        np.testing.assert_allclose(series.at(times)[n + 1], slope, rtol=1e-6, atol=1e-5)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_searching_makes_it_better_and_a_seed_is_kept():
    m = rd.load("stanford_arm")

    def condition(trials):
        path = rd.exciting_trajectory(m, 5.0, seed=4, trials=trials)
        Y = m.regressor(*path.sample(np.linspace(0.0, 5.0, 80)))
        rows = Y[..., :60].reshape(-1, 60)
        values = np.linalg.svd(rows / (np.linalg.norm(rows, axis=0) + 1e-12), compute_uv=False)
        kept = values[values > 1e-9 * values[0]]
        return kept[0] / kept[-1], path

    first, _ = condition(1)
    best, path = condition(10)
    assert best < first
    same = rd.exciting_trajectory(m, 5.0, seed=4, trials=10)
    np.testing.assert_array_equal(same.series.sine, path.series.sine)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_exciting_trajectory_rejects_invalid_settings():
    m = rd.load("stewart_symmetric")
    with pytest.raises(InvalidInput, match="duration"):
        rd.exciting_trajectory(m, 0.0)
    with pytest.raises(InvalidInput, match="harmonics"):
        rd.exciting_trajectory(m, harmonics=0)
    with pytest.raises(InfeasibleTrajectory, match="no motion of 10 s around home"):
        rd.exciting_trajectory(m, condition_limit=1.0, trials=1)
