# SPDX-License-Identifier: Apache-2.0

"""Goals of FollowJointTrajectory: examined before they are accepted, watched until they end.

This is all of the protocol but the action server itself: goals are anything with the fields of that
action's goal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from robodyn.analysis.limits import check_limits
from robodyn.arrays import FloatArray
from robodyn.control import TrajectoryFollower
from robodyn.control.goal_watch import (
    Errors,
    GoalCode,
    GoalWatch,
    Tolerances,
    Verdict,
    resolved,
)
from robodyn.control.path_tolerance import path_tolerances
from robodyn.errors import InvalidInput, KinematicsError, RobodynError
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.trajectories import Motion, SampledTrajectory, knot_times
from robodyn.trajectories.joint_points import through_points
from robodyn.trajectories.messages import joint_rows, to_nanoseconds
from robodyn.trajectories.tip_joints import TipJoints, space_of

# Time between the points at which the motion of the joints becomes the mechanism's [s], and the
# largest number of them; a longer motion has them further apart.
PERIOD, POINTS = 0.01, 20_000
# [m/s, rad/s] of a joint that is at rest.
REST = 1e-6


class GoalRefused(RobodynError):
    """A goal that is not accepted: `code` is that of the action's result, the text says why."""

    def __init__(self, text: str, code: GoalCode = GoalCode.INVALID_GOAL) -> None:
        super().__init__(text, value=code)
        self.code = code


class Present(NamedTuple):
    """Where the mechanism is when a goal arrives.

    Attributes:
        stamp: [ns] of the latest state.
        measured: of that state; its acceleration is zero.
        planned: for that state; None where nothing is followed.
    """

    stamp: int
    measured: Motion
    planned: Motion | None


class GoalPlan(NamedTuple):
    """A goal as it will be executed.

    Attributes:
        trajectory: of the mechanism.
        start: [ns] by the states' stamps; None for at once.
        watch: its tolerances.
        says: joints whose tolerance on the way it says itself.
    """

    trajectory: SampledTrajectory
    start: int | None
    watch: GoalWatch
    says: frozenset[str] = frozenset()


class Goal(Protocol):
    """The fields of a goal that are used; FollowJointTrajectory's has more."""

    trajectory: Any
    path_tolerance: Sequence[Any]
    goal_tolerance: Sequence[Any]
    goal_time_tolerance: Any


def examine(
    goal: Goal, mechanism: Mechanism, present: Present, settings: dict[str, Any]
) -> GoalPlan:
    """The plan of a goal.

    Args:
        goal: of the action.
        mechanism: with its limits and its payload.
        present: where it is.
        settings: see `GoalExecution`.

    Raises:
        GoalRefused: malformed, away from where the mechanism is, over already, or beyond a limit
            of position, rate or effort.
    """
    space = space_of(mechanism, list(goal.trajectory.joint_names))
    _check_fields(goal)
    _check_names(list(goal.trajectory.joint_names), space.independent_joints)
    try:
        watch = _watch(goal, mechanism.independent_joints, settings)
        times, rows = _points(goal, space, present)
        start = to_nanoseconds(goal.trajectory.header.stamp) or None
        ahead = 0.0 if start is None else (start - present.stamp) * 1e-9
        if ahead + times[-1] < 0.0:
            raise GoalRefused(
                f"it ended {-ahead - times[-1]:.4g} s ago, by its header.stamp and the stamp of "
                "the latest state",
                GoalCode.OLD_HEADER_TIMESTAMP,
            )
        motion = through_points(times, *rows)
        if ahead <= 0.0:
            _check_start(motion.sample(-ahead).configuration, space, present, settings)
        period = max(PERIOD, motion.duration / POINTS)
        knots = knot_times(motion.duration, motion.switching_times, period)
        trajectory = SampledTrajectory(
            mechanism,
            knots,
            space.motion_of_independent(*motion.sample(knots), present.measured.configuration),
        )
        broken = check_limits(mechanism, trajectory)
    except GoalRefused:
        raise
    except RobodynError as error:
        raise GoalRefused(str(error)) from error
    if broken is not None:
        raise GoalRefused(broken.text)
    says = frozenset(each.name for each in goal.path_tolerance if each.position)
    return GoalPlan(trajectory, start, watch, says)


def _check_fields(goal: Goal) -> None:
    """Refuse what the goal would have to ignore."""
    several = getattr(goal, "multi_dof_trajectory", None)
    if several is not None and several.points:
        raise GoalRefused("multi_dof_trajectory is not executed; give the joints in trajectory")
    for name in ("component_path_tolerance", "component_goal_tolerance"):
        if getattr(goal, name, ()):
            raise GoalRefused(f"{name} is of multi_dof_trajectory; leave it empty")


