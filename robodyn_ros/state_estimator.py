# SPDX-License-Identifier: Apache-2.0

"""Node that computes the pose of a platform or tip from the driven joints.

The node subscribes to `joint_states` of the driven joints of a platform or another closed-loop
mechanism. The node publishes `platform_state`, the pose and twist of the platform or tip with their
covariances, the positions of the passive joints on `joint_states`, `/diagnostics` and, if tf2 is
installed, the transforms of floating joints. The node provides the service `~/reset`.
"""

from __future__ import annotations

import time
from dataclasses import asdict

import numpy as np
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import JointState

import robodyn as rd
from robodyn.algorithms.estimation import Encoders, Estimate, state_estimator
from robodyn.arrays import FloatArray
from robodyn.presentation.nouns import nouns_of
from robodyn_ros import qos
from robodyn_ros.diagnostics import Status, reporter
from robodyn_ros.interfaces import serve_trigger, steady_timer
from robodyn_ros.mechanism_messages import FloatingBroadcaster
from robodyn_ros.messages import JointStateMessage, OdometryMessage
from robodyn_ros.parameters import declare, load_mechanism, table
from robodyn_ros.state_topic import JointSource, StateTopic

PARAMETERS = table("mechanism", "states", "state_estimator")
# Time for which the diagnostics report a jump or an invalid reading [s].
REMEMBER = 2.0
DIAGNOSTIC_PERIOD = 0.5


class StateEstimator(Node):
    """Node that estimates the state of a mechanism from readings of its driven joints."""

    def __init__(self) -> None:
        super().__init__("state_estimator")
        self._p = p = declare(self, PARAMETERS)
        self._mechanism = load_mechanism(p, self.get_logger())
        self._estimator = state_estimator(
            self._mechanism,
            p["initial_pose"],
            Encoders(
                length=p["length_resolution"],
                rate=p["rate_resolution"],
                jump=p["jump"],
                angle=p["angle_resolution"],
                angular_rate=p["angular_rate_resolution"],
                angular_jump=p["angular_jump"],
            ),
        )
        self._estimator.warm_up()
        self._body = nouns_of(self._mechanism).body
        self._driven = self._mechanism.joint_names
        names = self._mechanism.all_joint_names
        self._passive = [k for k, name in enumerate(names) if name not in self._driven]
        self._state = OdometryMessage(self._mechanism.frames)
        self._passive_state = JointStateMessage([names[index] for index in self._passive])
        self._refused = 0
        self._trouble = (0, "", 0.0)  # level, text, when
        self._received = time.monotonic()
        self._level = -1
        self._transforms = FloatingBroadcaster(self, self._mechanism)
        self._states = self.create_publisher(Odometry, "platform_state", qos.STATE)
        self._joints = self.create_publisher(JointState, "joint_states", qos.STATE)
        self._publish_diagnostics = reporter(self)
        serve_trigger(self, "~/reset", self._reset)
        source = JointSource(self, self._mechanism, self._driven, needs_velocities=False)
        self._readings = StateTopic(self, "joint_states", source, self._on_joints, qos.STATE)
        self._readings.on_refused = self._refuse
        # a timeout must be detected even while simulated time is paused
        steady_timer(self, min(DIAGNOSTIC_PERIOD, 0.5 * p["timeout"]), self._diagnose)
        self.get_logger().info(
            f"state estimator ready; waiting for joint_states with {', '.join(self._driven)}"
        )

    def _on_joints(self, stamp: int, positions: FloatArray, velocities: FloatArray) -> None:
        self._received = time.monotonic()
        try:
            estimate = self._estimate(stamp, positions, velocities)
        except rd.InvalidInput as error:
            self._refuse(error)
            return
        except rd.KinematicsError as error:
            self._report(2, f"the {self._body}'s pose is lost: {error}")
            return
        if estimate is not None:
            self._publish(estimate)

    def _refuse(self, error: rd.RobodynError) -> None:
        self._received = time.monotonic()
        self._refused += 1
        self._report(1, f"joint_states refused ({self._refused} so far): {error}")

    def _estimate(
        self, stamp: int, positions: FloatArray, velocities: FloatArray
    ) -> Estimate | None:
        # the library may measure joints differently than the URDF: a leg by its length
        sign, offset = self._mechanism.drives.signs, self._mechanism.drives.offsets
        measured = sign * positions + offset
        rates = sign * velocities if np.isfinite(velocities).all() else None
        # a driver without stamps leaves zero
        stamp = stamp or self.get_clock().now().nanoseconds
        jumps = self._estimator.counts.jumps
        first = self._estimator.counts.acquisitions == 0
        estimate: Estimate | None = self._estimator.update(stamp, measured, rates)
        if estimate is not None and estimate.acquired:
            if first:
                self.get_logger().info(f"pose of the {self._body} found")
            elif self._estimator.counts.jumps > jumps:
                joint = nouns_of(self._mechanism).joint
                self._report(1, f"the {joint}s' readings jumped; searching for the pose from home")
            else:
                self._report(1, f"pose of the {self._body} found again, from home")
        return estimate

    def _publish(self, estimate: Estimate) -> None:
        stamp, configuration = estimate.stamp, estimate.configuration
        state = self._state.filled(stamp, estimate.pose, estimate.twist)
        state.pose.covariance = estimate.pose_covariance.ravel()
        state.twist.covariance = self._estimator.twist_covariance_in_body(estimate).ravel()
        self._states.publish(state)
        self._transforms.send(stamp, configuration)
        _, position, velocity = self._mechanism.joint_states(configuration, estimate.velocity)
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
        silence = time.monotonic() - self._received
        level, text, when = self._trouble
        last = self._estimator.last
        if silence > self._p["timeout"]:
            waits = self._readings.waiting()
            why = f" ({waits[1]})" if waits else ""
            return 2, f"no joint_states with the driven joints for {silence:.1f} s{why}"
        if time.monotonic() - when < REMEMBER and level:
            return level, text
        if last is None:
            return 2, f"the {self._body}'s pose has not been found yet"
        deviation = float(np.sqrt(last.pose_covariance.diagonal().max()))
        if deviation > self._p["warn_deviation"]:
            return (
                1,
                f"near a singular pose: standard deviation of the pose {deviation:.2g} m or rad",
            )
        return 0, f"tracking: standard deviation of the pose {deviation:.2g} m or rad"

    def _diagnose(self) -> None:
        level, text = self._status()
        if level == 2 and level != self._level and "no joint_states" in text:
            self.get_logger().error(text)
        self._level = level
        values = {"refused": self._refused, **asdict(self._estimator.counts)}
        last = self._estimator.last
        stamp = 0 if last is None else last.stamp
        own = Status("state estimation", level, text, values)
        self._publish_diagnostics(stamp, own, *self._readings.report(self._p["timeout"]))

    def _reset(self) -> str:
        """Discard the last pose, so that the next search starts at home."""
        self._estimator.reset()
        return "the next search starts from home"
