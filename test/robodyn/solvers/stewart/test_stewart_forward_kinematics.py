# SPDX-License-Identifier: Apache-2.0

"""From leg lengths back to the pose: convergence, the workspace's edge, and the other poses."""

import numpy as np
import pytest
from stewart_mechanisms import random_motion

from robodyn.algorithms import conditioning
from robodyn.errors import InvalidInput, NoSolution, SingularConfiguration
from robodyn.solvers.stewart.all_poses import all_poses
from robodyn.solvers.stewart.kernels.forward_kinematics import (
    displaced_pose,
    find_step,
    length_errors,
)
from robodyn.trajectories import paper_path


def test_returns_to_the_platforms_motion(rng, platform):
    pose, twist, accel, _ = random_motion(rng, platform, (20,))
    legs = platform.leg_motion(pose, twist, accel)
    guess = platform.advance(pose, rng.normal(scale=0.02, size=(20, 6)))
    found = platform.forward_kinematics(
        legs.length, guess, rates=legs.rate, accelerations=legs.acceleration
    )
    np.testing.assert_allclose(platform.difference(pose, found.pose), 0.0, atol=1e-11)
    np.testing.assert_allclose(found.twist, twist, atol=1e-9)
    np.testing.assert_allclose(found.accel, accel, atol=1e-8)
    only_pose = platform.forward_kinematics(legs.length, guess)
    np.testing.assert_array_equal(only_pose, found.pose)


def test_starts_at_home_by_default(rng, platform):
    pose = platform.advance(platform.home, rng.normal(scale=0.01, size=6))
    found = platform.forward_kinematics(platform.inverse_kinematics(pose))
    np.testing.assert_allclose(platform.difference(pose, found), 0.0, atol=1e-12)


@pytest.mark.parametrize("far", [0.3, 1.0, 3.0])
def test_whatever_the_guess_the_lengths_are_met_or_refused(far, rng, platform):
    pose, *_ = random_motion(rng, platform, (50,))
    lengths = platform.inverse_kinematics(pose)
    guess = platform.advance(pose, rng.normal(scale=far, size=(50, 6)))
    refused = []
    for expected, start in zip(lengths, guess, strict=True):
        try:
            found = platform.forward_kinematics(expected, start)
        except NoSolution as error:
            refused.append(error.residual / expected.max())
        else:
            np.testing.assert_allclose(platform.inverse_kinematics(found), expected, rtol=1e-12)
    assert len(refused) < 25
    assert min(refused, default=1.0) > 1e-13


def test_newton_converges_quadratically(rng, platform):
    pose, *_ = random_motion(rng, platform)
    legs = platform.solver.legs
    lengths = platform.inverse_kinematics(pose)
    now = platform.advance(pose, rng.normal(scale=3e-3, size=6))
    J, N, error, step, after = (np.empty(s) for s in ((6, 6), (6, 6), 6, 6, 7))
    distances = []
    for _ in range(3):
        distances.append(np.linalg.norm(platform.difference(pose, now)))
        length_errors(legs, now, lengths, J, error)
        assert find_step(J, error, 0.0, N, step)
        displaced_pose(now, step, 1.0, after)
        now = after.copy()
    condition = float(platform.condition_number(pose))
    for before, then in zip(distances, distances[1:], strict=False):
        assert then < 10.0 * condition * before**2


def test_warm_start_follows_a_trajectory(paper_platform):
    path = paper_path("I")
    motion = path.sample(np.linspace(0.0, 6.0, 301))
    legs = paper_platform.leg_motion(*motion)
    found = paper_platform.forward_kinematics(
        legs.length,
        motion.configuration[0],
        rates=legs.rate,
        accelerations=legs.acceleration,
        warm_start=True,
    )
    off = paper_platform.difference(motion.configuration, found.pose)
    np.testing.assert_allclose(off, 0.0, atol=1e-13)
    np.testing.assert_allclose(found.twist, motion.velocity, atol=1e-12)
    np.testing.assert_allclose(found.accel, motion.acceleration, atol=1e-11)


def test_warm_start_runs_along_the_last_batch_dimension(rng, paper_platform):
    start = paper_platform.advance(paper_platform.home, rng.normal(scale=0.02, size=(3, 1, 6)))
    steps = np.cumsum(rng.normal(scale=5e-3, size=(3, 40, 6)), axis=1)
    pose = paper_platform.advance(start, steps)
    lengths = paper_platform.inverse_kinematics(pose)
    found = paper_platform.forward_kinematics(lengths, start, warm_start=True)
    assert found.shape == (3, 40, 7)
    np.testing.assert_allclose(paper_platform.difference(pose, found), 0.0, atol=1e-11)


