# SPDX-License-Identifier: Apache-2.0

"""Checks of FollowJointTrajectory goals before they are accepted.

A goal is any object with the fields of that action's goal; `goal_execution` executes goals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from robodyn.algorithms import motions
from robodyn.analysis.limits import check_limits
from robodyn.arrays import FloatArray
from robodyn.control import GoalCode, GoalWatch, Tolerances, resolve_tolerance
from robodyn.errors import InvalidInput, RobodynError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories import Motion, SampledTrajectory, knot_times
from robodyn.trajectories.joint_points import through_points
from robodyn.trajectories.messages import joint_rows, to_nanoseconds, without_turns
from robodyn.trajectories.tip_joints import TipJoints, space_of

# Time [s] between points that are converted from joint motion to the mechanism's, and largest
# number of points, which are further apart in longer motions.
PERIOD, POINTS = 0.01, 20_000
# Rate [m/s, rad/s] below which a joint is at rest.
REST = 1e-6


class GoalRefused(RobodynError):
    """Error raised for a rejected FollowJointTrajectory goal; its message is the reason.

    `code` is the error code of the action's result.
    """

    def __init__(self, text: str, code: GoalCode = GoalCode.INVALID_GOAL) -> None:
        super().__init__(text, value=code)
        self.code = code


class Present(NamedTuple):
    """State of the mechanism when a goal arrives.

    Attributes:
        stamp: time [ns] of the latest state.
        measured: latest state, with zero acceleration.
        planned: planned motion at that time; None if no trajectory is followed.
    """

    stamp: int
    measured: Motion
    planned: Motion | None


class GoalPlan(NamedTuple):
    """Accepted goal: trajectory, start time and tolerances.

    Attributes:
        trajectory: trajectory of the mechanism.
        start: start time [ns], on the clock of the states' stamps; None to start at once.
        watch: monitor of the goal's tolerances.
        with_tolerances: joints for which the goal states a path tolerance.
    """

    trajectory: SampledTrajectory
    start: int | None
    watch: GoalWatch
    with_tolerances: frozenset[str] = frozenset()


class Goal(Protocol):
    """FollowJointTrajectory goal: the fields that `examine` reads."""

    trajectory: Any
    path_tolerance: Sequence[Any]
    goal_tolerance: Sequence[Any]
    goal_time_tolerance: Any


def examine(
    goal: Goal, mechanism: Mechanism, present: Present, settings: dict[str, Any]
) -> GoalPlan:
    """Check a FollowJointTrajectory goal, and convert it to a plan for its execution.

    Args:
        goal: goal of the action.
        mechanism: mechanism with its limits and its payload.
        present: current state of the mechanism.
        settings: default tolerances by name, see `goal_execution.GoalExecution`.

    Returns:
        The trajectory, its start time and tolerances.

    Raises:
        GoalRefused: the goal is malformed, starts away from the mechanism's position, is already
            over, or exceeds a limit of position, velocity or effort.
    """
    space = space_of(mechanism, list(goal.trajectory.joint_names))
    _check_fields(goal)
    _check_names(list(goal.trajectory.joint_names), space.independent_joints)
    try:
        watch = _watch(goal, mechanism.independent_joints, settings)
        times, rows = _points(goal, mechanism, space, present)
        start = to_nanoseconds(goal.trajectory.header.stamp) or None
        ahead = 0.0 if start is None else (start - present.stamp) * 1e-9
        if ahead + times[-1] < 0.0:
            raise GoalRefused(
                f"the trajectory ended {-ahead - times[-1]:.4g} s ago, according to its "
                "header.stamp and the stamp of the latest state",
                GoalCode.OLD_HEADER_TIMESTAMP,
            )
        motion = through_points(times, *rows)
        if ahead <= 0.0:
            first = motion.sample(-ahead).configuration
            _check_start(first, mechanism, space, present, settings)
        period = max(PERIOD, motion.duration / POINTS)
        knots = knot_times(motion.duration, motion.switching_times, period)
        trajectory = SampledTrajectory(
            mechanism,
            knots,
            motions.motion_of_independent(
                space, *motion.sample(knots), present.measured.configuration
            ),
        )
        broken = check_limits(mechanism, trajectory)
    except GoalRefused:
        raise
    except RobodynError as error:
        raise GoalRefused(str(error)) from error
    if broken is not None:
        raise GoalRefused(broken.text)
    with_tolerances = frozenset(each.name for each in goal.path_tolerance if each.position)
    return GoalPlan(trajectory, start, watch, with_tolerances)


def _check_fields(goal: Goal) -> None:
    """Reject a trajectory goal with fields that would be ignored."""
    several = getattr(goal, "multi_dof_trajectory", None)
    if several is not None and several.points:
        raise GoalRefused("multi_dof_trajectory is not supported; give the joints in trajectory")
    for name in ("component_path_tolerance", "component_goal_tolerance"):
        if getattr(goal, name, ()):
            raise GoalRefused(f"{name} belongs to multi_dof_trajectory; leave it empty")


def _check_names(given: list[str], names: Sequence[str]) -> None:
    if sorted(given) == sorted(names):
        return
    missing = [name for name in names if name not in given]
    unknown = [name for name in given if name not in names]
    what = "one joint is named twice"
    if missing or unknown:
        lists = (("missing", missing), ("unknown", unknown))
        what = "; ".join(f"{word}: {', '.join(some)}" for word, some in lists if some)
    raise GoalRefused(
        f"joints do not match ({what}), expected each of {', '.join(names)} once",
        GoalCode.INVALID_JOINTS,
    )


def _points(
    goal: Goal, mechanism: Mechanism, space: Mechanism | TipJoints, present: Present
) -> tuple[FloatArray, list[FloatArray]]:
    """Return the times (K,) [s] and the fields (K, n) of the K trajectory points.

    Times begin at 0. The fields are positions and, if the goal contains them, velocities and
    accelerations.
    """
    message = goal.trajectory
    names = space.independent_joints
    times, rows = joint_rows(message, names)
    measured = motions.independent_motion(space, *present.measured)[0]
    rows = without_turns(mechanism, names, times, rows, measured)
    fields = ("positions", "velocities", "accelerations")
    given = [all(len(getattr(p, field)) > 0 for p in message.points) for field in fields]
    if not given[0]:
        raise InvalidInput(
            "a point has no positions, expected the positions of all joints in each point", value=0
        )
    degree = given.index(False) if False in given else len(fields)
    used = [np.array(values) for values in rows[:degree]]
    if degree > 1 and (np.abs(used[1][-1]) > REST).any():
        raise InvalidInput(
            f"the last point has the velocities {used[1][-1].tolist()}, but the "
            "mechanism must be at rest there",
            value=used[1][-1],
        )
    if times[0] > 0.0:
        # from the measured or planned position to the first point
        here = present.measured if present.planned is None else present.planned
        first = motions.independent_motion(space, *here)
        way = motions.joint_difference(mechanism, measured, first[0], names)
        first = first._replace(positions=measured + way)
        used = [
            np.concatenate([one[None], values]) for one, values in zip(first, used, strict=False)
        ]
        times = np.append(0.0, times)
    return times, used


def _check_start(
    first: FloatArray,
    mechanism: Mechanism,
    space: Mechanism | TipJoints,
    present: Present,
    settings: dict[str, Any],
) -> None:
    allowed, names = settings["start_tolerance"], space.independent_joints
    here = motions.independent_motion(space, *present.measured)[0]
    off = np.abs(motions.joint_difference(mechanism, here, first, names))
    if allowed and not off.max() <= allowed:
        joint = int(off.argmax())
        raise GoalRefused(
            f"the trajectory begins with joint {names[joint]} at {first[joint]:.6g}, but "
            f"{names[joint]} is at {here[joint]:.6g}; start_tolerance is {allowed:g}",
        )


def _watch(goal: Goal, names: Sequence[str], settings: dict[str, Any]) -> GoalWatch:
    path = _tolerances(goal, "path_tolerance", names, settings, 0.0)
    stopped = settings["stopped_velocity_tolerance"]
    end = _tolerances(goal, "goal_tolerance", names, settings, stopped)
    given = to_nanoseconds(goal.goal_time_tolerance) * 1e-9
    time = resolve_tolerance("goal_time_tolerance", given, settings["goal_time"])
    return GoalWatch(names, path, end, time)


def _tolerances(
    goal: Goal, field: str, names: Sequence[str], settings: dict[str, Any], velocity: float
) -> Tolerances:
    usual = settings[field], velocity
    found = Tolerances(
        *(np.full(len(names), resolve_tolerance(field, 0.0, value)) for value in usual)
    )
    for each in getattr(goal, field):
        if each.name not in names:
            raise GoalRefused(
                f"{field} names {each.name!r}, expected one of {', '.join(names)}",
                GoalCode.INVALID_JOINTS,
            )
        joint = list(names).index(each.name)
        requested = each.position, each.velocity
        for values, one, default in zip(found, requested, usual, strict=True):
            values[joint] = resolve_tolerance(f"{field} of {each.name}", one, default)
    return found
