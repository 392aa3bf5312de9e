# SPDX-License-Identifier: Apache-2.0

"""What inverse_dynamics publishes about efforts: commands, plots, a trajectory with its efforts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from robodyn.arrays import FloatArray
from robodyn.control import Command, CommandUnit, joint_motion
from robodyn.errors import KinematicsError
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.trajectories import SampledTrajectory
from robodyn.trajectories.tip_joints import TipJoints
from robodyn_ros import messages, qos
from robodyn_ros.messages import JointStateMessage, MultiArrayMessage


class JointCommands:
    """Publishers of commands to the driven joints; what nobody hears is not published.

    Usually one of them is subscribed; publishing takes as long as computing.

    Args:
        node: that publishes `<field>_controller/commands` of each field, and `joint_commands`.
        mechanism: whose joints are commanded.
        unit: of efforts, see `CommandUnit`.
        fields: `position`, `velocity` and `effort`, or some of them.

    Raises:
        InvalidInput: a unit that the mechanism's actuators do not determine.
    """

    def __init__(
        self, node: Node, mechanism: Mechanism, unit: str, fields: Sequence[str] = ("effort",)
    ) -> None:
        joints, self._unit = mechanism.joint_names, CommandUnit(mechanism, unit)
        labels = {} if self._unit.is_effort else {"effort": unit}
        self._arrays = {
            field: (
                node.create_publisher(
                    Float64MultiArray, f"{field}_controller/commands", qos.COMMAND
                ),
                MultiArrayMessage(len(joints), labels.get(field, "")),
            )
            for field in fields
        }
        self._publisher = node.create_publisher(JointState, "joint_commands", qos.COMMAND)
        self._message = JointStateMessage(joints, unit)

    def publish(
        self, stamp: int, rates: Callable[[], FloatArray | None], **values: FloatArray
    ) -> None:
        """Publish values (n,) of the fields at a stamp [ns]; `rates` tells those of the joints."""
        if not self._unit.is_effort:
            values["effort"] = self._unit.of_efforts(values["effort"], rates())
        for field, (publisher, message) in self._arrays.items():
            if publisher.get_subscription_count():
                publisher.publish(message.filled(values[field]))
        if self._publisher.get_subscription_count():
            self._publisher.publish(self._message.filled(stamp, **values))


class EffortOutputs:
    """Publishers of a node, and what they publish.

    Args:
        node: that publishes.
        mechanism: whose joints are commanded.
        unit: of commands, see `CommandUnit`.

    Raises:
        InvalidInput: as for `JointCommands`.
    """

    def __init__(self, node: Node, mechanism: Mechanism, unit: str) -> None:
        self._node, self._mechanism = node, mechanism
        self._commands = JointCommands(node, mechanism, unit)
        self._plot = JointStateMessage(mechanism.joint_names)
        self._forces = node.create_publisher(JointState, "~/forces", qos.STATE)
        self._massless = node.create_publisher(JointState, "~/massless_forces", qos.STATE)
        self._tip = TipJoints(mechanism) if mechanism.determining_rows else None
        self._tip_states = node.create_publisher(JointState, "~/tip_joint_states", qos.STATE)
        self._waiting: Callable[[], None] | None = None
        self._with_effort = node.create_publisher(
            JointTrajectory, "~/joint_trajectory_with_effort", qos.LATCHED
        )

    @property
    def has_follower(self) -> bool:
        """Whether anyone hears trajectories with efforts."""
        return bool(self._with_effort.get_subscription_count())

    def command(
        self,
        stamp: int,
        effort: FloatArray,
        configuration: FloatArray,
        velocity: FloatArray | None = None,
    ) -> None:
        """Publish efforts (n,) in the unit of commands, at a stamp [ns]; no velocity: at rest."""

        def rates() -> FloatArray | None:
            if velocity is None:
                return None
            return self._mechanism.joint_velocities(configuration, velocity)

        self._commands.publish(stamp, rates, effort=effort)

    def tip(self, stamp: int, configuration: FloatArray) -> None:
        """Publish where the tip is as joints of its pose, for planners that know trees only."""
        if self._tip is not None and self._tip_states.get_subscription_count():
            message = JointStateMessage(self._tip.independent_joints)
            self._tip_states.publish(message.filled(stamp, self._tip.positions(configuration)))

    def plots(self, stamp: int, command: Command, wrench: FloatArray, loaded: Mechanism) -> None:
        """Publish the efforts before limits, and those of `loaded` with massless legs."""
        if self._forces.get_subscription_count():
            self._forces.publish(self._plot.filled(stamp, effort=command.required))
        known = "massless" in self._mechanism.formulations
        if known and self._massless.get_subscription_count() and not command.problem:
            platform: Any = loaded
            massless = platform.inverse_dynamics(*command.motion, wrench, formulation="massless")
            self._massless.publish(self._plot.filled(stamp, effort=massless))

    def trajectory(
        self, trajectory: SampledTrajectory, start: int | None, loaded: Mechanism
    ) -> None:
        """Publish a trajectory of the joints with the efforts that it takes, within limits.

        Not before somebody listens, see `catch_up`: a long one takes a tenth of a second, in which
        no state is answered.
        """
        self._waiting = lambda: self._publish_trajectory(trajectory, start, loaded)
        self.catch_up()

    def catch_up(self) -> None:
        """Publish the latest trajectory if somebody listens now who has not got it."""
        if self._waiting is not None and self._with_effort.get_subscription_count():
            publish, self._waiting = self._waiting, None
            publish()

    def _publish_trajectory(
        self, trajectory: SampledTrajectory, start: int | None, loaded: Mechanism
    ) -> None:
        try:
            motion = joint_motion(loaded, trajectory, trajectory.times)
        except KinematicsError as error:
            self._no_trajectory(str(error))
            return
        if not np.isfinite(motion.efforts).all():
            self._no_trajectory("the efforts of the motion are not finite")
            return
        # a controller adds them to its own without checking limits
        limits = self._mechanism.effort_limits_at(motion.velocities)
        motion = motion._replace(efforts=self._mechanism.cut_efforts(motion.efforts, limits))
        message = messages.joint_trajectory(loaded.joint_names, trajectory.times, motion)
        message.header.stamp = messages.to_stamp(start or 0)
        self._with_effort.publish(message)

    def _no_trajectory(self, why: str) -> None:
        self._node.get_logger().warning(f"no joint_trajectory_with_effort: {why}")
