# SPDX-License-Identifier: Apache-2.0

"""Publishers of inverse_dynamics: effort commands, efforts for plots, trajectories with efforts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from robodyn.algorithms import motions
from robodyn.algorithms.effort_terms import formulations
from robodyn.arrays import FloatArray
from robodyn.control import Command, CommandUnit, joint_motion
from robodyn.errors import RobodynError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.motion_base.machine.command_gate import CommandGate, CommandRefused
from robodyn.trajectories import SampledTrajectory
from robodyn.trajectories.tip_joints import TipJoints
from robodyn_ros import messages, qos
from robodyn_ros.messages import JointStateMessage, MultiArrayMessage
from robodyn_ros.publishers import other_publishers

# Number of the latest own commands (some seconds) with which a received command is compared.
RECENT = 2000


class JointCommands:
    """Publishers of commands to the driven joints.

    Commands are only published on topics that have subscribers, because publishing takes as long as
    computing the efforts. Each command is checked by a `CommandGate` first.

    Args:
        node: node that publishes `<field>_controller/commands` of each field, and `joint_commands`.
        mechanism: mechanism to command.
        unit: unit of efforts, see `CommandUnit`.
        fields: commanded quantities: `position`, `velocity`, `effort`, or some of them.

    Raises:
        InvalidInput: the mechanism's actuators lack the data to convert efforts to this unit.
    """

    def __init__(
        self, node: Node, mechanism: Mechanism, unit: str, fields: Sequence[str] = ("effort",)
    ) -> None:
        joints, self._unit = mechanism.joint_names, CommandUnit(mechanism, unit)
        self._gate = CommandGate(mechanism)
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
        self._node, self._first = node, fields[0]
        self._watched: dict[str, Subscription] = {}
        self._sent: deque[bytes] = deque(maxlen=RECENT)

    def publish(
        self, stamp: int, rates: Callable[[], FloatArray | None], **values: FloatArray
    ) -> None:
        """Publish a command for the driven joints.

        Args:
            stamp: time [ns] of the command.
            rates: returns the rates (n,) of the joints, or None if they are unknown.
            values: (n,) values of each of the `fields`, by its name.

        Raises:
            CommandRefused: a value is not finite, or beyond the drives' limits; nothing is
                published.
        """
        self._gate.check(**values)
        if not self._unit.is_effort:
            values["effort"] = self._unit.of_efforts(values["effort"], rates())
            self._gate.check(**{self._unit.unit: values["effort"]})
        if self._watched:
            self._sent.extend(each.tobytes() for each in values.values())
        for field, (publisher, message) in self._arrays.items():
            if publisher.get_subscription_count():
                publisher.publish(message.filled(values[field]))
        if self._publisher.get_subscription_count():
            self._publisher.publish(self._message.filled(stamp, **values))

    def others(self) -> str:
        """Return a message that names other publishers of commands; empty if none exist."""
        for publisher in self._publishers:
            topic = publisher.topic_name
            if self._node.count_publishers(topic) > 1:
                names = [
                    f"{info.node_namespace.rstrip('/')}/{info.node_name}"
                    for info in other_publishers(self._node, topic)
                ]
                return f"{topic} has another publisher, {', '.join(names) or 'of the same name'}"
        return ""

    def watch(self, on_other: Callable[[str], None]) -> None:
        """Look for commands of other publishers; to be called periodically.

        Args:
            on_other: called with an error message when another publisher's command is received.
        """
        for publisher in self._publishers:
            topic, kind = publisher.topic_name, publisher.msg_type
            is_shared = self._node.count_publishers(topic) > 1
            if is_shared and topic not in self._watched:
                receive = partial(self._receive, topic, on_other)
                self._watched[topic] = self._node.create_subscription(
                    kind, topic, receive, qos.ANY_COMMAND
                )
            elif not is_shared and topic in self._watched:
                self._node.destroy_subscription(self._watched.pop(topic))

    @property
    def _publishers(self) -> list[Publisher]:
        return [*(publisher for publisher, _ in self._arrays.values()), self._publisher]

    def _receive(self, topic: str, on_other: Callable[[str], None], message: Any) -> None:
        values = getattr(message, self._first) if isinstance(message, JointState) else message.data
        if values.tobytes() not in self._sent:
            on_other(self.others() or f"{topic} has another publisher")


class EffortOutputs:
    """Publishers of the efforts that the node inverse_dynamics computes.

    Args:
        node: node that publishes.
        mechanism: mechanism to command.
        unit: unit of commands, see `CommandUnit`.

    Raises:
        InvalidInput: the mechanism's actuators lack the data to convert efforts to this unit.
    """

    def __init__(self, node: Node, mechanism: Mechanism, unit: str) -> None:
        self._node, self._mechanism = node, mechanism
        self._commands = JointCommands(node, mechanism, unit)
        self._plot = JointStateMessage(mechanism.joint_names)
        self._forces = node.create_publisher(JointState, "~/forces", qos.STATE)
        self._massless = node.create_publisher(JointState, "~/massless_forces", qos.STATE)
        self._tip = TipJoints(mechanism) if motions.determining_rows(mechanism) else None
        self._tip_states = node.create_publisher(JointState, "~/tip_joint_states", qos.STATE)
        self._waiting: Callable[[], None] | None = None
        self._with_effort = node.create_publisher(
            JointTrajectory, "~/joint_trajectory_with_effort", qos.LATCHED
        )

    @property
    def has_follower(self) -> bool:
        """Whether the topic for trajectories with efforts has a subscriber."""
        return bool(self._with_effort.get_subscription_count())

    def command(
        self,
        stamp: int,
        effort: FloatArray,
        configuration: FloatArray,
        velocity: FloatArray | None = None,
    ) -> str:
        """Publish an effort command, converted to the unit of commands.

        Args:
            stamp: time [ns] of the command.
            effort: (n,) [N or N m] efforts at the joints.
            configuration, velocity: (nq,), (nv,) state; without a velocity the mechanism is at
                rest.

        Returns:
            The reason why the command is not published; an empty string if it is.
        """

        def rates() -> FloatArray | None:
            if velocity is None:
                return None
            return self._mechanism.joint_velocities(configuration, velocity)

        try:
            self._commands.publish(stamp, rates, effort=effort)
        except CommandRefused as error:
            why = f"efforts not published; the drives keep the last ones: {error}"
            self._node.get_logger().error(why, throttle_duration_sec=1.0)
            return why
        return ""

    def tip(self, stamp: int, configuration: FloatArray) -> None:
        """Publish the tip's pose as positions of virtual joints, for MoveIt.

        Args:
            stamp: time [ns] of the state.
            configuration: (nq,) configuration of the mechanism.
        """
        if self._tip is not None and self._tip_states.get_subscription_count():
            message = JointStateMessage(self._tip.independent_joints)
            self._tip_states.publish(message.filled(stamp, self._tip.positions(configuration)))

    def plots(self, stamp: int, command: Command, wrench: FloatArray, loaded: Mechanism) -> None:
        """Publish efforts for plots: before limits, and for a model with massless legs.

        The latter are published only for mechanisms with that formulation.

        Args:
            stamp: time [ns] of the state.
            command: command computed for this state.
            wrench: (6,) [N, N m] external wrench about the body's reference point, base frame.
            loaded: mechanism with its payload.
        """
        if self._forces.get_subscription_count():
            self._forces.publish(self._plot.filled(stamp, effort=command.required))
        known = "massless" in formulations(self._mechanism)
        if known and self._massless.get_subscription_count() and not command.problem:
            platform: Any = loaded
            massless = platform.inverse_dynamics(*command.motion, wrench, formulation="massless")
            self._massless.publish(self._plot.filled(stamp, effort=massless))

    def trajectory(
        self, trajectory: SampledTrajectory, start: int | None, loaded: Mechanism
    ) -> None:
        """Publish a joint trajectory with efforts, clipped to the drives' effort limits.

        It is published once the topic has a subscriber.

        Computing a long trajectory takes a tenth of a second, during which no state is processed;
        see `publish_latest`.

        Args:
            trajectory: motion of the mechanism.
            start: start time [ns]; None to start at once.
            loaded: mechanism with its payload.
        """
        self._waiting = lambda: self._publish_trajectory(trajectory, start, loaded)
        self.publish_latest()

    def publish_latest(self) -> None:
        """Publish the latest trajectory, unless it was published or has no subscriber yet."""
        if self._waiting is not None and self._with_effort.get_subscription_count():
            publish, self._waiting = self._waiting, None
            publish()

    def _publish_trajectory(
        self, trajectory: SampledTrajectory, start: int | None, loaded: Mechanism
    ) -> None:
        try:
            # a controller adds the efforts to its own, without checking limits
            motion = joint_motion(loaded, trajectory, trajectory.times, is_limited=True)
        except RobodynError as error:
            self._no_trajectory(str(error))
            return
        if not np.isfinite(motion.efforts).all():
            self._no_trajectory("the efforts of the motion are not finite")
            return
        message = messages.joint_trajectory(loaded.joint_names, trajectory.times, motion)
        message.header.stamp = messages.to_stamp(start or 0)
        self._with_effort.publish(message)

    def _no_trajectory(self, why: str) -> None:
        self._node.get_logger().warning(f"joint_trajectory_with_effort not published: {why}")
