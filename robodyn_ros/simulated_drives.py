# SPDX-License-Identifier: Apache-2.0

"""Node that simulates position-controlled drives.

The node replaces the hardware behind `joint_commander`. The node subscribes to
`position_controller/commands` and publishes the positions of the drives as `joint_states` of all
joints and, for a platform, as `platform_state`. The simulated drives have a delay and a limited
bandwidth, and stay within the limits of the joints.
"""

from __future__ import annotations

import numpy as np
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.simulation.position_drives import PositionDrives
from robodyn_ros import messages, qos
from robodyn_ros.interfaces import Interface, Ticks, subscribe
from robodyn_ros.parameters import declare, load_mechanism, table

PARAMETERS = table("mechanism", "simulated_drives")


class SimulatedDrives(Node):
    """Node that moves `PositionDrives` to received positions and publishes the state."""

    def __init__(self) -> None:
        super().__init__("simulated_drives")
        p = declare(self, PARAMETERS)
        self._mechanism = m = load_mechanism(p)
        self._at = m.home
        self._command = m.joint_positions(m.home)
        dt = 1.0 / p["rate"]
        self._drives = PositionDrives(self._command, dt, p["bandwidth"], p["delay"])
        self._noise, self._random = p["noise"], np.random.default_rng(0)
        self._efforts = np.zeros(len(self._command))
        self._publish_state = Interface(self, m).state_publisher(qos.STATE)
        topic = "position_controller/commands"
        subscribe(self, Float64MultiArray, topic, self._on_commands, qos.LATEST)
        # a step that was late is made up for: the drives' delay is in seconds, not in steps
        self._ticks = Ticks(self, p["rate"], self._tick)
        self.get_logger().info(f"simulated drives of {m.name}, ready")

    def _on_commands(self, message: Float64MultiArray) -> None:
        m = self._mechanism
        positions = messages.array_values(message, len(self._efforts), "position")
        self._command = m.drives.signs * positions + m.drives.offsets

    def _tick(self) -> None:
        drives, m = self._drives, self._mechanism
        drives.step(np.clip(self._command, *m.position_limits.T))
        seen = drives.positions
        if self._noise:
            seen = seen + self._random.normal(0.0, self._noise, len(seen))
        try:
            motion = motions.motion_of_joints(m, seen, drives.rates, None, self._at)
        except rd.RobodynError as error:
            self.get_logger().error(f"the drives stop: {error}", throttle_duration_sec=1.0)
            return
        self._at = motion.configuration
        self._publish_state(self._ticks.time, motion.configuration, motion.velocity, self._efforts)
