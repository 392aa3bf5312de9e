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

"""Node `state_estimator`: where the platform is, from the legs' encoders, on real hardware.

Subscribes `joint_states` that carry the driven joints; publishes `platform_state` with
covariances, the passive joints of the legs on `joint_states`, `/diagnostics` and, where tf2 is
installed, the platform's transform; serves `~/reset`.
"""

from __future__ import annotations

import time
from dataclasses import asdict

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

import robodyn as rd
from robodyn.mechanisms.stewart.estimation import (
    Estimate,
    PlatformEstimator,
    leg_readings,
    twist_covariance_in_body,
    warm_up_estimating,
)
from robodyn_ros import diagnostics, messages, qos
from robodyn_ros.parameters import MECHANISM, Spec, declare, load_mechanism
from robodyn_ros.reused_messages import JointStateMessage, OdometryMessage
from robodyn_ros.transforms import PlatformBroadcaster

PARAMETERS = MECHANISM | {
    "initial_pose": Spec(
        Parameter.Type.DOUBLE_ARRAY,
        "where the platform is looked for at first and after a jump, x y z qx qy qz qw [m, -]; "
        "not set: the model's home",
    ),
    "length_resolution": Spec(1e-5, "step of the legs' encoders [m]", 1e-12, 1.0),
    "rate_resolution": Spec(1e-4, "step of the measured leg rates [m/s]", 1e-12, 10.0),
    "jump": Spec(0.05, "a leg this far from where it was expected has jumped [m]", 1e-6, 10.0),
    "warn_deviation": Spec(
        1e-3, "standard deviation of the pose from which it is a warning [m, rad]", 1e-12, 10.0
    ),
    "timeout": Spec(0.5, "no reading for so long is an error [s]", 0.01, 3600.0),
    "best_effort": Spec(False, "joint_states may lose messages, as sensors publish them"),
}
# How long a jump or a broken reading stays in the diagnostics [s].
REMEMBER = 2.0
DIAGNOSTIC_PERIOD = 0.5


