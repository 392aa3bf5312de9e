# SPDX-License-Identifier: Apache-2.0

"""Tolerances of a requested motion, and the check of its execution against them.

The rules, the numbers of the codes and the special values are those of control_msgs'
FollowJointTrajectory and of the joint_trajectory_controller.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import InvalidInput


class GoalCode(IntEnum):
    """Error codes in the result of the action FollowJointTrajectory."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


class Tolerances(NamedTuple):
    """Largest permitted errors (n,) of the joints; infinite for no limit.

    Attributes:
        position: [m or rad] largest position errors.
        velocity: [m/s or rad/s] largest velocity errors.
    """

    position: FloatArray
    velocity: FloatArray


class Verdict(NamedTuple):
    """Result of a goal check: error code and description.

    Attributes:
        code: error code for the result of the action.
        text: description.
    """

    code: GoalCode
    text: str


class Errors(NamedTuple):
    """Planned minus measured positions (n,) [m or rad] and velocities (n,) of the joints."""

    position: FloatArray
    velocity: FloatArray


def resolve_tolerance(name: str, given: float, default: float) -> float:
    """Return the permitted error for a tolerance from a message.

    A tolerance of 0 selects the default. A negative tolerance, or a default of 0, means no limit.

    Args:
        name: name of the tolerance in error messages.
        given: tolerance in the message.
        default: tolerance that 0 selects.

    Returns:
        The largest permitted error; infinite for no limit.

    Raises:
        InvalidInput: the value is not a number.
    """
    if np.isnan(given):
        raise InvalidInput(
            f"{name} is nan, expected a number: 0 for the default, -1 for no limit", value=given
        )
    if given == 0.0:
        given = default
    return given if given > 0.0 else np.inf


class GoalWatch:
    """Monitor that compares the errors of a motion with tolerances.

    Args:
        names: (n,) names of the joints.
        path: tolerances until the end of the motion.
        goal: tolerances after its end.
        goal_time: time [s] after the end in which the goal tolerances must be met; infinite for no
            limit.

    Raises:
        InvalidInput: tolerances have the wrong shape.
    """

    def __init__(
        self, names: Sequence[str], path: Tolerances, goal: Tolerances, goal_time: float
    ) -> None:
        self._names = tuple(names)
        for each in (*path, *goal):
            if np.shape(each) != (len(self._names),):
                raise InvalidInput(
                    f"tolerances have shape {np.shape(each)}, expected ({len(self._names)},)",
                    value=each,
                )
        self._path, self._goal, self._goal_time = path, goal, goal_time
        self._ended: int | None = None

    def judge(self, time: int, past_end: float, errors: Errors) -> Verdict | None:
        """Return the verdict for a state at `time` [ns]; None while the motion continues.

        Args:
            time: time [ns] of the state.
            past_end: time [s] since the end of the motion; negative before the end, minus infinity
                before the beginning, when no tolerance applies.
            errors: errors at that state.

        Returns:
            Success as soon as the goal tolerances are met after the end; failure if a path
            tolerance is exceeded before the end, or if the goal tolerances are not met in time;
            otherwise None.
        """
        if past_end == -np.inf:
            self._ended = None
            return None
        if past_end < 0.0:
            self._ended = None
            text = describe_violation(self._names, self._path, errors, "path")
            return Verdict(GoalCode.PATH_TOLERANCE_VIOLATED, text) if text else None
        if self._ended is None:
            self._ended = time
        text = describe_violation(self._names, self._goal, errors, "goal")
        if not text:
            return Verdict(GoalCode.SUCCESSFUL, "")
        late = (time - self._ended) * 1e-9
        if late <= self._goal_time:
            return None
        return Verdict(
            GoalCode.GOAL_TOLERANCE_VIOLATED,
            f"{text}, {late:.3g} s after the end of the trajectory",
        )


def describe_violation(
    names: Sequence[str], tolerances: Tolerances, errors: Errors, which: str
) -> str:
    """Describe a joint whose error exceeds its tolerance.

    Args:
        names: (n,) names of the joints.
        tolerances: tolerances that apply.
        errors: measured errors.
        which: kind of the tolerances, `path` or `goal`.

    Returns:
        The description; empty if all errors are within the tolerances.
    """
    for what, allowed, found in zip(Errors._fields, tolerances, errors, strict=True):
        over = ~(np.abs(found) <= allowed)  # NaN counts as over
        if over.any():
            joint = int(np.argmax(np.where(over, np.abs(found) / allowed, 0.0)))
            return (
                f"{names[joint]} is off by {found[joint]:.4g} in {what}, its {which} "
                f"tolerance is {allowed[joint]:.4g}"
            )
    return ""
