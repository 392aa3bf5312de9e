# SPDX-License-Identifier: Apache-2.0

"""The action follow_joint_trajectory over DDS, by rclpy's own client, with a simulated arm."""

from __future__ import annotations

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState

import robodyn as rd
from robodyn_ros import messages

FollowJointTrajectory = pytest.importorskip(
    "control_msgs.action", reason="control_msgs is not installed"
).FollowJointTrajectory

pytestmark = pytest.mark.ros
Result = FollowJointTrajectory.Result


class Sender:
    """An action client, and where its goals lead."""

    def __init__(self, peer, arm) -> None:
        self.peer, self.arm = peer, arm
        self.client = ActionClient(
            peer.node, FollowJointTrajectory, "/inverse_dynamics/follow_joint_trajectory"
        )
        peer.until(self.client.server_is_ready, "the action")
        self.feedback = []

    def send(self, positions, seconds=1.0, names=None):
        """The goal's handle, and the future of its result if it was accepted."""
        goal = FollowJointTrajectory.Goal()
        names = self.arm.joint_names if names is None else names
        goal.trajectory = messages.joint_trajectory(
            names, np.array([seconds]), [np.array([positions])]
        )
        sent = self.client.send_goal_async(
            goal, lambda message: self.feedback.append(message.feedback)
        )
        self.peer.until(sent.done, "an answer to a goal")
        handle = sent.result()
        return handle, handle.get_result_async() if handle.accepted else None

    def result(self, future):
        self.peer.until(future.done, "a result")
        return future.result().status, future.result().result

    def change(self, number: int) -> bool:
        request = ChangeState.Request(transition=Transition(id=number))
        return self.peer.call(ChangeState, "/inverse_dynamics/change_state", request).success


@pytest.fixture(scope="module")
def sender(peer, start):
    common = {"model": "stanford_arm"}
    controller = start("inverse_dynamics", common | {"idle": "hold", "watchdog_timeout": 0.0})
    controller.wait_for_line("ready")
    made = Sender(peer, rd.load("stanford_arm"))
    made.controller = controller
    # in lockstep: however busy the machine is, the motion is the same
    start("forward_simulator", common)
    commands = peer.listen(JointState, "joint_commands")
    peer.until(lambda: commands, "commands that hold the arm")
    # the executor that serves all of this is ours
    assert "own executor" not in controller.output
    return made


def test_a_goal_is_reached_and_reported(sender):
    home = sender.arm.home
    handle, future = sender.send(home + 0.1)
    assert handle.accepted
    status, result = sender.result(future)
    assert (status, result.error_code) == (GoalStatus.STATUS_SUCCEEDED, Result.SUCCESSFUL)
    # the result may overtake feedback
    sender.peer.until(
        lambda: np.allclose(sender.feedback[-1].desired.positions, home + 0.1, atol=0.02),
        "feedback of the end",
    )
    stamps = np.array([messages.to_nanoseconds(f.header.stamp) for f in sender.feedback])
    assert len(stamps) >= 10
    assert (np.diff(stamps) >= 50_000_000).all()
    last = sender.feedback[-1]
    assert tuple(last.joint_names) == sender.arm.joint_names
    np.testing.assert_allclose(
        last.error.positions, np.subtract(last.desired.positions, last.actual.positions), atol=1e-12
    )


def test_a_goal_that_makes_no_sense_is_rejected(sender):
    handle, _ = sender.send(sender.arm.home, names=[*sender.arm.joint_names[:-1], "elbow"])
    assert not handle.accepted
    sender.controller.wait_for_line("follow_joint_trajectory refused, INVALID_JOINTS", "elbow")
    handle, _ = sender.send(sender.arm.home + 0.4, seconds=1e-3)
    assert not handle.accepted
    sender.controller.wait_for_line("follow_joint_trajectory refused, INVALID_GOAL", "limit")


def test_a_goal_is_cancelled_at_rest(sender):
    handle, future = sender.send(sender.arm.home + 0.2, seconds=60.0)
    known = len(sender.feedback)
    sender.peer.until(lambda: len(sender.feedback) > known + 3, "feedback")
    canceled = handle.cancel_goal_async()
    sender.peer.until(canceled.done, "an answer to the cancel")
    assert len(canceled.result().goals_canceling) == 1
    assert sender.result(future)[0] == GoalStatus.STATUS_CANCELED
    again = handle.cancel_goal_async()
    sender.peer.until(again.done, "an answer to the cancel")
    assert not again.result().goals_canceling


def test_a_newer_goal_replaces_an_older_one(sender):
    _, first = sender.send(sender.arm.home + 0.2, seconds=60.0)
    known = len(sender.feedback)
    sender.peer.until(lambda: len(sender.feedback) > known + 3, "feedback")
    _, second = sender.send(sender.arm.home, seconds=1.5)
    status, result = sender.result(first)
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL)
    assert "newer" in result.error_string
    assert sender.result(second)[0] == GoalStatus.STATUS_SUCCEEDED


def test_inverse_dynamics_can_be_deactivated_and_activated_during_a_goal(sender):
    _, future = sender.send(sender.arm.home + 0.1, seconds=60.0)
    known = len(sender.feedback)
    sender.peer.until(lambda: len(sender.feedback) > known + 3, "feedback")
    assert sender.change(Transition.TRANSITION_DEACTIVATE)
    status, result = sender.result(future)
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL)
    assert "deactivated" in result.error_string
    handle, _ = sender.send(sender.arm.home)
    assert not handle.accepted
    assert sender.change(Transition.TRANSITION_ACTIVATE)
    _, future = sender.send(sender.arm.home, seconds=2.0)
    assert sender.result(future)[0] == GoalStatus.STATUS_SUCCEEDED
