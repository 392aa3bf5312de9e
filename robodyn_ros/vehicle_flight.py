# SPDX-License-Identifier: Apache-2.0

"""Node that simulates the flight of a small airplane.

The node publishes `vehicle/imu` at `rate`: the specific force and angular velocity at the pilot's
head. The airplane rests on the runway until `machine_state` reports that the machine is engaged.
The airplane then takes off and turns to each side, with turbulence.
"""

from __future__ import annotations

from rclpy.node import Node
from sensor_msgs.msg import Imu
from std_msgs.msg import String

from robodyn.motion_base.cueing.flight import Flight
from robodyn_ros import qos
from robodyn_ros.base_imu import imu_message
from robodyn_ros.interfaces import Ticks, subscribe
from robodyn_ros.parameters import declare, table

PARAMETERS = table("vehicle_flight")


class VehicleFlight(Node):
    """Node that simulates the flight of an airplane in real time."""

    def __init__(self) -> None:
        super().__init__("vehicle_flight")
        rate = declare(self, PARAMETERS)["rate"]
        self._dt = 1.0 / rate
        self._flight = Flight(self._dt)
        self._felt = self._flight.step()
        self._flies = False
        self._publisher = self.create_publisher(Imu, "vehicle/imu", qos.STATE)
        subscribe(self, String, "machine_state", self._on_state, qos.LATCHED)
        self._ticks = Ticks(self, rate, self._tick)
        self.get_logger().info("on the runway; it takes off when the machine is engaged")

    def _on_state(self, message: String) -> None:
        engaged = message.data == "engaged"
        if engaged and not self._flies:
            self._flight = Flight(self._dt)
            self.get_logger().info("takes off")
        self._flies = engaged

    def _tick(self) -> None:
        if self._flies:
            self._felt = self._flight.step()
        self._publisher.publish(imu_message(self._ticks.time, "vehicle", *self._felt))
