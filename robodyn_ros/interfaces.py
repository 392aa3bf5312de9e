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

"""How a mechanism speaks ROS: a platform in poses, an arm in joints, behind one face.

The nodes know configurations, velocities and trajectories; which topics and messages carry them
is decided here. What arrives malformed is logged and dropped, never raised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory

from robodyn.checks import refuse_beyond
from robodyn.control import trajectory_from_joints
from robodyn.errors import RobodynError
from robodyn_ros import messages, qos
from robodyn_ros.lossless_publishing import sender
from robodyn_ros.reused_messages import JointStateMessage, OdometryMessage
from robodyn_ros.transforms import PlatformBroadcaster

if TYPE_CHECKING:
    from collections.abc import Callable

    from rclpy.node import Node
    from rclpy.publisher import Publisher
    from rclpy.qos import QoSProfile

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.trajectories import Motion, SampledTrajectory

    OnState = Callable[[int, FloatArray, FloatArray], None]
    OnTrajectory = Callable[[SampledTrajectory, int | None], None]


class Interface:
    """Topics and messages of one kind of mechanism.

    Attributes:
        state_topic, trajectory_topic: what the two are called.
        base_frame, body_frame: frames of poses and of the moving body.
    """

    state_topic: str
    trajectory_topic: str
    _state_type: Any
    _trajectory_type: Any

    def __init__(self, node: Node, mechanism: Mechanism) -> None:
        self._node = node
        self._mechanism = mechanism
        self.base_frame, self.body_frame = mechanism.frames

    def on_state(self, callback: OnState, profile: QoSProfile) -> None:
        """Call back with stamp [ns], configuration and velocity of each state."""

        def receive(message: Any) -> None:
            try:
                state = self._read_state(message)
            except RobodynError as error:
                # once a second: whoever sends one such state sends many
                self._node.get_logger().error(
                    f"{self.state_topic} refused: {error}", throttle_duration_sec=1.0
                )
                return
            callback(*state)

        self._node.create_subscription(self._state_type, self.state_topic, receive, profile)

    def on_trajectory(self, callback: OnTrajectory) -> None:
        """Call back with each trajectory and its start time [ns], None for `at once`."""

        def receive(message: Any) -> None:
            try:
                trajectory = self._read_trajectory(message)
            except RobodynError as error:
                self._node.get_logger().error(f"{self.trajectory_topic} refused: {error}")
                return
            callback(trajectory, messages.to_nanoseconds(message.header.stamp) or None)

        self._node.create_subscription(
            self._trajectory_type, self.trajectory_topic, receive, qos.LATCHED
        )

    def on_joint_trajectory(
        self, callback: OnTrajectory, here: Callable[[], FloatArray | None]
    ) -> None:
        """Call back with trajectories of the driven joints, where those are not the usual ones.

        `here` tells the present configuration, from which the first point is found.
        """

    def trajectory_publisher(self) -> Callable[[FloatArray, Motion, int], None]:
        """A function that publishes knots at times [s], latched, and a start [ns], 0: at once."""
        publisher = self._node.create_publisher(
            self._trajectory_type, self.trajectory_topic, qos.LATCHED
        )

        def publish(times: FloatArray, motion: Motion, start: int) -> None:
            message = self._write_trajectory(times, motion)
            message.header.stamp = messages.to_stamp(start)
            publisher.publish(message)

        return publish

    def state_publisher(self, profile: QoSProfile) -> StatePublisher:
        """What a simulator or an estimator publishes states with."""
        raise TypeError("an interface of no kind")

    def _read_state(self, message: Any) -> tuple[int, FloatArray, FloatArray]:
        raise TypeError("an interface of no kind")

    def _read_trajectory(self, message: Any) -> SampledTrajectory:
        raise TypeError("an interface of no kind")

    def _write_trajectory(self, times: FloatArray, motion: Motion) -> Any:
        raise TypeError("an interface of no kind")


class StatePublisher:
    """Publishes a mechanism's state on all the topics it has."""

    def __init__(self, main: Publisher, publish: Callable[..., None]) -> None:
        self._main = main
        self.publish = publish

    @property
    def subscribers(self) -> int:
        """How many listen to the state topic."""
        return int(self._main.get_subscription_count())


