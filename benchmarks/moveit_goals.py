# SPDX-License-Identifier: Apache-2.0

"""Random goals to MoveIt, executed by `inverse_dynamics`: how they end, and how far off.

Needs ROS 2 with MoveIt, and a running arm and move_group as in docs/moveit.md. Prints how many
goals ended in which way, by MoveIt's error codes; how far the joints were off afterwards; the
largest rate of the planned motions, which are quintics between MoveIt's points, as a share of the
model's limit; and for motions that were canceled, how long the arm took to come to rest and the
largest effort meanwhile, as a share of the model's limits.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import rclpy
from action_msgs.msg import GoalStatus
from moveit_msgs.action import MoveGroup
from moveit_msgs.msg import Constraints, JointConstraint, MoveItErrorCodes
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState

import robodyn as rd
from robodyn.trajectories.joint_points import through_points

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray

CODES = {
    value: name for name in dir(MoveItErrorCodes)
    if isinstance(value := getattr(MoveItErrorCodes, name), int)
}  # fmt: skip
EXACT = 1e-4  # [rad] to which MoveIt plans a goal
PATIENCE = 60.0  # [s]
STILL, MOVING = 0.01, 0.05  # [rad/s]
SAMPLES = 4000  # of a planned motion


class Client:
    """A client of move_group that also listens to the states of an arm."""

    def __init__(self, joints: tuple[str, ...], group: str) -> None:
        self._joints, self._group = joints, group
        self.states: list[tuple[float, FloatArray, FloatArray, FloatArray]] = []
        rclpy.init()
        node = rclpy.create_node("moveit_goals")
        node.create_subscription(
            JointState, "joint_states", self._on_states, qos_profile_sensor_data
        )
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(node)
        self._action = ActionClient(node, MoveGroup, "move_action")
        if not self._action.wait_for_server(PATIENCE):
            sys.exit(f"no move_group in {PATIENCE:g} s: nothing serves the action `move_action`")
        self.until(lambda: self.states, "joint_states")

    def _on_states(self, message: JointState) -> None:
        at = [message.name.index(name) for name in self._joints]
        parts = (message.position, message.velocity, message.effort)
        q, v, e = (np.array(part)[at] for part in parts)
        self.states.append(
            (message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec, q, v, e)
        )

    def spin(self, seconds: float) -> None:
        """Process messages for a time [s]."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            # rclpy forgets what else is ready when the timeout changes
            self._executor.spin_once(timeout_sec=0.01)

    def until(self, met: Any, what: str, timeout: float = PATIENCE) -> None:
        """Process messages until a condition is true; exit if it never is."""
        end = time.monotonic() + timeout
        while not met():
            if time.monotonic() > end:
                sys.exit(f"waited {timeout:g} s for {what}")
            self._executor.spin_once(timeout_sec=0.01)

    def result_of(self, future: Any, what: str) -> Any:
        """The result of a future."""
        self.until(future.done, what)
        return future.result()

    def send(self, goal: FloatArray) -> Any:
        """Send a goal of joint positions (n,) [rad], at full speed; its handle."""
        expected = MoveGroup.Goal()
        expected.request.group_name = self._group
        expected.request.num_planning_attempts = 3
        expected.request.allowed_planning_time = 5.0
        expected.request.max_velocity_scaling_factor = 1.0
        expected.request.max_acceleration_scaling_factor = 1.0
        expected.request.start_state.is_diff = True
        expected.planning_options.planning_scene_diff.is_diff = True
        expected.planning_options.planning_scene_diff.robot_state.is_diff = True
        exact = {"tolerance_above": EXACT, "tolerance_below": EXACT, "weight": 1.0}
        expected.request.goal_constraints = [
            Constraints(
                joint_constraints=[
                    JointConstraint(joint_name=name, position=float(position), **exact)
                    for name, position in zip(self._joints, goal, strict=True)
                ]
            )
        ]
        handle = self.result_of(self._action.send_goal_async(expected), "move_group to answer")
        if not handle.accepted:
            sys.exit("move_group did not take the goal")
        return handle

    def end_of(self, handle: Any) -> tuple[str, Any]:
        """Return how a goal ended, by MoveIt's error code, and its result."""
        found = self.result_of(handle.get_result_async(), "the end of a goal")
        canceled = " canceled" if found.status == GoalStatus.STATUS_CANCELED else ""
        return CODES[found.result.error_code.val] + canceled, found.result


