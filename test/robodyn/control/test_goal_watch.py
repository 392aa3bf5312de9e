# SPDX-License-Identifier: Apache-2.0

"""Tolerances of FollowJointTrajectory, by the rules of the joint_trajectory_controller."""

from __future__ import annotations

import numpy as np
import pytest

from robodyn.control import Errors, GoalCode, GoalWatch, Tolerances, resolve_tolerance
from robodyn.errors import InvalidInput

SECOND = 1_000_000_000
ANY = np.full(2, np.inf)


def off(*positions, rate=0.0) -> Errors:
    return Errors(np.array(positions), np.full(2, rate))


def watch(path=ANY, goal=ANY, slow=ANY, goal_time=np.inf) -> GoalWatch:
    path, goal = Tolerances(np.array(path), ANY), Tolerances(np.array(goal), np.array(slow))
    return GoalWatch(("a", "b"), path, goal, goal_time)


@pytest.mark.parametrize(
    ("given", "default", "expected"),
    [
        (0.0, 0.0, np.inf),
        (0.0, 0.1, 0.1),
        (0.2, 0.1, 0.2),
        (-1.0, 0.1, np.inf),
        (-7.0, 0.1, np.inf),
    ],
)
def test_tolerances_of_zero_and_below_select_the_default_or_no_limit(given, default, expected):
    assert resolve_tolerance("t", given, default) == expected


def test_not_a_number_is_refused():
    with pytest.raises(InvalidInput, match="t is nan"):
        resolve_tolerance("t", np.nan, 0.1)
    with pytest.raises(InvalidInput, match="shape"):
        watch(path=[0.1])


def test_the_path_is_held_against_its_own_tolerance_only_on_the_way():
    judge = watch(path=[0.1, np.inf], goal=[0.01, 0.01]).judge
    assert judge(1, -np.inf, off(5.0, 5.0)) is None
    assert judge(2, -0.5, off(0.1, 5.0)) is None
    code, text = judge(3, -0.4, off(-0.11, 5.0))
    assert code == GoalCode.PATH_TOLERANCE_VIOLATED
    assert "a is off by -0.11 in position" in text
    assert judge(4, -0.4, off(np.nan, 0.0)).code == GoalCode.PATH_TOLERANCE_VIOLATED


def test_after_the_end_it_may_take_its_time_but_no_longer():
    judge = watch(goal=[0.01, 0.02], slow=[0.1, 0.1], goal_time=0.5).judge
    assert judge(SECOND, 0.0, off(0.02, 0.0)) is None
    assert judge(SECOND + SECOND // 2, 0.5, off(0.0, 0.0, rate=0.2)) is None
    code, text = judge(SECOND + SECOND // 2 + 1, 0.5, off(0.0, 0.03))
    assert code == GoalCode.GOAL_TOLERANCE_VIOLATED
    assert "b is off by 0.03 in position, its goal tolerance is 0.02" in text
    assert judge(2 * SECOND, 1.0, off(0.01, 0.02, rate=-0.1)).code == GoalCode.SUCCESSFUL


def test_without_a_goal_time_it_waits_and_a_path_begun_anew_begins_anew():
    judge = watch(goal=[0.01, 0.01]).judge
    assert judge(SECOND, 0.0, off(1.0, 0.0)) is None
    assert judge(1000 * SECOND, 999.0, off(1.0, 0.0)) is None
    judge = watch(goal=[0.01, 0.01], goal_time=1.0).judge
    assert judge(5 * SECOND, 0.0, off(1.0, 0.0)) is None
    assert judge(0, -2.0, off(1.0, 0.0)) is None
    assert judge(7 * SECOND, 0.0, off(1.0, 0.0)) is None
