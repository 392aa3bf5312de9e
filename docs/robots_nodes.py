# SPDX-License-Identifier: Apache-2.0

"""A robot moved to a joint goal and a pose goal through the real nodes, all in one process."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import rclpy
import yaml
from geometry_msgs.msg import PoseStamped
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState

from robodyn_ros import messages
from robodyn_ros.forward_simulator import ForwardSimulator
from robodyn_ros.inverse_dynamics import InverseDynamics
from robodyn_ros.trajectory_planner import TrajectoryPlanner

if TYPE_CHECKING:
    from collections.abc import Callable

# Wall time that a motion may take on a busy machine [s].
PATIENCE = 300.0
PARAMETERS = {
    "sample_period": 0.01,
    "duration": 3.0,
    "kp": 400.0,
    "kv": 40.0,
    "idle": "hold",
    "watchdog_timeout": 0.0,
    "stepping": "lockstep",
    "dt": 0.0005,
    "control_rate": 250.0,
    "command_timeout": PATIENCE,
    "min_subscribers": 3,
}


class Flight:
    """Planner, controller and simulator of one robot, and a peer that sends goals."""

    def __init__(self, folder: Path, parameters: dict[str, Any]) -> None:
        file = folder / "parameters.yaml"
        every = {"/**": {"ros__parameters": PARAMETERS | parameters}}
        file.write_text(yaml.safe_dump(every), encoding="utf-8")
        rclpy.init(args=["--ros-args", "--params-file", str(file)])
        self.executor = SingleThreadedExecutor()
        self.peer = rclpy.create_node("goals", use_global_arguments=False)
        self.state: JointState | None = None
        self.peer.create_subscription(JointState, "joint_states", self._on_states, 1000)
        self.joints = self.peer.create_publisher(JointState, "goal_joints", 10)
        self.poses = self.peer.create_publisher(PoseStamped, "goal_pose", 10)
        makers = (TrajectoryPlanner, InverseDynamics, ForwardSimulator)
        self.nodes: list[Any] = [make() for make in makers]
        for node in (self.peer, *self.nodes):
            self.executor.add_node(node)

    def _on_states(self, message: JointState) -> None:
        self.state = message

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Let everything run until a condition holds; TimeoutError names what did not come."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"waited in vain for {what}")
            self.executor.spin_once(timeout_sec=0.05)

    def at(self, names: tuple[str, ...]) -> Any:
        """Positions of these joints [rad or m], as last heard."""
        assert self.state is not None
        where = dict(zip(self.state.name, self.state.position, strict=True))
        return np.array([where[name] for name in names])

    def now(self) -> float:
        """Simulated time [s]."""
        return 0.0 if self.state is None else 1e-9 * messages.to_nanoseconds(
            self.state.header.stamp
        )  # fmt: skip

    def settle(self) -> None:
        """Until the time of a motion and a half second more are over."""
        end = self.now() + PARAMETERS["duration"] + 1.0  # type: ignore[operator]
        self.until(lambda: self.now() >= end, "the end of a motion")

    def close(self) -> None:
        """End all nodes."""
        self.executor.shutdown()
        for node in (self.peer, *self.nodes):
            node.destroy_node()
        rclpy.try_shutdown()


def through_the_nodes(
    parameters: dict[str, Any], arm: Any, goal: Any, pose: Any
) -> tuple[float, float, float]:
    """Return the distance of a robot from a joint goal [rad], and from a pose goal [m], [rad].

    Args:
        parameters: of all nodes: which model, and how it is loaded.
        arm: model, for the pose of its tip.
        goal: positions (n,) of the joints.
        pose: of the tip (7,).

    Raises:
        TimeoutError: it does not move; it names what was waited for.
    """
    folder = TemporaryDirectory()
    flight = Flight(Path(folder.name), parameters)
    try:
        ready = lambda: (  # noqa: E731
            flight.joints.get_subscription_count() > 0
            and flight.poses.get_subscription_count() > 0
            and flight.state is not None
        )
        flight.until(ready, "the nodes")
        message = JointState(name=list(arm.joint_names), position=[float(q) for q in goal])
        flight.joints.publish(message)
        flight.settle()
        joint_error = float(np.abs(flight.at(arm.joint_names) - goal).max())
        stamped = PoseStamped()
        stamped.header.frame_id = arm.frames[0]
        messages.fill_pose(stamped.pose, pose)
        flight.poses.publish(stamped)
        flight.settle()
        tip = arm.body_pose(flight.at(arm.joint_names))
        away = float(np.linalg.norm(tip[:3] - pose[:3]))
        turned = 2.0 * float(np.arccos(np.clip(abs(tip[3:] @ pose[3:]), 0.0, 1.0)))
        return joint_error, away, turned
    finally:
        flight.close()
        folder.cleanup()
