# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Node `inverse_dynamics`: computes efforts from a trajectory and the measured state.

Subscribes `platform_trajectory` and `platform_state` for a platform, `joint_trajectory` and
`joint_states` for a mechanism moved by its joints, and `external_wrench`; a platform also takes a
`joint_trajectory` of leg lengths. Publishes `effort_controller/commands` and `joint_commands`, one
for each state received and stamped with that state's time; `~/joint_trajectory_with_effort` for a
joint_trajectory_controller; `~/forces` and `~/massless_forces` for plots; `/diagnostics`. Serves
`~/stop`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

import robodyn as rd
from robodyn.control import Command, TrajectoryFollower, Watchdog, joint_motion
from robodyn.trajectories import SampledTrajectory
from robodyn_ros import diagnostics, messages, qos
from robodyn_ros.external_wrench import ExternalWrench
from robodyn_ros.frames import TRANSFORMS
from robodyn_ros.interfaces import Interface
from robodyn_ros.parameters import MECHANISM, Spec, declare, live, load_mechanism, on_change
from robodyn_ros.payload_parameters import PAYLOAD, PayloadParameters
from robodyn_ros.reused_messages import JointStateMessage, MultiArrayMessage

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray

MODES = ("feedforward", "computed_torque", "gravity_compensation")
SETTINGS = {
    "mode": live(
        "computed_torque",
        "feedforward: efforts of the planned motion; computed_torque: with feedback; "
        "gravity_compensation: efforts that hold the measured configuration",
        choices=MODES,
    ),
    "kp": live(100.0, "computed torque: proportional gain [1/s^2]", 0.0, 1e6),
    "kv": live(20.0, "computed torque: derivative gain [1/s]", 0.0, 1e5),
    "preview": live(0.0, "computed torque: preview time of the planned acceleration [s]", 0.0, 1.0),
    "delay": live(
        0.0,
        "computed torque: delay from a state until its efforts act [s]; if it is not 0, they are "
        "computed for the state predicted for that time plus half a period",
        0.0,
        0.1,
    ),
    "handover": live(
        0.5,
        "time over which a new trajectory takes over from the active one, or from a state away "
        "from its start [s]; longer, up to 30 s, where limits of rates and efforts ask for it",
        0.0,
        60.0,
    ),
    "idle": Spec(
        "wait",
        "without a trajectory: wait (publish nothing) or hold (stay at the present configuration)",
        choices=("wait", "hold"),
    ),
    "use_scale": live(
        False,
        "slow down by condition_monitor/scale; computed torque is then evaluated halfway between "
        "two states, which tracks better close to a singularity",
    ),
    "watchdog_timeout": live(
        0.5,
        "longest time without a state before the watchdog acts [s]; 0: no watchdog",
        0.0,
    ),
    "watchdog_hold": live(
        1.0, "watchdog: time for which efforts hold the last configuration [s]", 0.0
    ),
    "watchdog_ramp": live(2.0, "watchdog: time in which efforts then fall to zero [s]", 0.0),
}
PARAMETERS = MECHANISM | PAYLOAD | TRANSFORMS | SETTINGS
# Periods of the watchdog and of the diagnostics [s].
WATCH, DIAGNOSE = 0.02, 0.5


