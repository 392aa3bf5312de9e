"""Node `inverse_dynamics`: a trajectory and the measured state in, efforts out.

Subscribes `platform_trajectory` and `platform_state` of a platform, or `joint_trajectory` and
`joint_states` of an arm, and `external_wrench`. Publishes `effort_controller/commands` and
`joint_commands`, one for each state received and stamped with that state's time, and `~/forces`
and `~/massless_forces` for plots. Serves `~/stop`.
"""

from __future__ import annotations

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

import robodyn as rd
from robodyn.control import Command, TrajectoryFollower
from robodyn.trajectories import SampledTrajectory
from robodyn_ros import messages, qos
from robodyn_ros.external_wrench import ExternalWrench
from robodyn_ros.interfaces import interface
from robodyn_ros.parameters import MECHANISM, Spec, declare, load_mechanism

PARAMETERS = MECHANISM | {
    "mode": Spec(
        "computed_torque",
        "feedforward: efforts of the planned motion; computed_torque: corrected by feedback",
        choices=("feedforward", "computed_torque"),
    ),
    "kp": Spec(100.0, "computed torque: proportional gain [1/s^2]", 0.0, 1e6),
    "kv": Spec(20.0, "computed torque: derivative gain [1/s]", 0.0, 1e5),
    "preview": Spec(
        0.0, "computed torque: how far ahead the planned acceleration is taken [s]", 0.0, 1.0
    ),
    "idle": Spec(
        "wait",
        "without a trajectory: wait (publish nothing) or hold (stay where it is)",
        choices=("wait", "hold"),
    ),
}


class InverseDynamics(Node):
    """Answers each state with the efforts that the library computes for it."""

    def __init__(self) -> None:
        super().__init__("inverse_dynamics")
        p = declare(self, PARAMETERS)
        self._mechanism = load_mechanism(p)
        self._follower = TrajectoryFollower(
            self._mechanism,
            p["mode"],
            p["kp"],
            p["kv"],
            preview=p["preview"],
            hold_when_idle=p["idle"] == "hold",
        )
        self._joints = self._mechanism.joint_names
        self._commands = self.create_publisher(
            Float64MultiArray, "effort_controller/commands", qos.COMMAND
        )
        self._joint_commands = self.create_publisher(JointState, "joint_commands", qos.COMMAND)
        self._forces = self.create_publisher(JointState, "~/forces", qos.STATE)
        self._massless = self.create_publisher(JointState, "~/massless_forces", qos.STATE)
        self._interface = interface(self, self._mechanism)
        self._wrench = ExternalWrench(self, self._mechanism, self._interface)
        self._interface.on_trajectory(self._on_trajectory)
        self._interface.on_state(self._on_state, qos.LATEST)
        self.create_service(Trigger, "~/stop", self._on_stop)
        self.get_logger().info(f"{p['mode']} of {self._mechanism.name}, ready")

    def _on_trajectory(self, trajectory: SampledTrajectory, start: int | None) -> None:
        self._follower.follow(trajectory, start)
        self.get_logger().info(
            f"trajectory of {trajectory.duration:g} s, {len(trajectory.times)} points accepted"
        )

    def _on_state(self, stamp: int, configuration: np.ndarray, velocity: np.ndarray) -> None:
        try:
            wrench = self._wrench.at(configuration)
            command = self._follower.command(stamp, configuration, velocity, wrench)
        except rd.InvalidInput as error:
            self.get_logger().error(f"state refused: {error}", throttle_duration_sec=1.0)
            return
        if command is None:
            return
        if command.problem:
            self.get_logger().warn(command.problem, throttle_duration_sec=1.0)
        self._commands.publish(messages.multi_array(command.effort))
        self._joint_commands.publish(
            messages.joint_state(stamp, self._joints, effort=command.effort)
        )
        self._plots(stamp, command, wrench)

    def _plots(self, stamp: int, command: Command, wrench: np.ndarray) -> None:
        if self._forces.get_subscription_count():
            self._forces.publish(messages.joint_state(stamp, self._joints, effort=command.required))
        platform = self._mechanism.kind == "stewart"
        if platform and self._massless.get_subscription_count() and not command.problem:
            massless = self._mechanism.inverse_dynamics(
                *command.motion, wrench, formulation="massless"
            )
            self._massless.publish(messages.joint_state(stamp, self._joints, effort=massless))

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Leave the trajectory and stay where the mechanism is."""
        self._follower.stop()
        response.success = True
        response.message = "holding the present configuration"
        return response
