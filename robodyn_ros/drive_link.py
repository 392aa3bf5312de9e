# SPDX-License-Identifier: Apache-2.0

"""Node that sends set-points to servos over a serial port or UDP.

The node subscribes to `position_controller/commands` and sends each command as a line of text in
the units of the servos. The node publishes `joint_states` with the positions that the servos report
or, without `feedback`, with the commanded positions. If a command is beyond the travel of a joint,
the node rejects the command, and the servos stay in place.
"""

from __future__ import annotations

import time

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robodyn.errors import InvalidInput
from robodyn.motion_base.machine.command_gate import CommandGate
from robodyn.motion_base.machine.servo_text import ServoText
from robodyn_ros import messages, qos
from robodyn_ros.interfaces import steady_timer, subscribe
from robodyn_ros.line_ports import open_port
from robodyn_ros.messages import JointStateMessage
from robodyn_ros.parameters import declare, load_mechanism, table

PARAMETERS = table("mechanism", "drive_link")
# [s] Period of reading, and the shortest interval for position differences.
LISTEN, SHORTEST = 0.005, 1e-4


class DriveLink(Node):
    """Node that converts joint positions to commands of servos, and back."""

    def __init__(self) -> None:
        super().__init__("drive_link")
        p = declare(self, PARAMETERS)
        self._mechanism = m = load_mechanism(p)
        names = m.joint_names
        self._gate = CommandGate(m)
        self._gate.begin(m.position_limits)
        fields = ",".join(f"{{{k}:.2f}}" for k in range(1, len(names) + 1))
        line = (p["format"] or fields).replace("\\n", "\n")
        self._text = ServoText(
            len(names),
            line if line.endswith("\n") else line + "\n",
            **{name: p[name] for name in ("scale", "direction", "horn", "zero")},
            least=p["value_range"][0],
            most=p["value_range"][1],
        )
        self._feedback, self._dropped = p["feedback"], 0
        self._port = open_port(p["link"])
        self._state = JointStateMessage(names)
        self._states = self.create_publisher(JointState, "joint_states", qos.STATE)
        self._last: tuple[float, np.ndarray] | None = None
        self._begun = time.monotonic()
        subscribe(
            self, Float64MultiArray, "position_controller/commands", self._on_commands, qos.LATEST
        )
        steady_timer(self, LISTEN, self._subscribe_to_commands)
        example = self._text.line(0.0, np.asarray(self._text.horn)).strip()
        self.get_logger().info(
            f"drive link at {p['link']}, ready; line for all servos at zero: {example!r}"
        )

    def destroy_node(self) -> None:
        """Close the port and destroy the node."""
        if hasattr(self, "_port"):
            self._port.close()
        super().destroy_node()

    def _on_commands(self, message: Float64MultiArray) -> None:
        positions = messages.array_values(message, self._text.count, "position")
        m = self._mechanism
        self._gate.check(position=m.drives.signs * positions + m.drives.offsets)
        if not self._port.send(self._text.line(time.monotonic() - self._begun, positions)):
            self._dropped += 1
            self.get_logger().warning(
                f"line not sent ({self._dropped} so far): the link is slower than the commands, "
                "or the receiver does not read it",
                throttle_duration_sec=5.0,
            )
        if not self._feedback:
            self._publish_state(positions)

    def _subscribe_to_commands(self) -> None:
        lines = self._port.received()  # empty the buffer in any case
        if not self._feedback or not lines:
            return
        try:
            self._publish_state(self._text.read(lines[-1]))
        except InvalidInput as error:
            self.get_logger().warning(
                f"line from the servos dropped: {error}: {lines[-1][:80]!r}",
                throttle_duration_sec=5.0,
            )

    def _publish_state(self, positions: np.ndarray) -> None:
        """Publish the servos' positions, and their velocities from finite differences."""
        now = time.monotonic()  # not the node's clock, which may be set or stop
        before, last = self._last or (now - 1.0, positions)
        rates = (positions - last) / max(now - before, SHORTEST)
        self._last = now, positions
        stamp = self.get_clock().now().nanoseconds
        self._states.publish(self._state.filled(stamp, positions, rates))
