# SPDX-License-Identifier: Apache-2.0
"""Conversion of a mechanism's states and trajectories to ROS messages and back.

Messages contain the pose of the body or positions of joints, depending on the mechanism's
coordinates; see `FORMS`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory

from robodyn.algorithms import motions
from robodyn.arrays import FloatArray
from robodyn.checks import refuse_beyond
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation import presentation
from robodyn.trajectories import Motion, SampledTrajectory
from robodyn.trajectories.messages import joint_rows, sampled_trajectory, without_turns
from robodyn.trajectories.tip_joints import space_of
from robodyn_ros import messages, qos
from robodyn_ros.messages import JointStateMessage, OdometryMessage, fill_pose, fill_stamp
from robodyn_ros.qos import sender
from robodyn_ros.state_topic import JointSource, PoseSource

try:
    from tf2_ros import TransformBroadcaster
except ImportError:
    TransformBroadcaster = None


class FloatingBroadcaster:
    """Broadcaster of TF transforms of a mechanism's floating joints.

    robot_state_publisher cannot compute them, because `joint_states` contains no poses.
    """

    def __init__(self, node: Node, mechanism: Mechanism) -> None:
        self._mechanism, self._broadcaster = mechanism, None
        joints = presentation.floating_poses(mechanism, mechanism.home)
        if joints and TransformBroadcaster:
            # the same depth as for states, so that a recorder that falls behind misses none
            self._broadcaster = TransformBroadcaster(node, qos.STATE)
        elif joints:
            names = ", ".join(f"{parent} -> {child}" for parent, child in joints)
            node.get_logger().info(f"tf2_ros is not installed: no transform {names}")

    def send(self, stamp: int, configuration: FloatArray) -> None:
        """Broadcast the transforms of a configuration (nq,) at a stamp [ns]."""
        if self._broadcaster is None:
            return
        transforms = []
        for (parent, child), pose in presentation.floating_poses(
            self._mechanism, configuration
        ).items():
            transform = TransformStamped(child_frame_id=child)
            transform.header.frame_id = parent
            fill_stamp(transform.header.stamp, stamp)
            fill_pose(transform.transform, pose)
            transforms.append(transform)
        self._broadcaster.sendTransform(transforms)


class _Messages:
    """Base class of the converters between messages and states or trajectories."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism

    def read_joint_trajectory(
        self, message: JointTrajectory, here: FloatArray | None
    ) -> SampledTrajectory:
        """Convert a trajectory message of a mechanism's joints, or of `TipJoints`.

        `here` is the current configuration, if known.

        Raises:
            RobodynError: the message is malformed, or the mechanism cannot perform the motion.
        """
        space = space_of(self._mechanism, message.joint_names)
        m, names = self._mechanism, space.independent_joints
        times, rows = joint_rows(message, names)
        near = None
        if here is not None and any(motions.wrapping(m, names)):
            still = np.zeros(m.coordinates.velocity_size)
            near = motions.independent_motion(m, here, still, still)[0]
        rows = without_turns(m, names, times, rows, near)
        motion = motions.motion_of_independent(space, *rows, here)
        return SampledTrajectory(self._mechanism, times, motion)

    def state_publisher(self, node: Node, profile: QoSProfile) -> Callable[..., None]:
        """Create the publishers for states, and return a function that publishes a state.

        Its arguments are stamp [ns], configuration, velocity and efforts. It publishes
        `platform_state` if the state is a pose, `joint_states` of all joints, and transforms of
        floating joints; robot_state_publisher publishes all other transforms.
        """
        send_pose = self.pose_sender(node, profile)
        joints = node.create_publisher(JointState, "joint_states", profile)
        send, all_joints = sender(node, joints), AllJoints(self._mechanism)
        transforms = FloatingBroadcaster(node, self._mechanism)

        def publish(
            stamp: int, configuration: FloatArray, velocity: FloatArray, effort: FloatArray
        ) -> None:
            send_pose(stamp, configuration, velocity)  # first, since controllers wait for it
            send(all_joints.filled(stamp, configuration, velocity, effort))
            transforms.send(stamp, configuration)

        return publish

    def pose_sender(self, node: Node, profile: QoSProfile) -> Callable[..., None]:
        """Return a function that publishes a state's pose; here, one that does nothing."""
        return lambda *_: None