def largest_rate(planned: Any, mechanism: rd.Mechanism) -> float:
    """The largest rate of a planned motion, as a share of the limit; 0 of one without points."""
    points = planned.points
    if len(points) < 2:
        return 0.0
    at = [planned.joint_names.index(name) for name in mechanism.joint_names]
    stamps = [each.time_from_start.sec + 1e-9 * each.time_from_start.nanosec for each in points]
    parts = ("positions", "velocities", "accelerations")
    values = (np.array([getattr(each, part) for each in points])[:, at] for part in parts)
    motion = through_points(stamps, *values).sample(np.linspace(0.0, stamps[-1], SAMPLES))
    return float((np.abs(motion.velocity) / mechanism.velocity_limits).max())


def fly(client: Client, goals: FloatArray, mechanism: rd.Mechanism) -> str:
    """Send goals (N, n) one after another; a line of how they ended."""
    ends: Counter[str] = Counter()
    off, rates = [0.0], [0.0]
    for goal in goals:
        end, result = client.end_of(client.send(goal))
        ends[end] += 1
        rates.append(largest_rate(result.planned_trajectory.joint_trajectory, mechanism))
        if end == "SUCCESS":
            client.spin(0.15)
            off.append(float(np.abs(client.states[-1][1] - goal).max()))
    return (
        f"{len(goals)} goals: {dict(ends)}; off by at most {1e3 * max(off):.2f} mrad; "
        f"planned rates at most {max(rates):.4f} of the limits"
    )


def cancel(
    client: Client, goals: FloatArray, mechanism: rd.Mechanism, rng: np.random.Generator
) -> str:
    """Cancel motions to goals (N, n) somewhere on the way, then complete them."""
    ends: Counter[str] = Counter()
    completed: Counter[str] = Counter()
    rests, fraction = [0.0], 0.0
    for goal in goals:
        handle = client.send(goal)
        client.until(
            lambda: np.abs(client.states[-1][2]).max() > MOVING, "the arm to move", timeout=10.0
        )
        client.spin(rng.uniform(0.0, 0.6))
        began, first = client.states[-1][0], len(client.states)
        client.result_of(handle.cancel_goal_async(), "move_group to answer")
        ends[client.end_of(handle)[0]] += 1
        client.spin(0.5)
        later = client.states[first:]
        moved = [stamp for stamp, _, v, _ in later if np.abs(v).max() > STILL]
        rests.append(max(moved, default=began) - began)
        efforts = np.array([effort for *_, effort in later])
        fraction = max(fraction, float((np.abs(efforts) / mechanism.effort_limits).max()))
        completed[client.end_of(client.send(goal))[0]] += 1
    return (
        f"{len(goals)} canceled: {dict(ends)}; at rest within {max(rests):.2f} s, with at most "
        f"{fraction:.2f} of the effort limits; sent again: {dict(completed)}"
    )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.moveit_goals",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", help="the arm, as its launch has it")
    parser.add_argument("--goals", type=int, default=40)
    parser.add_argument("--cancels", type=int, default=20)
    parser.add_argument("--group", default="arm", help="MoveIt's planning group")
    parser.add_argument("--center", type=float, nargs="+", help="of the goals [rad], by default 0")
    parser.add_argument("--box", type=float, default=1.0, help="half its edge [rad]")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    mechanism = rd.load(given.model)
    count = len(mechanism.joint_names)
    center = np.zeros(count) if given.center is None else np.array(given.center)
    if center.shape != (count,):
        parser.error(f"--center has {len(center)} numbers, {mechanism.name} has {count} joints")
    rng = np.random.default_rng(given.seed)
    around = [
        center + rng.uniform(-given.box, given.box, (number, count))
        for number in (given.goals, given.cancels)
    ]
    client = Client(mechanism.joint_names, given.group)
    for line in (
        fly(client, around[0], mechanism),
        cancel(client, around[1], mechanism, rng),
    ):
        sys.stdout.write(f"{mechanism.name}: {line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