class PlatformInterface(Interface):
    """`platform_state` (Odometry) and `platform_trajectory` (MultiDOFJointTrajectory)."""

    state_topic = "platform_state"
    trajectory_topic = "platform_trajectory"
    _state_type = Odometry
    _trajectory_type = MultiDOFJointTrajectory

    def _read_state(self, message: Odometry) -> tuple[int, FloatArray, FloatArray]:
        return messages.platform_state(message)

    def _read_trajectory(self, message: MultiDOFJointTrajectory) -> SampledTrajectory:
        return messages.sampled_trajectory(message, self._mechanism)

    def on_joint_trajectory(
        self, callback: OnTrajectory, here: Callable[[], FloatArray | None]
    ) -> None:
        """Leg lengths on `joint_trajectory`, turned into poses by forward kinematics."""
        names = self._mechanism.joint_names

        def receive(message: JointTrajectory) -> None:
            try:
                times, rows = messages.joint_rows(message, names)
                trajectory = trajectory_from_joints(self._mechanism, times, *rows, here())
            except RobodynError as error:
                self._node.get_logger().error(f"joint_trajectory refused: {error}")
                return
            callback(trajectory, messages.to_nanoseconds(message.header.stamp) or None)

        self._node.create_subscription(JointTrajectory, "joint_trajectory", receive, qos.LATCHED)

    def _write_trajectory(self, times: FloatArray, motion: Motion) -> MultiDOFJointTrajectory:
        return messages.platform_trajectory(self.base_frame, "platform_joint", times, motion)

    def state_publisher(self, profile: QoSProfile) -> StatePublisher:
        """`platform_state`, the transform, and the legs' eighteen joints on `joint_states`."""
        states = self._node.create_publisher(Odometry, self.state_topic, profile)
        joints = self._node.create_publisher(JointState, "joint_states", profile)
        send_state, send_joints = sender(self._node, states), sender(self._node, joints)
        transform = PlatformBroadcaster(self._node, self.base_frame, self.body_frame)
        names, driven = self._mechanism.leg_joints.names, self._mechanism.joint_names
        odometry = OdometryMessage((self.base_frame, self.body_frame))
        legs, efforts = JointStateMessage(names), np.zeros(len(names))
        where = [names.index(name) for name in driven]

        def publish(stamp: int, pose: FloatArray, twist: FloatArray, effort: FloatArray) -> None:
            # controllers wait for this one
            state = odometry.filled(stamp, pose, twist)
            send_state(state)
            transform.send(state)
            _, position, velocity = self._mechanism.leg_joint_states(pose, twist)
            efforts[where] = effort
            send_joints(legs.filled(stamp, position, velocity, efforts))

        return StatePublisher(states, publish)


class ArmInterface(Interface):
    """`joint_states` (JointState) and `joint_trajectory` (JointTrajectory)."""

    state_topic = "joint_states"
    trajectory_topic = "joint_trajectory"
    _state_type = JointState
    _trajectory_type = JointTrajectory

    def _read_state(self, message: JointState) -> tuple[int, FloatArray, FloatArray]:
        stamp, names = messages.to_nanoseconds(message.header.stamp), self._mechanism.joint_names
        position, velocity = (
            messages.joint_values(message, names, field) for field in ("position", "velocity")
        )
        refuse_beyond("position", position)
        refuse_beyond("velocity", velocity)
        return stamp, position, velocity

    def _read_trajectory(self, message: JointTrajectory) -> SampledTrajectory:
        return messages.sampled_joint_trajectory(message, self._mechanism)

    def _write_trajectory(self, times: FloatArray, motion: Motion) -> JointTrajectory:
        return messages.joint_trajectory(self._mechanism.joint_names, times, motion)

    def state_publisher(self, profile: QoSProfile) -> StatePublisher:
        """`joint_states`; robot_state_publisher makes the transforms of them."""
        joints = self._node.create_publisher(JointState, self.state_topic, profile)
        send, state = sender(self._node, joints), JointStateMessage(self._mechanism.joint_names)

        def publish(stamp: int, q: FloatArray, qd: FloatArray, effort: FloatArray) -> None:
            send(state.filled(stamp, q, qd, effort))

        return StatePublisher(joints, publish)


def interface(node: Node, mechanism: Mechanism) -> Interface:
    """The interface for a mechanism's kind."""
    kinds = {"stewart": PlatformInterface, "serial": ArmInterface}
    return kinds[mechanism.kind](node, mechanism)