class InverseDynamics(Node):
    """Publishes the efforts that the library computes for each state."""

    def __init__(self) -> None:
        super().__init__("inverse_dynamics")
        self._p = p = declare(self, PARAMETERS)
        self._mechanism = load_mechanism(p)
        self._payload = PayloadParameters(self, self._mechanism, p, self._on_payload)
        self._follower = TrajectoryFollower(
            self._payload.mechanism,
            p["mode"],
            p["kp"],
            p["kv"],
            preview=p["preview"],
            handover=p["handover"],
            hold_when_idle=p["idle"] == "hold",
        )
        self._watchdog = Watchdog(p["watchdog_timeout"], p["watchdog_hold"], p["watchdog_ramp"])
        self._joints = self._mechanism.joint_names
        self._efforts, self._command = MultiArrayMessage(), JointStateMessage(self._joints)
        self._plot = JointStateMessage(self._joints)
        self._stamp = 0
        self._last: FloatArray | None = None
        self._problem = ""
        self._commands = self.create_publisher(
            Float64MultiArray, "effort_controller/commands", qos.COMMAND
        )
        self._joint_commands = self.create_publisher(JointState, "joint_commands", qos.COMMAND)
        self._forces = self.create_publisher(JointState, "~/forces", qos.STATE)
        self._massless = self.create_publisher(JointState, "~/massless_forces", qos.STATE)
        self._with_effort = self.create_publisher(
            JointTrajectory, "~/joint_trajectory_with_effort", qos.LATCHED
        )
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", qos.EVENTS)
        self._interface = Interface(self, self._mechanism)
        self._wrench = ExternalWrench(self, self._mechanism, self._interface, lambda: self._stamp)
        self._interface.on_trajectory(self._on_trajectory)
        self._interface.on_joint_trajectory(self._on_trajectory, lambda: self._last)
        self._interface.on_state(self._on_state, qos.LATEST)
        self._scale: Subscription | None = None
        self._heed_scale(p)
        on_change(self, SETTINGS, p, self._on_change)
        self.create_service(Trigger, "~/stop", self._on_stop)
        self.create_timer(WATCH, self._watch)
        self.create_timer(DIAGNOSE, self._diagnose)
        self.get_logger().info(f"{p['mode']} of {self._mechanism.name}, ready")

    def _on_trajectory(self, trajectory: SampledTrajectory, start: int | None) -> None:
        self._follower.follow(trajectory, start)
        self.get_logger().info(
            f"trajectory of {trajectory.duration:g} s, {len(trajectory.times)} points accepted"
        )
        topic = self._interface.trajectory_topic
        if (planners := self.count_publishers(topic)) > 1:
            self.get_logger().warning(
                f"{topic} has {planners} publishers: the latest trajectory is followed"
            )
        try:
            motion = joint_motion(self._payload.mechanism, trajectory, trajectory.times)
        except rd.KinematicsError as error:
            self.get_logger().warning(f"no joint_trajectory_with_effort: {error}")
            return
        if not np.isfinite(motion.efforts).all():
            self.get_logger().warning(
                "no joint_trajectory_with_effort: the efforts of the motion are not finite"
            )
            return
        limits = self._mechanism.effort_limits
        # a controller adds them to its own without checking limits
        motion = motion._replace(efforts=np.clip(motion.efforts, -limits, limits))
        message = messages.joint_trajectory(self._joints, trajectory.times, motion)
        message.header.stamp = messages.to_stamp(start or 0)
        self._with_effort.publish(message)

    def _on_state(self, stamp: int, configuration: FloatArray, velocity: FloatArray) -> None:
        try:
            wrench = self._wrench.at(configuration)
            # states are checked when they are read
            command = self._follower.command_unchecked(stamp, configuration, velocity, wrench)
        except rd.InvalidInput as error:
            self.get_logger().error(f"state refused: {error}", throttle_duration_sec=1.0)
            return
        self._stamp, self._last = stamp, configuration
        if command is None:
            return
        self._watchdog.fed(time.monotonic())
        self._problem = command.problem
        if command.problem:
            self.get_logger().warning(command.problem, throttle_duration_sec=1.0)
        self._publish(stamp, command.effort)
        self._plots(stamp, command, wrench)

    def _publish(self, stamp: int, effort: FloatArray) -> None:
        # usually one of the two is subscribed; publishing takes as long as computing
        if self._commands.get_subscription_count():
            self._commands.publish(self._efforts.filled(effort))
        if self._joint_commands.get_subscription_count():
            self._joint_commands.publish(self._command.filled(stamp, effort=effort))

    def _plots(self, stamp: int, command: Command, wrench: FloatArray) -> None:
        if self._forces.get_subscription_count():
            self._forces.publish(self._plot.filled(stamp, effort=command.required))
        known = "massless" in self._mechanism.formulations
        if known and self._massless.get_subscription_count() and not command.problem:
            loaded: Any = self._payload.mechanism
            massless = loaded.inverse_dynamics(*command.motion, wrench, formulation="massless")
            self._massless.publish(self._plot.filled(stamp, effort=massless))

    def _watch(self) -> None:
        """If states stop: hold by gravity compensation, then ramp the efforts down."""
        watch = self._watchdog.state(time.monotonic())
        if watch.level == "ok" or self._last is None:
            return
        topic, timeout = self._interface.state_topic, self._p["watchdog_timeout"]
        self.get_logger().error(
            f"no {topic} for {timeout:g} s: {watch.level}", throttle_duration_sec=5.0
        )
        effort = self._follower.hold_effort(self._last, self._wrench.at(self._last))
        now = self.get_clock().now().nanoseconds
        self._publish(now, watch.scale * effort)

    def _diagnose(self) -> None:
        watch = self._watchdog.state(time.monotonic())
        cut = int(self._follower.saturated.max())
        level, text = (1, self._problem) if self._problem else (0, self._p["mode"])
        if watch.level != "ok":
            level, text = 2, f"no {self._interface.state_topic}: {watch.level}"
        values = {"saturated_commands": cut, "watchdog": watch.level, "scale": self._follower.scale}
        values |= dict(zip(self._joints, self._follower.saturated.tolist(), strict=True))
        self._diagnostics.publish(
            diagnostics.array(
                self._stamp, [diagnostics.status(self, "efforts", level, text, values)]
            )
        )

    def _on_scale(self, message: Float64) -> None:
        if 0.0 <= message.data <= 1.0:
            self._follower.scale = message.data
        else:
            self.get_logger().error(f"scale {message.data} refused, expected 0 to 1")

    def _heed_scale(self, p: dict[str, Any]) -> None:
        """Listen to the scale or no longer; near a singularity, or late, efforts are for then."""
        wanted = p["use_scale"]
        self._follower.delay = p["delay"]
        self._follower.predicts = wanted or p["delay"] > 0.0
        if wanted and self._scale is None:
            self._scale = self.create_subscription(
                Float64, "condition_monitor/scale", self._on_scale, qos.LATEST
            )
        elif not wanted and self._scale is not None:
            self.destroy_subscription(self._scale)
            self._scale, self._follower.scale = None, 1.0

    def _on_change(self, p: dict[str, Any]) -> None:
        """Set the gains first, which may be rejected; the rest has been checked."""
        self._follower.set_gains(p["kp"], p["kv"], p["preview"])
        self._follower.handover = p["handover"]
        if p["mode"] != self._follower.mode:
            self._follower.mode = p["mode"]
        watchdog = self._watchdog
        watchdog.timeout, watchdog.hold = p["watchdog_timeout"], p["watchdog_hold"]
        watchdog.ramp = p["watchdog_ramp"]
        self._heed_scale(p)

    def _on_payload(self, parameters: list[Parameter]) -> None:
        self._follower.set_mechanism(self._payload.mechanism)
        self.get_logger().info("payload: " + ", ".join(f"{p.name} = {p.value}" for p in parameters))

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Abandon the trajectory and hold the present configuration."""
        self._follower.stop()
        response.success = True
        response.message = "holding the present configuration"
        return response