class StateEstimator(Node):
    """Hands readings to a `PlatformEstimator` and publishes what it finds."""

    def __init__(self) -> None:
        super().__init__("state_estimator")
        self._p = p = declare(self, PARAMETERS)
        self._platform = load_mechanism(p, self.get_logger())
        if self._platform.kind != "stewart":
            raise rd.ModelError(
                f"{self._platform.name} is an arm, whose joint_states are its state already; "
                "state_estimator is for Stewart platforms"
            )
        warm_up_estimating(self._platform)
        self._estimator = PlatformEstimator(
            self._platform,
            p["initial_pose"],
            length_resolution=p["length_resolution"],
            rate_resolution=p["rate_resolution"],
            jump=p["jump"],
        )
        self._driven = self._platform.joint_names
        names = self._platform.leg_joints.names
        self._passive = [k for k, name in enumerate(names) if name not in self._driven]
        self._state = OdometryMessage(self._platform.frames)
        self._passive_state = JointStateMessage([names[index] for index in self._passive])
        self._refused = 0
        self._trouble = (0, "", 0.0)  # level, text, when
        self._heard = time.monotonic()
        self._level = -1
        self._transform = PlatformBroadcaster(self, *self._platform.frames)
        self._states = self.create_publisher(Odometry, "platform_state", qos.STATE)
        self._joints = self.create_publisher(JointState, "joint_states", qos.STATE)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", qos.EVENTS)
        self.create_service(Trigger, "~/reset", self._on_reset)
        reliability = (
            ReliabilityPolicy.BEST_EFFORT if p["best_effort"] else ReliabilityPolicy.RELIABLE
        )
        profile = QoSProfile(depth=qos.STATE.depth, reliability=reliability)
        self.create_subscription(JointState, "joint_states", self._on_joints, profile)
        # by the steady clock: silence must be noticed when simulated time stands still, too
        self.create_timer(
            min(DIAGNOSTIC_PERIOD, 0.5 * p["timeout"]),
            self._diagnose,
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )
        self.get_logger().info(f"waiting for joint_states with {', '.join(self._driven)}")

    def _on_joints(self, message: JointState) -> None:
        if not set(self._driven).intersection(message.name):
            return  # the passive joints that we, or others, publish on the same topic
        self._heard = time.monotonic()
        try:
            estimate = self._estimate(message)
        except rd.InvalidInput as error:
            self._refused += 1
            self._report(1, f"joint_states refused ({self._refused} so far): {error}")
            return
        except rd.KinematicsError as error:
            self._report(2, f"the platform is lost: {error}")
            return
        if estimate is not None:
            self._publish(estimate)

    def _estimate(self, message: JointState) -> Estimate | None:
        positions = messages.joint_values(message, self._driven, "position")
        # a driver without rates may leave the list empty
        velocities = (
            messages.joint_values(message, self._driven, "velocity") if message.velocity else None
        )
        lengths, rates = leg_readings(self._platform, positions, velocities)
        # a driver that does not stamp leaves zero
        stamp = messages.to_nanoseconds(message.header.stamp)
        stamp = stamp or self.get_clock().now().nanoseconds
        jumps = self._estimator.counts.jumps
        first = self._estimator.counts.acquisitions == 0
        estimate = self._estimator.update(stamp, lengths, rates)
        if estimate is not None and estimate.acquired:
            if first:
                self.get_logger().info("the platform is found")
            elif self._estimator.counts.jumps > jumps:
                self._report(1, "the legs' readings jumped; the platform is searched from home")
            else:
                self._report(1, "the platform is found again, from home")
        return estimate

    def _publish(self, estimate: Estimate) -> None:
        stamp, pose, twist = estimate.stamp, estimate.pose, estimate.twist
        state = self._state.filled(stamp, pose, twist)
        state.pose.covariance = estimate.pose_covariance.ravel()
        state.twist.covariance = twist_covariance_in_body(pose, estimate.twist_covariance).ravel()
        self._states.publish(state)
        self._transform.send(state)
        _, position, velocity = self._platform.leg_joint_states(pose, twist)
        self._joints.publish(
            self._passive_state.filled(stamp, position[self._passive], velocity[self._passive])
        )

    def _report(self, level: int, text: str) -> None:
        self._trouble = (level, text, time.monotonic())
        if level == 1:
            self.get_logger().warning(text, throttle_duration_sec=1.0)
        else:
            self.get_logger().error(text, throttle_duration_sec=1.0)
        if level > self._level:
            self._diagnose()

    def _status(self) -> tuple[int, str]:
        silence = time.monotonic() - self._heard
        level, text, when = self._trouble
        last = self._estimator.last
        if silence > self._p["timeout"]:
            return 2, f"no joint_states with the driven joints for {silence:.1f} s"
        if time.monotonic() - when < REMEMBER and level:
            return level, text
        if last is None:
            return 2, "the platform is not found yet"
        deviation = float(np.sqrt(last.pose_covariance.diagonal().max()))
        if deviation > self._p["warn_deviation"]:
            return 1, f"near a singular pose: it is known to {deviation:.2g} m or rad only"
        return 0, f"tracking, pose known to {deviation:.2g} m or rad"

    def _diagnose(self) -> None:
        level, text = self._status()
        if level == 2 and level != self._level and "no joint_states" in text:
            self.get_logger().error(text)
        self._level = level
        values = {"refused": self._refused, **asdict(self._estimator.counts)}
        last = self._estimator.last
        stamp = 0 if last is None else last.stamp
        status = diagnostics.status(self, "state estimation", level, text, values)
        self._diagnostics.publish(diagnostics.array(stamp, [status]))

    def _on_reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Forget the last pose; the next reading is searched from home."""
        self._estimator.reset()
        response.success, response.message = True, "the next reading is searched from home"
        return response