def _check_names(given: list[str], names: Sequence[str]) -> None:
    if sorted(given) == sorted(names):
        return
    missing = [name for name in names if name not in given]
    unknown = [name for name in given if name not in names]
    what = "are named twice"
    if missing or unknown:
        lists = (("missing", missing), ("unknown", unknown))
        what = "; ".join(f"{word}: {', '.join(some)}" for word, some in lists if some)
    raise GoalRefused(
        f"joints do not match ({what}), expected each of {', '.join(names)} once",
        GoalCode.INVALID_JOINTS,
    )


def _points(
    goal: Goal, mechanism: Mechanism | TipJoints, present: Present
) -> tuple[FloatArray, list[FloatArray]]:
    """Times from 0 on (K,) [s], and (K, n) of positions and of what else all points have."""
    message = goal.trajectory
    times, rows = joint_rows(message, mechanism.independent_joints)
    fields = ("positions", "velocities", "accelerations")
    given = [all(len(getattr(p, field)) > 0 for p in message.points) for field in fields]
    if not given[0]:
        raise InvalidInput("a point has no positions, expected those of all joints", value=0)
    degree = given.index(False) if False in given else len(fields)
    used = [np.array(values) for values in rows[:degree]]
    if degree > 1 and (np.abs(used[1][-1]) > REST).any():
        raise InvalidInput(
            f"the last point has the rates {used[1][-1].tolist()}, must be at rest",
            value=used[1][-1],
        )
    if times[0] > 0.0:
        # from where it is, or from where it is planned to be, to the first point
        here = present.measured if present.planned is None else present.planned
        first = mechanism.independent_motion(*here)
        used = [
            np.concatenate([one[None], values]) for one, values in zip(first, used, strict=False)
        ]
        times = np.append(0.0, times)
    return times, used


def _check_start(
    first: FloatArray, mechanism: Mechanism | TipJoints, present: Present, settings: dict[str, Any]
) -> None:
    allowed = settings["start_tolerance"]
    here = mechanism.independent_motion(*present.measured)[0]
    off = np.abs(first - here)
    if allowed and not off.max() <= allowed:
        joint = int(off.argmax())
        raise GoalRefused(
            f"it begins with {mechanism.independent_joints[joint]} at {first[joint]:.6g}, which is "
            f"at {here[joint]:.6g}; start_tolerance is {allowed:g}",
        )


def _watch(goal: Goal, names: Sequence[str], settings: dict[str, Any]) -> GoalWatch:
    path = _tolerances(
        "path_tolerance", goal.path_tolerance, names, settings["path_tolerance"], 0.0
    )
    end = _tolerances(
        "goal_tolerance",
        goal.goal_tolerance,
        names,
        settings["goal_tolerance"],
        settings["stopped_velocity_tolerance"],
    )
    given = to_nanoseconds(goal.goal_time_tolerance) * 1e-9
    time = resolved("goal_time_tolerance", given, settings["goal_time"])
    return GoalWatch(names, path, end, time)


def _tolerances(
    field: str, given: Sequence[Any], names: Sequence[str], position: float, velocity: float
) -> Tolerances:
    default = resolved(field, 0.0, position), resolved(field, 0.0, velocity)
    found = Tolerances(*(np.full(len(names), value) for value in default))
    for each in given:
        if each.name not in names:
            raise GoalRefused(
                f"{field} names {each.name!r}, expected some of {', '.join(names)}",
                GoalCode.INVALID_JOINTS,
            )
        joint = list(names).index(each.name)
        for values, asked, usual in zip(
            found, (each.position, each.velocity), (position, velocity), strict=True
        ):
            values[joint] = resolved(f"{field} of {each.name}", asked, usual)
    return found


# How goals end, as ROS 2 actions call it.
SUCCEEDED, ABORTED, CANCELED = "succeed", "abort", "canceled"
REPLACED = "replaced by a newer goal"


class Report(NamedTuple):
    """Feedback on a goal.

    Attributes:
        stamp: [ns] of the state.
        since: [ns] since the first state after the goal was accepted.
        desired: positions, rates and accelerations (n,) of the joints.
        actual: positions and rates.
        error: desired minus actual.
    """

    stamp: int
    since: int
    desired: Sequence[FloatArray]
    actual: Sequence[FloatArray]
    error: Errors


