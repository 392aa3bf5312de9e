"""Node `inverse_dynamics`: a trajectory and the measured state in, actuator forces out.

Subscribes `platform_trajectory`, `platform_state` and `external_wrench`; publishes
`effort_controller/commands` and `joint_commands`, one for each state received and stamped with
that state's time, and `~/forces`, `~/massless_forces` for plots; serves `~/stop`.
"""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import MultiDOFJointTrajectory

import robodyn as rd
from robodyn.control import Command, TrajectoryFollower
from robodyn_ros import messages, qos
from robodyn_ros.parameters import MECHANISM, Spec, declare, load_mechanism
from robodyn_ros.runner import main as run_main

PARAMETERS = MECHANISM | {
    "mode": Spec(
        "computed_torque",
        "feedforward: forces of the planned motion; computed_torque: corrected by the measured one",
        choices=("feedforward", "computed_torque"),
    ),
    "kp": Spec(100.0, "computed torque: proportional gain [1/s^2]", 0.0, 1e6),
    "kv": Spec(20.0, "computed torque: derivative gain [1/s]", 0.0, 1e5),
    "idle": Spec(
        "wait",
        "without a trajectory: wait (publish nothing) or hold (stay where it is)",
        choices=("wait", "hold"),
    ),
}


class InverseDynamics(Node):
    """Answers each state with the forces that the library computes for it."""

    def __init__(self) -> None:
        super().__init__("inverse_dynamics")
        p = declare(self, PARAMETERS)
        self._mechanism = load_mechanism(p)
        self._follower = TrajectoryFollower(
            self._mechanism, p["mode"], p["kp"], p["kv"], hold_when_idle=p["idle"] == "hold"
        )
        self._names = self._mechanism.joint_names
        self._wrench = np.zeros(6)
        self._commands = self.create_publisher(
            Float64MultiArray, "effort_controller/commands", qos.COMMAND
        )
        self._joint_commands = self.create_publisher(JointState, "joint_commands", qos.COMMAND)
        self._forces = self.create_publisher(JointState, "~/forces", qos.STATE)
        self._massless = self.create_publisher(JointState, "~/massless_forces", qos.STATE)
        self.create_subscription(
            MultiDOFJointTrajectory, "platform_trajectory", self._on_trajectory, qos.LATCHED
        )
        self.create_subscription(Odometry, "platform_state", self._on_state, qos.LATEST)
        self.create_subscription(WrenchStamped, "external_wrench", self._on_wrench, qos.COMMAND)
        self.create_service(Trigger, "~/stop", self._on_stop)
        self.get_logger().info(f"{p['mode']} of {self._mechanism.name}, ready")

    def _on_trajectory(self, message: MultiDOFJointTrajectory) -> None:
        try:
            trajectory = messages.sampled_trajectory(message, self._mechanism)
        except rd.RobodynError as error:
            self.get_logger().error(f"trajectory refused: {error}")
            return
        stamp = messages.to_nanoseconds(message.header.stamp)
        self._follower.follow(trajectory, stamp or None)
        self.get_logger().info(
            f"trajectory of {trajectory.duration:g} s, {len(trajectory.times)} points accepted"
        )

    def _on_state(self, message: Odometry) -> None:
        try:
            stamp, pose, twist = messages.platform_state(message)
            command = self._follower.command(stamp, pose, twist, self._wrench)
        except rd.InvalidInput as error:
            self.get_logger().error(f"platform_state refused: {error}", throttle_duration_sec=1.0)
            return
        if command is None:
            return
        if command.problem:
            self.get_logger().warn(command.problem, throttle_duration_sec=1.0)
        self._commands.publish(messages.multi_array(command.effort))
        self._joint_commands.publish(
            messages.joint_state(stamp, self._names, effort=command.effort)
        )
        self._plots(stamp, command)

    def _plots(self, stamp: int, command: Command) -> None:
        if self._forces.get_subscription_count():
            self._forces.publish(messages.joint_state(stamp, self._names, effort=command.required))
        if self._massless.get_subscription_count() and not command.problem:
            massless = self._mechanism.inverse_dynamics(
                *command.motion, self._wrench, formulation="massless"
            )
            self._massless.publish(messages.joint_state(stamp, self._names, effort=massless))

    def _on_wrench(self, message: WrenchStamped) -> None:
        try:
            self._wrench = messages.finite("wrench", messages.wrench_array(message.wrench))
        except rd.RobodynError as error:
            self.get_logger().error(f"external_wrench refused: {error}")

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Leave the trajectory and stay where the mechanism is."""
        self._follower.stop()
        response.success = True
        response.message = "holding the present configuration"
        return response


def main() -> None:
    """Entry point of the executable."""
    run_main(InverseDynamics, "inverse_dynamics")
