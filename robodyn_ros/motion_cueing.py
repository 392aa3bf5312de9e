# SPDX-License-Identifier: Apache-2.0

"""Node that turns the motion of a vehicle into set-points of a motion platform.

The node subscribes to `vehicle/imu`, the specific force and angular velocity at the driver's head
in the axes of the vehicle (x forward, y left, z up). At rest, the specific force is 9.81 m/s^2
upward. The node publishes `platform_setpoint` at `rate`, for `joint_commander`, and `felt_imu`, the
specific force and angular velocity at the head on the platform. With the parameter `telemetry`, the
node receives the motion of the vehicle from a simulator over UDP instead, and publishes it as
`vehicle/imu`. If no messages arrive, the platform returns to neutral.

This is a managed (lifecycle) node. An inactive node publishes nothing. When the node is activated,
the platform starts at neutral.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu

import robodyn as rd
from robodyn.arrays import FloatArray
from robodyn.checks import refuse_beyond
from robodyn.motion_base.cueing.telemetry import Telemetry, requests
from robodyn.motion_base.machine.command_gate import CommandGate, CommandRefused
from robodyn.motion_base.machine.head_motion import REST, felt_at
from robodyn_ros import qos
from robodyn_ros.base_imu import imu_message, read_imu
from robodyn_ros.diagnostics import Status, reporter
from robodyn_ros.interfaces import Ticks, steady_timer, subscribe
from robodyn_ros.line_ports import Datagrams
from robodyn_ros.managed import ManagedNode
from robodyn_ros.messages import OdometryMessage
from robodyn_ros.parameters import load_mechanism, on_change, table

LIVE = table("washout")
PARAMETERS = table("mechanism", "autostart", "motion_cueing") | LIVE
# Larger values [m/s^2, rad/s] are implausible for a vehicle.
LARGEST = 200.0
# Fraction of a period for planning.
BUDGET = 0.6
# Limit of datagrams per call, and the period [s] of requests to X-Plane.
AT_ONCE, REQUEST_PERIOD = 100, 2.0


class MotionCueing(ManagedNode):
    """Node that passes IMU messages to a cueing algorithm and publishes set-points."""

    def __init__(self) -> None:
        self._datagrams: Datagrams | None = None
        super().__init__("motion_cueing", PARAMETERS)

    def configure(self) -> None:
        """Load the mechanism and create subscriptions and publishers."""
        p = self._p
        self._mechanism = m = load_mechanism(p)
        self._message = OdometryMessage(m.frames)
        self._gate = CommandGate(m)
        self._ticks = Ticks(self, p["rate"], self._tick)
        self._begin()
        self._cueing.step(REST, np.zeros(3))  # the first step takes long
        self._publisher = self.create_publisher(Odometry, "platform_setpoint", qos.STATE)
        self._felt_imu = self.create_publisher(Imu, "felt_imu", qos.STATE)
        self._report = reporter(self)
        self._taken = self._counted = self._refused = 0
        self._arrived = self._diagnosed = time.monotonic()
        if p["telemetry"]:
            self._open_telemetry()
        else:
            subscribe(self, Imu, "vehicle/imu", self._on_imu, qos.RECENT)
        on_change(self, LIVE, p, lambda values: self._cueing.change(_settings(values)))
        steady_timer(self, 1.0, self._diagnose)

    def clean_up(self) -> None:
        """Close the telemetry port, and destroy subscriptions and publishers."""
        super().clean_up()
        self._close_telemetry()

    def destroy_node(self) -> None:
        """Close the telemetry port and destroy the node."""
        self._close_telemetry()
        super().destroy_node()

    def _close_telemetry(self) -> None:
        if self._datagrams is not None:
            self._datagrams.close()
            self._datagrams = None

    def activate(self) -> None:
        """Start to publish set-points, from the neutral pose."""
        self._begin()
        p = self._p
        name, axes = self._mechanism.name, self._cueing.text
        self.get_logger().info(f"{p['algorithm']} cueing of {name}, ready; axes: {axes}")

    def _begin(self) -> None:
        p, dt = self._p, 1e-9 * self._ticks.period
        self._head = head = np.array(p["head"])
        self._cueing: rd.ClassicalWashout | rd.PredictiveCueing
        if p["algorithm"] == "classical":
            self._cueing = rd.ClassicalWashout(self._mechanism, dt, _settings(p), head)
        else:
            self._cueing = rd.PredictiveCueing(
                self._mechanism, dt, _settings(p), head, budget=BUDGET * dt
            )
        self._ticks.restart()
        self._be_at_rest()

    def _be_at_rest(self) -> None:
        self._felt: tuple[FloatArray, FloatArray] = REST, np.zeros(3)
        self._stamp: int | None = None
        self._received = np.inf

    def _on_imu(self, message: Imu) -> None:
        stamp, force, rate = read_imu(message, LARGEST)
        # much older stamps mean that the clock was set back: start again
        if self._stamp is not None and 0 <= self._stamp - stamp <= self._p["timeout"] * 1e9:
            raise rd.InvalidInput(
                f"stamp is {stamp * 1e-9:.6f} s, must be after that of the last message, "
                f"{self._stamp * 1e-9:.6f} s",
                value=stamp,
            )
        self._stamp = stamp
        self._take(force, rate)

    def _take(self, force: FloatArray, rate: FloatArray) -> None:
        self._felt, self._received = (force, rate), time.monotonic()
        self._arrived = self._received
        self._taken += 1

    def _open_telemetry(self) -> None:
        self._imu_publisher = self.create_publisher(Imu, "vehicle/imu", qos.STATE)
        kind, _, address = self._p["telemetry"].partition(":")
        host, _, port = address.rpartition(":")
        self._telemetry = Telemetry(kind, list(self._p["telemetry_signs"]))
        if not (host and port.isdigit()):
            raise rd.InvalidInput(
                f"telemetry is {self._p['telemetry']!r}, expected FORMAT:HOST:PORT, such as "
                "csv:127.0.0.1:9900"
            )
        datagrams = requests(round(self._p["rate"])) if kind == "xplane" else []
        self._datagrams = Datagrams(host, int(port), datagrams)
        if datagrams:
            steady_timer(self, REQUEST_PERIOD, self._datagrams.request)

    def _receive_telemetry(self, datagrams: Datagrams) -> None:
        for datagram in datagrams.received(AT_ONCE):
            try:
                sample = self._telemetry.read(datagram, time.monotonic())
                refuse_beyond("telemetry", np.concatenate(sample), LARGEST)
            except rd.InvalidInput as error:
                self._refused += 1
                self.get_logger().error(f"telemetry refused: {error}", throttle_duration_sec=1.0)
            else:
                self._take(*sample)

    def _tick(self) -> None:
        """Compute and publish the set-point for the current tick."""
        if self._datagrams is not None:
            self._receive_telemetry(self._datagrams)
        if not self.is_active:
            return
        if time.monotonic() - self._received > self._p["timeout"]:
            self._be_at_rest()
            self.get_logger().warning(
                f"{self._p['telemetry'] or 'vehicle/imu'}: no message for "
                f"{self._p['timeout']:g} s: the platform returns to neutral"
            )
        cue = self._cueing.step(*self._felt)
        try:
            self._gate.check(pose=cue.pose, twist=cue.twist)
        except CommandRefused as error:
            self.get_logger().error(f"set-point not published; cueing restarts at neutral: {error}")
            self._begin()
            return
        self._publisher.publish(self._message.filled(self._ticks.time, cue.pose, cue.twist))
        felt = felt_at(self._head, cue)
        self._felt_imu.publish(imu_message(self._ticks.time, self._mechanism.frames[1], *felt))
        if self._datagrams is not None:
            self._imu_publisher.publish(imu_message(self._ticks.time, "vehicle", *self._felt))

    def _diagnose(self) -> None:
        now = time.monotonic()
        rate, self._counted = self._taken - self._counted, self._taken
        values = {
            "algorithm": self._p["algorithm"],
            "source": self._p["telemetry"] or "vehicle/imu",
            "rate": f"{rate / max(now - self._diagnosed, 1e-3):.0f} Hz",
            "age": f"{now - self._arrived:.2f} s" if self._taken else "none",
            "taken": self._taken,
            "refused": self._refused,
            "late": self._cueing.late,
            "lost_time": f"{self._ticks.pacer.lost:.3f}",
        }
        self._diagnosed = now
        is_silent = self._received == np.inf
        text = (
            "no messages from the vehicle" if is_silent else "receiving messages from the vehicle"
        )
        self._report(self._ticks.time, Status("cueing", int(is_silent), text, values))


def _settings(values: Mapping[str, Any]) -> Any:
    """Return the cueing algorithm's settings from the parameters of the same names."""
    begin: Any = rd.PredictiveParameters()
    if values["algorithm"] == "classical":
        begin = rd.WashoutParameters.preset(values["preset"])
    given = {f.name: values[f.name] for f in fields(begin) if values.get(f.name) is not None}
    return replace(begin, **{k: v[0] if len(v) == 1 else list(v) for k, v in given.items()})
