# SPDX-License-Identifier: Apache-2.0

"""Action server of FollowJointTrajectory; `robodyn.analysis.goal_execution` executes the goals.

The action `~/follow_joint_trajectory` is available if control_msgs is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node

from robodyn.analysis.goal_execution import ABORTED, GoalExecution, Report
from robodyn.analysis.trajectory_goals import Goal, GoalPlan, GoalRefused
from robodyn.control.goal_watch import Verdict
from robodyn_ros import messages

try:
    from control_msgs.action import FollowJointTrajectory
except ImportError:
    FollowJointTrajectory = None


NAME = "~/follow_joint_trajectory"
# Actions of the node with this server, for the documentation and the SROS 2 policy.
ACTIONS = {NAME: "control_msgs/FollowJointTrajectory"}


def serve(
    node: Node, names: Sequence[str], execution: GoalExecution, plan: Callable[[Goal], GoalPlan]
) -> TrajectoryAction | None:
    """Create the FollowJointTrajectory action of a node; None without control_msgs."""
    if FollowJointTrajectory is None:
        node.get_logger().debug(f"no {NAME}: control_msgs is not installed")
        return None
    return TrajectoryAction(node, names, execution, plan)


class _Server(ActionServer):
    """Action server whose goals are executed state by state, outside of its callback.

    The server of rclpy expects a function that returns at the end of a goal, but while such a
    function waits, executors poll instead of sleeping. So a function that returns the result is
    scheduled only at the end of the goal.
    """

    def notify_execute(
        self, goal_handle: ServerGoalHandle, execute_callback: Callable[..., Any] | None
    ) -> None:
        """If a callback is given, schedule it; at the start of a goal, none is given."""
        if execute_callback is not None:
            super().notify_execute(goal_handle, execute_callback)


class TrajectoryAction:
    """FollowJointTrajectory action server of a node.

    Args:
        node: node that offers the action.
        names: names of the joints in goals and feedback.
        execution: executor of accepted goals.
        plan: function that returns the plan for a goal, or raises GoalRefused.
    """

    def __init__(
        self,
        node: Node,
        names: Sequence[str],
        execution: GoalExecution,
        plan: Callable[[Goal], GoalPlan],
    ) -> None:
        self._names = list(names)
        self._node, self._execution = node, execution
        self._plan_of = plan
        self._plan: GoalPlan | None = None
        self._server = _Server(
            node,
            FollowJointTrajectory,
            NAME,
            lambda _: FollowJointTrajectory.Result(),
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
        )

    def destroy(self) -> None:
        """Destroy the action server."""
        self._server.destroy()

    def _publish_feedback(self, handle: ServerGoalHandle, report: Report) -> None:
        """Publish the feedback of a goal."""
        message = FollowJointTrajectory.Feedback(joint_names=self._names)
        message.header.stamp = messages.to_stamp(report.stamp)
        for field in ("desired", "actual", "error"):
            setattr(message, field, messages.joint_point(report.since, getattr(report, field)))
        handle.publish_feedback(message)

    def _conclude(self, handle: ServerGoalHandle, how: str, verdict: Verdict) -> None:
        """Send the result of a goal, from the verdict of `GoalExecution`."""
        text = f": {verdict.text}" if verdict.text else ""
        line = f"follow_joint_trajectory: {verdict.code.name}{text}"
        if how == ABORTED:
            self._node.get_logger().warning(line)
        else:
            self._node.get_logger().info(line)

        def hand_in(_: ServerGoalHandle) -> Any:
            getattr(handle, how)()
            return FollowJointTrajectory.Result(error_code=verdict.code, error_string=verdict.text)

        self._server.notify_execute(handle, hand_in)

    def _on_goal(self, goal: Goal) -> GoalResponse:
        try:
            self._plan = self._plan_of(goal)
        except GoalRefused as refused:
            self._node.get_logger().error(
                f"follow_joint_trajectory refused, {refused.code.name}: {refused}"
            )
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _on_accepted(self, handle: ServerGoalHandle) -> None:
        handle.execute()
        plan, self._plan = self._plan, None
        assert plan is not None  # made just before
        self._node.get_logger().info(
            f"follow_joint_trajectory: goal of {plan.trajectory.duration:g} s accepted"
        )
        self._execution.begin(plan, handle, self._publish_feedback, self._conclude)

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        ours = self._execution.cancel(handle)
        return CancelResponse.ACCEPT if ours else CancelResponse.REJECT