class GoalExecution:
    """Takes goals, has a follower execute them, and tells how it goes.

    Args:
        follower: that commands the mechanism.
        settings: by name, may change: `start_tolerance`, `path_tolerance`, `goal_tolerance` [m or
            rad], `stopped_velocity_tolerance` [m/s or rad/s], `goal_time` [s], as where a goal
            says nothing; `feedback_rate` [1/s].

    Attributes:
        follower: may be replaced while there is no goal.
    """

    def __init__(self, follower: TrajectoryFollower, settings: dict[str, Any]) -> None:
        self.follower, self._settings = follower, settings
        self._present: Present | None = None
        self._plan: GoalPlan | None = None
        self._goal: Any = None
        self._tell: Callable[[Any, Report], None]
        self._conclude: Callable[[Any, str, Verdict], None]
        self._canceling = False
        self._began: int | None = None
        self._reported = 0
        self.keep_to(settings["path_tolerance"])

    @property
    def is_busy(self) -> bool:
        """Whether there is a goal."""
        return self._goal is not None

    def examine(self, goal: Goal, present: Present | None) -> GoalPlan:
        """The plan of a goal, with the mechanism at `present`.

        Raises:
            GoalRefused: as `examine`; or nobody knows where the mechanism is, or
                trajectories are not followed.
        """
        if present is None:
            raise GoalRefused("no state has been heard yet: nobody knows where it is")
        if self.follower.mode == "gravity_compensation":
            raise GoalRefused("mode is gravity_compensation, which follows no trajectory")
        return examine(goal, self.follower.mechanism, present, self._settings)

    def begin(
        self,
        plan: GoalPlan,
        goal: Any,
        tell: Callable[[Any, Report], None],
        conclude: Callable[[Any, str, Verdict], None],
    ) -> None:
        """Execute a plan; a goal that is being executed is aborted, and handed over from.

        Args:
            plan: of the goal.
            goal: whatever stands for it.
            tell: called with it and how it goes.
            conclude: called with it and how it ended: SUCCEEDED, ABORTED or CANCELED, and why.
        """
        self._end(ABORTED, Verdict(GoalCode.INVALID_GOAL, REPLACED))
        self.follower.follow(plan.trajectory, plan.start)
        self._plan, self._goal, self._tell, self._conclude = plan, goal, tell, conclude
        self.keep_to(self._tolerance)
        self._canceling, self._began = False, None

    def keep_to(self, path_tolerance: float) -> None:
        """Have the follower keep to `path_tolerances`; a goal's own is judged here."""
        self._tolerance = path_tolerance
        mechanism = self.follower.mechanism
        limits = path_tolerances(mechanism, path_tolerance)
        if limits is not None and self._plan is not None:
            limits[[name in self._plan.says for name in mechanism.joint_names]] = np.inf
        self.follower.path_tolerance = limits

    def cancel(self, goal: Any) -> bool:
        """Come to rest, and conclude the goal then; returns whether it is being executed."""
        if self._goal is not goal:
            return False
        if not self._canceling:
            self._canceling = True
            self.follower.stop()
        return True

    def abandon(self, why: str, code: GoalCode = GoalCode.PATH_TOLERANCE_VIOLATED) -> None:
        """End the goal, if there is one, and come to rest with the states to come."""
        if self._goal is not None:
            self.follower.stop()
            self._end(CANCELED if self._canceling else ABORTED, Verdict(code, why))

    def update(self, time: int, configuration: FloatArray, velocity: FloatArray, why: str) -> None:
        """Go on with the goal, if there is one, after the command for a state was computed.

        Args:
            time: [ns] of the state.
            configuration: (nq,) measured.
            velocity: (nv,) measured.
            why: what was wrong with the command; empty if nothing.
        """
        plan, follower = self._plan, self.follower
        if plan is None:
            return
        if self._canceling:
            if not follower.is_stopping:
                self._end(CANCELED, Verdict(GoalCode.SUCCESSFUL, "canceled, and at rest"))
            return
        if follower.abandoned:
            self._end(ABORTED, Verdict(GoalCode.PATH_TOLERANCE_VIOLATED, follower.abandoned))
            return
        past_end = follower.past_end(plan.trajectory)
        if past_end is None or follower.mode == "gravity_compensation":
            why = why or "its trajectory was stopped or replaced"
            self._end(ABORTED, Verdict(GoalCode.INVALID_GOAL, why))
            return
        report = self._report(time, configuration, velocity)
        if report is None:
            return
        verdict = plan.watch.judge(time, past_end, report.error)
        if verdict is not None:
            if verdict.code == GoalCode.PATH_TOLERANCE_VIOLATED:
                follower.abandon(
                    f"motion abandoned, as its commands are not obeyed: {verdict.text}"
                )
            elif verdict.code != GoalCode.SUCCESSFUL:
                follower.stop()
            self._end(ABORTED if verdict.code else SUCCEEDED, verdict)
        elif not 0 <= (time - self._reported) * self._settings["feedback_rate"] < 1e9:
            self._reported = time
            self._tell(self._goal, report)

    def _report(self, time: int, configuration: FloatArray, velocity: FloatArray) -> Report | None:
        mechanism, planned = self.follower.mechanism, self.follower.desired
        if planned is None:
            return None
        if self._began is None or time < self._began:
            self._began, self._reported = time, -(2**62)
        still = np.zeros_like(velocity)
        try:
            desired = mechanism.independent_motion(*planned)
            x, v, _ = mechanism.independent_motion(configuration, velocity, still)
        except KinematicsError:
            return None  # of a singular state there is nothing to tell
        errors = Errors(desired[0] - x, desired[1] - v)
        return Report(time, time - self._began, desired, (x, v), errors)

    def _end(self, how: str, verdict: Verdict) -> None:
        goal, self._goal, self._plan = self._goal, None, None
        if goal is not None:
            self.keep_to(self._tolerance)
            self._conclude(goal, how, verdict)
