# SPDX-License-Identifier: Apache-2.0

"""Node that monitors the condition number and reports current and upcoming singularities.

The node evaluates the trajectory and the states. Near a singularity, the node evaluates every
state; elsewhere, it evaluates one state per `look_period`. The node publishes

- `condition_number` and `~/condition_number_scaled`;
- `~/scale`, a speed factor from 0 to 1, computed from the planned motion ahead;
- `~/singularity_ahead`, the path time [s] of the first singularity or of the first condition number
  above `error`. The value is infinite if the path has no such point, and NaN if the path cannot be
  evaluated;
- `/diagnostics`, periodically and when a level changes. The status `trajectory ahead` lists the
  times at which the condition number crosses `warn` and `error`, and all singularities by type.
"""

from __future__ import annotations

import math
import time
from typing import Any

from rclpy.node import Node
from std_msgs.msg import Float64

import robodyn as rd
from robodyn.algorithms import conditioning
from robodyn.algorithms.conditioning import condition_text, singularities
from robodyn.arrays import FloatArray
from robodyn.control.conditioning import (
    ConditionLevel,
    condition_rate,
    direction_name,
    weakest_direction,
)
from robodyn.control.lookahead import look_ahead, needs_regularity
from robodyn.control.slowing import SpeedScale
from robodyn.trajectories import PointStream, SampledTrajectory
from robodyn.warmup import warm_up_watching
from robodyn_ros import messages, qos
from robodyn_ros.diagnostics import Status, log_at_level, reporter
from robodyn_ros.interfaces import Interface
from robodyn_ros.parameters import declare, load_mechanism, on_change, table

SETTINGS = table("condition_monitor")
PARAMETERS = table("mechanism", "states") | SETTINGS
# Waiting for the first state longer than this is an error [s].
LATE = 5.0
# A level is logged at most once in this time [s]; the diagnostics have every change.
QUIET = 1.0


