# SPDX-License-Identifier: Apache-2.0

"""Tolerances of a motion that was asked for, and the verdict on it while it is executed.

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
    """Of FollowJointTrajectory's result."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


class Tolerances(NamedTuple):
    """Largest errors (n,) of the joints, infinite where there is no limit.

    Attributes:
        position: [m or rad].
        velocity: [m/s or rad/s].
    """

    position: FloatArray
    velocity: FloatArray


class Verdict(NamedTuple):
    """How a motion ended.

    Attributes:
        code: that the action's result has.
        text: in words.
    """

    code: GoalCode
    text: str


class Errors(NamedTuple):
    """Planned minus measured, of each joint (n,): [m or rad] and per second."""

    position: FloatArray
    velocity: FloatArray


def resolved(name: str, given: float, default: float) -> float:
    """A tolerance as messages give them: 0 stands for the default, a negative one for no limit.

    A default of 0 means no limit, too.

    Raises:
        InvalidInput: not a number.
    """
    if np.isnan(given):
        raise InvalidInput(
            f"{name} is nan, expected a number: 0 for the default, -1 for no limit", value=given
        )
    if given == 0.0:
        given = default
    return given if given > 0.0 else np.inf


class GoalWatch:
    """Holds a motion against its tolerances.

    Args:
        names: (n,) of the joints.
        path: that hold until the end of the motion.
        goal: that hold after its end.
        goal_time: [s] after the end in which the goal's tolerances have to be met; infinite: any.

    Raises:
        InvalidInput: tolerances of the wrong shape.
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
        """The verdict at the state of `time` [ns]; None while there is none.

        Args:
            time: [ns] of the state.
            past_end: [s] how long the motion is over; negative before its end, minus infinity
                before its beginning, when nothing is held against it.
            errors: at that state.
        """
        if past_end == -np.inf:
            self._ended = None
            return None
        if past_end < 0.0:
            self._ended = None
            text = broken(self._names, self._path, errors, "path")
            return Verdict(GoalCode.PATH_TOLERANCE_VIOLATED, text) if text else None
        if self._ended is None:
            self._ended = time
        text = broken(self._names, self._goal, errors, "goal")
        if not text:
            return Verdict(GoalCode.SUCCESSFUL, "")
        late = (time - self._ended) * 1e-9
        if late <= self._goal_time:
            return None
        return Verdict(GoalCode.GOAL_TOLERANCE_VIOLATED, f"{text}, {late:.3g} s after the end")


def broken(names: Sequence[str], tolerances: Tolerances, errors: Errors, which: str) -> str:
    """Which joint is beyond a tolerance, in words; empty if none is.

    Args:
        names: (n,) of the joints.
        tolerances: that hold.
        errors: that are found.
        which: of the tolerances they are, `path` or `goal`.
    """
    for what, allowed, found in zip(Errors._fields, tolerances, errors, strict=True):
        over = ~(np.abs(found) <= allowed)  # a NaN is over
        if over.any():
            joint = int(np.argmax(np.where(over, np.abs(found) / allowed, 0.0)))
            return (
                f"{names[joint]} is off by {found[joint]:.4g} in {what}, its {which} "
                f"tolerance is {allowed[joint]:.4g}"
            )
    return ""
