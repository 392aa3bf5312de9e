# SPDX-License-Identifier: Apache-2.0

"""Unchecked functions return the results of checked ones, and quick checks are effective."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robodyn import checks, poses
from robodyn.errors import InvalidInput


def random_pose(rng):
    return np.concatenate([rng.normal(size=3), Rotation.random(random_state=rng).as_quat()])


def test_differences_and_advances_of_poses(dasgupta, rng):
    fast = dasgupta.solver.unchecked
    for _ in range(50):
        start, goal = (checks.as_pose("pose", random_pose(rng)) for _ in range(2))
        step = rng.normal(size=6)
        np.testing.assert_allclose(
            fast.difference(start, goal), dasgupta.difference(start, goal), rtol=0.0, atol=1e-14
        )
        np.testing.assert_allclose(
            fast.advance(start, step), dasgupta.advance(start, step), rtol=0.0, atol=1e-14
        )


def test_differences_and_advances_of_joints(puma, rng):
    fast, (start, goal) = puma.solver.unchecked, rng.normal(size=(2, 6))
    np.testing.assert_array_equal(fast.difference(start, goal), puma.difference(start, goal))
    np.testing.assert_array_equal(fast.advance(start, goal), puma.advance(start, goal))


def test_a_single_pose_is_normalised_as_one_of_a_batch(rng):
    many = np.stack([random_pose(rng) for _ in range(100)])
    many[:, 3:] *= 1.0 + rng.uniform(-9e-7, 9e-7, size=(100, 1))
    together = checks.as_pose("pose", many)
    for pose, row in zip(many, together, strict=True):
        np.testing.assert_array_equal(checks.as_pose("pose", pose), row)


@pytest.mark.parametrize("turn", [poses.twist_in_base, poses.twist_in_body])
def test_a_single_twist_turns_as_one_of_a_batch(rng, turn):
    where, twists = np.stack([random_pose(rng) for _ in range(50)]), rng.normal(size=(50, 6))
    for pose, twist, row in zip(where, twists, turn(where, twists), strict=True):
        np.testing.assert_allclose(turn(pose, twist), row, rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("size", [1, 6, checks.FEW, checks.FEW + 1])
def test_unchecked_calls_report_numbers_that_are_not_finite(rng, bad, size):
    values = rng.normal(size=size)
    assert checks.all_finite(values)
    where = int(rng.integers(size))
    values[where] = bad
    assert not checks.all_finite(values)
    with pytest.raises(InvalidInput, match=rf"values\[{where}\] is {bad}"):
        checks.as_array("values", values, (size,))


def test_opposite_infinities_and_a_sum_that_overflows_deceive_nobody():
    assert not checks.all_finite(np.array([np.inf, -np.inf]))
    assert checks.all_finite(np.full(4, 1e308))
    np.testing.assert_array_equal(checks.as_array("x", np.full(4, 1e308), (4,)), np.full(4, 1e308))


def test_a_pose_that_is_none_is_refused_alone_as_among_others(dasgupta, rng):
    for spoil in ("nan", "long", "short"):
        pose = random_pose(rng)
        if spoil == "nan":
            pose[2] = np.nan
        elif spoil == "long":
            pose[3:] *= 1.0 + 2e-6
        else:
            pose = pose[:6]
        for value in (pose, pose[None]):
            with pytest.raises(InvalidInput):
                dasgupta.difference(value, value)
