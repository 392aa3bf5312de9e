# SPDX-License-Identifier: Apache-2.0

"""Execution of FollowJointTrajectory goals, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from robodyn.algorithms import motions
from robodyn.analysis.trajectory_goals import Goal, GoalPlan, GoalRefused, Present, examine
from robodyn.arrays import FloatArray
from robodyn.control import TrajectoryFollower, path_tolerances
from robodyn.control.goal_watch import Errors, GoalCode, Verdict
from robodyn.errors import KinematicsError

# Results of goals, by the names of ROS 2 actions.
SUCCEEDED, ABORTED, CANCELED = "succeed", "abort", "canceled"
REPLACED = "replaced by a newer goal"


class Report(NamedTuple):
    """Feedback on a FollowJointTrajectory goal in progress.

    Attributes:
        stamp: time [ns] of the state.
        since: time [ns] since the first state after the goal was accepted.
        desired: positions, velocities and accelerations (n,) of the joints.
        actual: measured positions and velocities (n,).
        error: desired minus actual.
    """

    stamp: int
    since: int
    desired: Sequence[FloatArray]
    actual: Sequence[FloatArray]
    error: Errors


class GoalExecution:
    """Executor of FollowJointTrajectory goals through a trajectory follower.

    Args:
        follower: follower that commands the mechanism.
        settings: default values for goals, by name: `start_tolerance`, `path_tolerance`,
            `goal_tolerance` [m or rad], `stopped_velocity_tolerance` [m/s or rad/s], `goal_time`
            [s]; and `feedback_rate` [1/s]. The values may change.

    Attributes:
        follower: follower in use; it may be replaced while no goal is in progress.
    """

    def __init__(self, follower: TrajectoryFollower, settings: dict[str, Any]) -> None:
        self.follower, self._settings = follower, settings
        self._present: Present | None = None
        self._plan: GoalPlan | None = None
        self._goal: Any = None
        self._publish_feedback: Callable[[Any, Report], None]
        self._conclude: Callable[[Any, str, Verdict], None]
        self._canceling = False
        self._began: int | None = None
        self._reported = 0
        self.set_path_tolerances(settings["path_tolerance"])

    @property
    def is_busy(self) -> bool:
        """Whether a goal is being executed."""
        return self._goal is not None

    def examine(self, goal: Goal, present: Present | None) -> GoalPlan:
        """Check a goal against the current state of the mechanism, and return its plan.

        Args:
            goal: goal of the action FollowJointTrajectory.
            present: current state of the mechanism; None if unknown.

        Returns:
            The trajectory, its start time and tolerances, for `begin`.

        Raises:
            GoalRefused: the goal is invalid (see `trajectory_goals.examine`), the position of the
                mechanism is unknown, or the node follows no trajectories in its mode.
        """
        if present is None:
            raise GoalRefused(
                "no state has been received yet, so the position of the mechanism is unknown"
            )
        if self.follower.mode == "gravity_compensation":
            raise GoalRefused(
                "mode is gravity_compensation, which follows no trajectory; start inverse_dynamics "
                "in mode computed_torque"
            )
        return examine(goal, self.follower.mechanism, present, self._settings)

    def begin(
        self,
        plan: GoalPlan,
        goal: Any,
        publish_feedback: Callable[[Any, Report], None],
        conclude: Callable[[Any, str, Verdict], None],
    ) -> None:
        """Begin to execute a goal's plan; a goal in progress is aborted.

        Args:
            plan: plan of the goal.
            goal: object that represents the goal.
            publish_feedback: called with the goal and its `Report`.
            conclude: called at the end with the goal, its status (SUCCEEDED, ABORTED or CANCELED),
                and the reason.
        """
        self._end(ABORTED, Verdict(GoalCode.INVALID_GOAL, REPLACED))
        self.follower.follow(plan.trajectory, plan.start)
        self._plan, self._goal, self._publish_feedback, self._conclude = (
            plan,
            goal,
            publish_feedback,
            conclude,
        )
        self.set_path_tolerances(self._tolerance)
        self._canceling, self._began = False, None

    def set_path_tolerances(self, path_tolerance: float) -> None:
        """Set the follower's path tolerances, except for joints whose goal states its own.

        Args:
            path_tolerance: [m or rad] one tolerance for all joints; 0 for no limit; negative for
                the defaults of `path_tolerances`.
        """
        self._tolerance = path_tolerance
        mechanism = self.follower.mechanism
        limits = path_tolerances(mechanism, path_tolerance)
        if limits is not None and self._plan is not None:
            limits[[name in self._plan.with_tolerances for name in mechanism.joint_names]] = np.inf
        self.follower.path_tolerance = limits

    def cancel(self, goal: Any) -> bool:
        """Stop the mechanism; when it is at rest, the goal is concluded as canceled.

        Args:
            goal: object that represents the goal.

        Returns:
            Whether this goal is in progress; otherwise nothing happens.
        """
        if self._goal is not goal:
            return False
        if not self._canceling:
            self._canceling = True
            self.follower.stop()
        return True

    def abandon(self, why: str, code: GoalCode = GoalCode.PATH_TOLERANCE_VIOLATED) -> None:
        """Stop the mechanism, and abort the goal in progress; without one, do nothing.

        Args:
            why: reason, for the result of the goal.
            code: error code of the result.
        """
        if self._goal is not None:
            self.follower.stop()
            self._end(CANCELED if self._canceling else ABORTED, Verdict(code, why))

    def update(self, time: int, configuration: FloatArray, velocity: FloatArray, why: str) -> None:
        """Check the goal in progress, if any, after the command for a state was computed.

        The method publishes feedback. It concludes the goal when it is reached, canceled or
        replaced, or when a tolerance is exceeded; in the last case the mechanism stops.

        Args:
            time: time [ns] of the state.
            configuration: (nq,) measured configuration.
            velocity: (nv,) measured velocity.
            why: reason why no command was computed; empty if there was no problem.
        """
        plan, follower = self._plan, self.follower
        if plan is None:
            return
        if self._canceling:
            if not follower.is_stopping:
                self._end(
                    CANCELED, Verdict(GoalCode.SUCCESSFUL, "canceled; the mechanism is at rest")
                )
            return
        if follower.abandoned:
            self._end(ABORTED, Verdict(GoalCode.PATH_TOLERANCE_VIOLATED, follower.abandoned))
            return
        past_end = follower.past_end(plan.trajectory)
        if past_end is None or follower.mode == "gravity_compensation":
            why = why or "the goal's trajectory was stopped or replaced"
            self._end(ABORTED, Verdict(GoalCode.INVALID_GOAL, why))
            return
        report = self._report(time, configuration, velocity)
        if report is None:
            return
        verdict = plan.watch.judge(time, past_end, report.error)
        if verdict is not None:
            if verdict.code == GoalCode.PATH_TOLERANCE_VIOLATED:
                follower.abandon(
                    "motion abandoned, as the mechanism does not follow its commands: "
                    f"{verdict.text}"
                )
            elif verdict.code != GoalCode.SUCCESSFUL:
                follower.stop()
            self._end(ABORTED if verdict.code else SUCCEEDED, verdict)
        elif not 0 <= (time - self._reported) * self._settings["feedback_rate"] < 1e9:
            self._reported = time
            self._publish_feedback(self._goal, report)

    def _report(self, time: int, configuration: FloatArray, velocity: FloatArray) -> Report | None:
        mechanism, planned = self.follower.mechanism, self.follower.desired
        if planned is None:
            return None
        if self._began is None or time < self._began:
            self._began, self._reported = time, -(2**62)
        still = np.zeros_like(velocity)
        try:
            desired = motions.independent_motion(mechanism, *planned)
            x, v, _ = motions.independent_motion(mechanism, configuration, velocity, still)
        except KinematicsError:
            return None  # a singular state has no feedback
        off = motions.joint_difference(mechanism, x, desired[0], mechanism.independent_joints)
        errors = Errors(off, desired[1] - v)
        return Report(time, time - self._began, desired, (x, v), errors)

    def _end(self, how: str, verdict: Verdict) -> None:
        goal, self._goal, self._plan = self._goal, None, None
        if goal is not None:
            self.set_path_tolerances(self._tolerance)
            self._conclude(goal, how, verdict)