class ConditionMonitor(Node):
    """Node that publishes the condition numbers of each state and trajectory."""

    def __init__(self) -> None:
        super().__init__("condition_monitor")
        p = declare(self, PARAMETERS)
        self._length = p["characteristic_length"]
        self._mechanism = load_mechanism(p)
        warm_up_watching(self._mechanism)
        self._level = ConditionLevel(p["warn"], p["error"], p["hysteresis"])
        self._scaling = SpeedScale(self._mechanism, *_scaling(p))
        self._trajectory: SampledTrajectory | None = None
        self._points = PointStream(self._mechanism)
        self._outlook: Status | None = None
        self._stamp = 0
        self._set_looks(p)
        self._looked, self._is_near = 0, True
        self._last: Status | None = None
        self._sent = -math.inf
        self._reported_at: dict[int, float] = {}
        self._period = int(p["diagnostic_period"] * messages.NANOSECONDS)
        self._number = self.create_publisher(Float64, "condition_number", qos.STATE)
        self._scaled = self.create_publisher(Float64, "~/condition_number_scaled", qos.STATE)
        self._scale = self.create_publisher(Float64, "~/scale", qos.LATEST)
        self._report = reporter(self)
        self._ahead = self.create_publisher(Float64, "~/singularity_ahead", qos.LATCHED)
        self._topics = topics = Interface(self, self._mechanism)
        topics.on_trajectory(self._on_trajectory)
        topics.on_state(self._on_state, qos.LOSSLESS, self._is_due)
        on_change(self, SETTINGS, p, self._on_change)
        # diagnostics are published even if no states arrive
        self.create_timer(p["diagnostic_period"], self._publish)
        self.get_logger().info(f"condition monitor of {self._mechanism.name}, ready")

    def _set_looks(self, p: dict[str, Any]) -> None:
        self._rest = round(p["look_period"] * messages.NANOSECONDS)
        self._good = 0.5 * p["warn"], 0.5 * p["scale_from"]

    def _is_due(self, stamp: int) -> bool:
        """Return whether to check a state: always near singularities, else periodically."""
        if not self._is_near and 0 <= stamp - self._looked < self._rest:
            self._stamp = stamp  # well conditioned up to here
            return False
        return True

    def _on_state(self, stamp: int, configuration: FloatArray, velocity: FloatArray) -> None:
        number = float(self._mechanism.condition_number(configuration))
        rises = self._publish_scale(stamp, number, configuration, velocity)
        self._stamp = self._looked = stamp
        self._is_near = rises or number > self._good[0]
        self._number.publish(Float64(data=number))
        changed = self._level.update(number)
        if changed or not 0 <= stamp - self._sent < self._period:
            try:
                self._last = self._status(number, configuration, velocity)
            except rd.KinematicsError as error:  # exactly at the singularity
                text = f"condition number {condition_text(number)}: {error}"
                self._last = Status("condition number", self._level.level, text)
            self._publish()
        level, now = self._level.level, time.monotonic()
        if (
            changed
            and self._last is not None
            and now - self._reported_at.get(level, -math.inf) > QUIET
        ):
            self._reported_at[level] = now
            # if efforts remain finite, the mechanism may start in a singularity
            matters = needs_regularity(self._mechanism)
            log_at_level(self, level * matters, f"t = {stamp * 1e-9:.3f} s: {self._last.text}")

    def _publish_scale(
        self, stamp: int, number: float, configuration: FloatArray, velocity: FloatArray
    ) -> bool:
        """Publish a state's condition number and speed factor.

        The condition number is based on the parameter `characteristic_length`.

        Returns:
            True if the state is near a singularity or the motion is slowed down.
        """
        scaled = number
        if self._length != 1.0:
            scaled = float(self._mechanism.condition_number(configuration, self._length))
        self._scaled.publish(Float64(data=scaled))
        scale = self._scaling.at(stamp, configuration, velocity)
        self._scale.publish(Float64(data=scale))
        return scale < 1.0 or scaled > self._good[1]

    def _status(self, number: float, configuration: FloatArray, velocity: FloatArray) -> Status:
        smallest = float(conditioning.singular_values(self._mechanism, configuration)[-1])
        scaled = float(self._mechanism.condition_number(configuration, self._length))
        level = self._level.level
        message = f"condition number {condition_text(number)}"
        kinds = singularities(self._mechanism)
        by_kind = {kind.name: float(kind.condition(configuration, 1.0)) for kind in kinds}
        nearest = max(kinds, key=lambda kind: by_kind[kind.name]) if kinds else None
        if nearest is not None and nearest.yields is not None:
            weakest = direction_name(nearest.yields(configuration, self._length))
        else:
            _, weakest = weakest_direction(self._mechanism, configuration, self._length)
        if level:
            message += f", above {(self._level.warn, self._level.error)[level - 1]:g}"
            if nearest is not None:
                message += f", near a singularity of {nearest.name} ({nearest.meaning})"
            message += f"; weakest: {weakest}"
        values = {
            **{f"condition_number, {name}": each for name, each in by_kind.items()},
            "condition_number": number,
            "condition_number_scaled": scaled,
            "characteristic_length": self._length,
            "rate_of_change": condition_rate(self._mechanism, configuration, velocity),
            "smallest_singular_value": smallest,
            "weakest_direction": weakest,
            "time": self._stamp * 1e-9,
        }
        return Status("condition number", level, message, values)

    def _on_change(self, p: dict[str, Any]) -> None:
        """Apply changed thresholds, and evaluate the current trajectory again."""
        level = ConditionLevel(p["warn"], p["error"], p["hysteresis"])
        level.level = self._level.level
        self._scaling.set_limits(*_scaling(p))
        self._set_looks(p)
        self._is_near = True
        self._level, self._length = level, p["characteristic_length"]
        if self._trajectory is not None:
            self._look_ahead(self._trajectory)

    def _on_trajectory(self, trajectory: SampledTrajectory, start: int | None) -> None:
        self._trajectory = trajectory
        self._is_near = True  # until a state shows otherwise
        if self._points.take(trajectory, self.get_clock().now().nanoseconds) is not None:
            self._scaling.discard_path()
            return
        self._look_ahead(trajectory)
        try:
            self._scaling.follow(trajectory, start)
        except rd.RobodynError as error:
            self._scaling.discard_path()
            self.get_logger().error(
                f"~/scale is computed from the velocity instead of the trajectory: {error}"
            )

    def _look_ahead(self, trajectory: SampledTrajectory) -> None:
        try:
            ahead = look_ahead(self._mechanism, trajectory, self._level.warn, self._level.error)
        except rd.RobodynError as error:
            text = f"trajectory not examined: {error}"
            self.get_logger().error(text)
            self._publish_conditions(math.nan, 2, text, {})
            return
        log_at_level(self, ahead.severity, f"trajectory ahead: {ahead.text}")
        values = {
            "warn": ahead.warn,
            "error": ahead.error,
            "singular_times": list(ahead.singular_times),
            **{
                f"singular_times, {kind.name}": [
                    meeting.time for meeting in ahead.meetings if meeting.name == kind.name
                ]
                for kind in singularities(self._mechanism)
            },
            "warn_times": list(ahead.warn_times),
            "error_times": list(ahead.error_times),
            "highest": ahead.highest,
            "time_of_highest": ahead.time_of_highest,
        }
        self._publish_conditions(ahead.first_critical_time, ahead.severity, ahead.text, values)

    def _publish_conditions(
        self, first_critical_time: float, level: int, text: str, values: dict[str, Any]
    ) -> None:
        """Publish the conditioning of a new trajectory; it replaces the previous report."""
        self._outlook = Status("trajectory ahead", level, text, values)
        self._ahead.publish(Float64(data=first_critical_time))
        self._publish()

    def _publish(self) -> None:
        statuses = [status for status in (self._last, self._outlook) if status is not None]
        statuses += self._topics.states.report(LATE)
        if statuses:
            self._report(self._stamp, *statuses)
            self._sent = self._stamp


def _scaling(p: dict[str, Any]) -> tuple[float, float, float]:
    """Return the parameters of the slowdown: two condition numbers and a length [m]."""
    if not p["scale_to"] > p["scale_from"]:
        raise rd.InvalidInput(
            f"parameter scale_to is {p['scale_to']}, must be above scale_from, {p['scale_from']}",
            value=p["scale_to"],
        )
    return p["scale_from"], p["scale_to"], p["characteristic_length"]