def edge_of_workspace(platform, pose, leg):
    """Lengths with one leg drawn out to the longest that the other five allow, found by halving.

    Returns the last pose before the edge, and how much longer the leg is there.
    """
    lengths = platform.inverse_kinematics(pose)
    inside, step = 0.0, 0.02
    while step > 1e-12:
        longer = lengths.copy()
        longer[leg] += inside + step
        try:
            pose = platform.forward_kinematics(longer, pose)
            inside += step
        except NoSolution:
            step *= 0.5
    return pose, lengths, inside


def test_up_to_the_edge_of_the_workspace_and_beyond(rng, paper_platform):
    """At the edge two poses meet: H loses its rank there, and beyond there is none."""
    leg = int(rng.integers(6))
    pose, lengths, longer = edge_of_workspace(paper_platform, paper_platform.home, leg)
    values = conditioning.singular_values(paper_platform, pose)
    assert values[-1] < 1e-4 * conditioning.singular_values(paper_platform, paper_platform.home)[-1]
    lengths[leg] += longer
    np.testing.assert_allclose(paper_platform.inverse_kinematics(pose), lengths, rtol=1e-12)
    previous = 0.0
    for beyond in (1e-6, 1e-3, 0.1):
        out = lengths.copy()
        out[leg] += beyond
        with pytest.raises(NoSolution) as caught:
            paper_platform.forward_kinematics(out, pose)
        assert previous < caught.value.residual <= beyond * (1.0 + 1e-6)
        previous = caught.value.residual


def test_through_a_singularity_the_lengths_are_still_met(paper_platform):
    times = 3.670504110006 + np.array([-1e-3, -1e-6, 0.0, 1e-6, 1e-3])
    pose = paper_path("III").sample(times).configuration
    lengths = paper_platform.inverse_kinematics(pose)
    found = paper_platform.forward_kinematics(lengths, paper_platform.advance(pose, [1e-4] * 6))
    np.testing.assert_allclose(paper_platform.inverse_kinematics(found), lengths, rtol=1e-12)


def test_no_solution_says_which_element_and_by_how_much(paper_platform):
    lengths = np.tile(paper_platform.inverse_kinematics(paper_platform.home), (2, 3, 1))
    lengths[1, 2, 4] = 30.0
    with pytest.raises(NoSolution, match=r"element \[1, 2\]") as caught:
        paper_platform.forward_kinematics(lengths)
    assert caught.value.index == (1, 2)
    assert 1.0 < caught.value.residual < 30.0
    np.testing.assert_array_equal(caught.value.value, lengths[1, 2])


def test_lengths_that_are_none_are_refused(paper_platform):
    for bad in (0.0, -0.5, np.nan, np.inf):
        with pytest.raises(InvalidInput, match="lengths"):
            paper_platform.forward_kinematics([0.5, 0.5, 0.5, bad, 0.5, 0.5])


def test_rates_at_a_singular_pose_are_refused():
    from test_stewart_errors import parallel_legs

    platform = parallel_legs()
    with pytest.raises(SingularConfiguration) as caught:
        platform.forward_kinematics(platform.inverse_kinematics(platform.home), rates=np.ones(6))
    assert caught.value.smallest_singular_value < 1e-12


@pytest.mark.slow
def test_assembly_modes_all_have_the_lengths_and_include_the_pose(rng, platform):
    pose, *_ = random_motion(rng, platform)
    lengths = platform.inverse_kinematics(pose)
    modes = all_poses(platform, lengths, attempts=2000, seed=int(rng.integers(1000)))
    assert 2 <= len(modes.poses) <= 40
    assert modes.hits.sum() == modes.converged <= modes.attempts == 2000
    found = platform.inverse_kinematics(modes.poses)
    np.testing.assert_allclose(found, np.broadcast_to(lengths, found.shape), rtol=1e-12)
    nearest = np.abs(platform.difference(pose, modes.poses)).max(axis=1).min()
    assert nearest < 1e-8
    apart = platform.difference(modes.poses[:, None], modes.poses[None])
    distance = np.linalg.norm(apart, axis=-1) + np.eye(len(modes.poses))
    assert distance.min() > 1e-6


@pytest.mark.slow
def test_assembly_search_repeats_with_its_seed(paper_platform):
    lengths = paper_platform.inverse_kinematics(paper_platform.home)
    first = all_poses(paper_platform, lengths)
    again = all_poses(paper_platform, lengths)
    np.testing.assert_array_equal(first.poses, again.poses)
    assert len(first.poses) == 8
    assert first.unseen == 0.0
    other = all_poses(paper_platform, lengths, seed=1, attempts=1000)
    for mode in other.poses:
        assert np.abs(paper_platform.difference(mode, first.poses)).max(axis=1).min() < 1e-8
    with pytest.raises(InvalidInput, match="six positive"):
        all_poses(paper_platform, [1.0] * 5 + [-1.0])