class PoseMessages(_Messages):
    """Converter between ROS messages and motions of a mechanism whose state is a pose.

    States are Odometry on `platform_state`, trajectories are MultiDOFJointTrajectory on
    `platform_trajectory`.

    Attributes:
        state_topic, trajectory_topic: names of the state topic and the trajectory topic.
        state_type, trajectory_type: their message types.
    """

    state_topic = "platform_state"
    trajectory_topic = "platform_trajectory"
    state_type = Odometry
    trajectory_type = MultiDOFJointTrajectory

    def read_state(self, message: Odometry) -> tuple[int, FloatArray, FloatArray]:
        """Convert a state message.

        Returns:
            Stamp [ns], pose (7,) and twist (6,) in the base frame.

        Raises:
            RobodynError: the message is malformed.
        """
        return messages.platform_state(message)

    def source(self, node: Node) -> PoseSource | JointSource:
        """Create the reader of states for a node's `StateTopic`."""
        return PoseSource(self._mechanism)

    def state_of(self, place: FloatArray, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Convert a reading of pose or joints to the state of the mechanism.

        Args:
            place: pose (7,) of the body in the base frame, or joint positions (k,), from the reader
                that `source` creates.
            rate: twist (6,) of the body in the base frame, or joint velocities (k,).

        Returns:
            Configuration (nq,) and velocity (nv,).

        Raises:
            RobodynError: no configuration of the mechanism has these readings.
        """
        return place, rate

    def read_trajectory(self, message: MultiDOFJointTrajectory) -> SampledTrajectory:
        """Convert a trajectory message to a trajectory of poses.

        Raises:
            RobodynError: the message is malformed or is for another mechanism.
        """
        return sampled_trajectory(message, self._mechanism)

    def write_trajectory(self, times: FloatArray, motion: Motion) -> MultiDOFJointTrajectory:
        """Create the trajectory message for a motion of the mechanism.

        `times` (N,) [s] are those of the knots, and `motion` contains configuration, velocity and
        acceleration at each knot. The stamp of the message is zero: start at once.
        """
        base = self._mechanism.frames[0]
        return messages.platform_trajectory(base, "platform_joint", times, motion)

    def pose_sender(self, node: Node, profile: QoSProfile) -> Callable[..., None]:
        """Create the publisher of `platform_state`.

        Returns:
            A function (stamp [ns], configuration, velocity) that publishes a state.
        """
        send = sender(node, node.create_publisher(Odometry, self.state_topic, profile))
        odometry = OdometryMessage(self._mechanism.frames)
        return lambda *state: send(odometry.filled(*state))


class JointMessages(_Messages):
    """Converter between ROS messages and motions of a mechanism with joint coordinates.

    States are JointState on `joint_states`, trajectories are JointTrajectory on `joint_trajectory`.
    """

    state_topic = "joint_states"
    trajectory_topic = "joint_trajectory"
    state_type = JointState
    trajectory_type = JointTrajectory

    def __init__(self, mechanism: Mechanism) -> None:
        super().__init__(mechanism)
        self._measured = motions.measured_joints(mechanism)
        self._here: FloatArray | None = None

    def read_state(self, message: JointState) -> tuple[int, FloatArray, FloatArray]:
        """Convert a state message.

        The search for the configuration starts at the previous one.

        Returns:
            Stamp [ns], configuration (nq,) and velocity (nv,).

        Raises:
            RobodynError: the message is malformed, or no configuration has these joint positions.
        """
        stamp = messages.to_nanoseconds(message.header.stamp)
        position, velocity = (
            messages.joint_values(message, self._measured, field)
            for field in ("position", "velocity")
        )
        refuse_beyond("position", position)
        refuse_beyond("velocity", velocity)
        return stamp, *self.state_of(position, velocity)

    def source(self, node: Node) -> PoseSource | JointSource:
        """Create the reader of joint states for a node's `StateTopic`."""
        return JointSource(node, self._mechanism, self._measured)

    def state_of(self, place: FloatArray, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Convert a reading of joints to the state of the mechanism.

        Args:
            place: joint positions (k,).
            rate: joint velocities (k,).

        Returns:
            Configuration (nq,) and velocity (nv,).
        """
        self._here, velocity = motions.state_of_readings(self._mechanism, place, rate, self._here)
        return self._here, velocity

    def read_trajectory(self, message: JointTrajectory) -> SampledTrajectory:
        """Convert a JointTrajectory message to a trajectory of the mechanism."""
        return self.read_joint_trajectory(message, self._here)

    def write_trajectory(self, times: FloatArray, motion: Motion) -> JointTrajectory:
        """Create the trajectory message for a motion of the mechanism.

        `times` (N,) [s] are those of the knots, and `motion` contains configuration, velocity and
        acceleration at each knot. The stamp of the message is zero: start at once.
        """
        rows = motions.independent_motion(self._mechanism, *motion)
        return messages.joint_trajectory(self._mechanism.independent_joints, times, rows)


class AllJoints:
    """Reusable JointState message with all joints of a mechanism, also passive ones.

    The effort of passive joints is zero.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        names = mechanism.all_joint_names
        self._mechanism = mechanism
        self._message, self._efforts = JointStateMessage(names), np.zeros(len(names))
        self._driven = [names.index(name) for name in mechanism.joint_names]

    def filled(
        self, stamp: int, configuration: FloatArray, velocity: FloatArray, effort: FloatArray
    ) -> JointState:
        """Fill the message with a state, and return it.

        Args:
            stamp: time [ns] of the state.
            configuration, velocity: (nq,), (nv,) state of the mechanism.
            effort: (n,) [N or N m] efforts of the driven joints.
        """
        _, position, rate = self._mechanism.joint_states(configuration, velocity)
        self._efforts[self._driven] = effort
        return self._message.filled(stamp, position, rate, self._efforts)


# Messages by the form of a mechanism's coordinates.
FORMS: dict[str, type[PoseMessages | JointMessages]] = {
    "pose": PoseMessages,
    "joints": JointMessages,
}


def messages_of(mechanism: Mechanism) -> PoseMessages | JointMessages:
    """Return the converter between ROS messages and motions of a mechanism."""
    return FORMS[mechanism.coordinates.form](mechanism)
