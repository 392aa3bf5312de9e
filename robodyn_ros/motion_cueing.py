# SPDX-License-Identifier: Apache-2.0

"""Node `motion_cueing`: from a vehicle's motion to a platform's.

Subscribes `vehicle/imu`: specific force and angular velocity at the driver's head, in the vehicle's
axes (x forward, y left, z up), with a specific force of +9.81 m/s^2 upwards at rest. Publishes
`platform_setpoint` at `rate`, for `joint_commander`. When the vehicle falls silent the platform
returns to neutral.

A managed (lifecycle) node: inactive, it publishes nothing; activated, it begins at neutral.
"""

from __future__ import annotations

import time
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu

import robodyn as rd
from robodyn.motion_base.head_motion import REST
from robodyn.simulation import Pacer
from robodyn_ros import qos
from robodyn_ros.base_imu import read_imu
from robodyn_ros.interfaces import listen, steady_timer
from robodyn_ros.managed import ManagedNode
from robodyn_ros.messages import OdometryMessage
from robodyn_ros.parameters import load_mechanism, on_change, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from robodyn.arrays import FloatArray

LIVE = table("washout")
PARAMETERS = table("mechanism", "autostart", "motion_cueing") | LIVE
# Larger numbers [m/s^2, rad/s] are no vehicle's.
LARGEST = 200.0
# From the time of the set-points to that of the node's clock, at most [ns].
APART = 50_000_000
# Of a period, what planning may take.
BUDGET = 0.6


class MotionCueing(ManagedNode):
    """Turns messages of an IMU into samples for a cueing algorithm, and its cues into messages."""

    def __init__(self) -> None:
        super().__init__("motion_cueing", PARAMETERS)

    def configure(self) -> None:
        """Load the mechanism, and listen."""
        p = self._p
        self._mechanism = m = load_mechanism(p)
        self._period = round(1e9 / p["rate"])
        self._message = OdometryMessage(m.frames)
        self._begin()
        self._cueing.step(REST, np.zeros(3))  # the first takes long
        self._publisher = self.create_publisher(Odometry, "platform_setpoint", qos.STATE)
        listen(self, Imu, "vehicle/imu", self._on_imu, qos.RECENT)
        on_change(self, LIVE, p, lambda values: self._cueing.change(_settings(values)))
        # twice as often as set-points fall due, so that a late one is made up for soon
        steady_timer(self, 0.5e-9 * self._period, self._follow_clock)

    def activate(self) -> None:
        """Publish set-points, from neutral on."""
        self._begin()
        p = self._p
        self.get_logger().info(f"{p['algorithm']} cueing of {self._mechanism.name}, ready")

    def _begin(self) -> None:
        p, dt = self._p, 1e-9 * self._period
        head = list(p["head"])
        self._cueing: rd.ClassicalWashout | rd.PredictiveCueing
        if p["algorithm"] == "classical":
            self._cueing = rd.ClassicalWashout(self._mechanism, dt, _settings(p), head)
        else:
            self._cueing = rd.PredictiveCueing(
                self._mechanism, dt, _settings(p), head, budget=BUDGET * dt
            )
        self._pacer, self._time = Pacer(dt), self.get_clock().now().nanoseconds
        self._be_at_rest()

    def _be_at_rest(self) -> None:
        self._felt: tuple[FloatArray, FloatArray] = REST, np.zeros(3)
        self._stamp: int | None = None
        self._heard = np.inf

    def _on_imu(self, message: Imu) -> None:
        stamp, force, rate = read_imu(message, LARGEST)
        if self._stamp is not None and stamp <= self._stamp:
            raise rd.InvalidInput(
                f"stamp is {stamp * 1e-9:.9g} s, must be after that of the last message, "
                f"{self._stamp * 1e-9:.9g} s",
                value=stamp,
            )
        self._felt, self._stamp, self._heard = (force, rate), stamp, time.monotonic()

    def _follow_clock(self) -> None:
        """The set-points that are due; late ones are made up for, with stamps as if in time."""
        while self._pacer.due(time.monotonic(), running=self.is_active):
            now = self.get_clock().now().nanoseconds
            self._time += self._period
            if abs(now - self._time) > APART:
                self._time = now
            if time.monotonic() - self._heard > self._p["timeout"]:
                self._be_at_rest()
                self.get_logger().warning(
                    f"vehicle/imu is silent for {self._p['timeout']:g} s: the platform returns to "
                    "neutral"
                )
            cue = self._cueing.step(*self._felt)
            self._publisher.publish(self._message.filled(self._time, cue.pose, cue.twist))


def _settings(values: Mapping[str, Any]) -> Any:
    """The library's settings: fields of them are parameters of the same names."""
    begin: Any = rd.PredictiveParameters()
    if values["algorithm"] == "classical":
        begin = rd.WashoutParameters.preset(values["preset"])
    given = {f.name: values[f.name] for f in fields(begin) if values.get(f.name) is not None}
    return replace(begin, **{k: v[0] if len(v) == 1 else list(v) for k, v in given.items()})
