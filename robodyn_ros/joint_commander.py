# SPDX-License-Identifier: Apache-2.0

"""Node that operates a machine of position-controlled drives within their limits.

The node subscribes to

- `platform_trajectory` or `joint_trajectory`, and the stream `platform_setpoint`;
- `joint_states` of the drives;
- `enable`, a heartbeat, and `emergency_stop`;
- `/diagnostics`, `dynamic_joint_states` and `gpio_states`, for faults of the drives;
- `base_imu` of a moving base, for the feedforward and, with `stabilize`, to hold the platform in
  the world.

If trajectories of a single point arrive at 5 Hz or more, they are treated as a stream. When the
stream ends, the machine comes to rest.

At `rate`, the node publishes `position_controller/commands`, `velocity_controller/commands`,
`effort_controller/commands`, and `joint_commands` with all three quantities. The efforts are
feedforward in `command_unit`. The node also publishes `machine_state` (latched), `~/target_state`,
`/diagnostics` and, if `observer_bandwidth` is not 0, `estimated_wrench`, which it computes from the
velocities and efforts on `joint_states`. The node provides the services `~/engage`, `~/park`,
`~/freeze` and `~/reset`. If the node rejects a request, the response contains the reason.

The node is not a safety function, see [machines](machine.md). The machine does not start if another
node commands the drives. If another node begins to command the drives later, the machine enters
`fault`.

This is a managed (lifecycle) node. An inactive node publishes no commands. When the node is
activated, it homes and parks the machine.
"""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.arrays import FloatArray
from robodyn.motion_base.base.base_pose import BasePoseEstimator, ImuNoise
from robodyn.motion_base.machine.command_gate import CommandRefused
from robodyn.motion_base.machine.commander import SetPoint
from robodyn.motion_base.machine.limits import DriveLimits
from robodyn.motion_base.machine.machine import Machine, MachineSettings
from robodyn.motion_base.machine.machine_states import EFFECTS, RequestRefused
from robodyn.motion_base.machine.motion_sources import (
    LateSetPoint,
    PointSource,
    PoseStream,
    TrajectorySource,
)
from robodyn.motion_base.machine.stabilized import StabilizedSource
from robodyn.trajectories import PointStream, SampledTrajectory
from robodyn_ros import diagnostics, messages, qos
from robodyn_ros.base_imu import BaseImu
from robodyn_ros.effort_outputs import JointCommands
from robodyn_ros.external_wrench import EstimatedWrench
from robodyn_ros.interfaces import Interface, Ticks, serve_trigger, subscribe
from robodyn_ros.managed import ManagedNode, Refused
from robodyn_ros.messages import OdometryMessage
from robodyn_ros.parameters import load_mechanism, on_change, table
from robodyn_ros.state_topic import JointSource, StateTopic

try:
    import control_msgs.msg as control_messages
except ImportError:  # not installed everywhere
    control_messages = None


LIVE = table("stabilization", "collision")
PARAMETERS = (
    table("mechanism", "autostart", "states", "transforms", "command_unit", "joint_commander")
    | LIVE
)
# The fields of the library's settings are parameters of the same names.
SETTINGS = ("homing", "slow", "ease", "enable_required", "enable_timeout", "feedback_timeout",
            "following_time", "drive_delay", "back_drives", "condition_limit",
            "compensate_sag")  # fmt: skip
DIAGNOSE, RETRY = 0.5, 0.5  # [s]
# [s] until other nodes of the graph are discovered, and between repeated log lines.
DISCOVERY, QUIET = 1.0, 10.0
# States in which poses are accepted: after a freeze the machine moves to the target of that time.
LISTENING = ("engaging", "engaged", "freezing", "frozen")
MOVING = ("engaging", "engaged")


class JointCommander(ManagedNode):
    """Node that connects a `Machine` with the messages of its inputs and outputs."""

    _ticks: Ticks

    def __init__(self) -> None:
        self._born = time.monotonic()
        super().__init__("joint_commander", PARAMETERS)

    def configure(self) -> None:
        """Load the mechanism and create subscriptions and publishers."""
        p = self._p
        self._mechanism = m = load_mechanism(p, self.get_logger())
        self._sign, self._offset = m.drives.signs, m.drives.offsets
        limits = DriveLimits.of(
            m,
            rates=p["rate_limits"],
            accelerations=p["acceleration_limits"],
            jerks=p["jerk_limits"],
        )
        park = p["park_positions"]
        settings = MachineSettings(
            **{name: p[name] for name in SETTINGS},
            following_error=p["following_error"] or np.inf,
            park_positions=None if park is None else self._from_drives(np.array(park)),
        )
        period = 1e-9 * round(1e9 / p["rate"])
        self._machine = Machine(m, period, limits, settings=settings)
        self._machine.commander.warm_up()
        self._stream = PoseStream(m, p["setpoint_timeout"])
        self._points = PointStream(m)
        self._interface = Interface(self, m)
        self._reported_state = self._problem = self._waiting = self._ignored_state = ""
        self._late, self._yields = 0, False
        self._point: SetPoint | None = None
        self._target = OdometryMessage(m.frames)
        publish = self.create_publisher
        fields = "position", "velocity", "effort"
        self._commands = JointCommands(self, m, p["command_unit"], fields)
        self._states = publish(String, "machine_state", qos.LATCHED)
        self._target_publisher = publish(Odometry, "~/target_state", qos.STATE)
        self._report = diagnostics.reporter(self)
        noise = ImuNoise(p["accelerometer_noise"], p["gyroscope_noise"])
        self._place = BasePoseEstimator(noise, p["longest_period"])
        self._base = BaseImu(self, m, lambda: self._ticks.time, self._place.step, self._place.reset)
        self._estimated = EstimatedWrench(self, m, p)
        self._felt: FloatArray | None = None  # last configuration from the drives
        self._stabilize(p)
        on_change(self, LIVE, p, self._stabilize)
        self._interface.on_trajectory(
            self._on_trajectory, lambda: self._machine.commander.configuration
        )
        subscribe(self, Odometry, "platform_setpoint", self._on_setpoint, qos.RECENT)
        self._drives = JointSource(self, m, m.joint_names, needs_velocities=False)
        self._feedback = StateTopic(self, "joint_states", self._drives, self._on_joints, qos.RECENT)
        machine = self._machine
        for topic, act in (
            ("enable", lambda message: machine.enable(self._ticks.time, message.data)),
            ("emergency_stop", lambda message: machine.emergency_stop(message.data)),
        ):
            subscribe(self, Bool, topic, act, qos.RECENT)
        if p["drive_diagnostics"]:
            subscribe(self, DiagnosticArray, "/diagnostics", self._on_diagnostics, qos.EVENTS)
        if p["drive_faults"]:
            self._listen_to_interfaces()
        for request in ("engage", "park", "freeze", "reset"):
            serve_trigger(self, f"~/{request}", partial(self._request, request))
        # late ticks are due to this process, not to the publishers
        self._ticks = Ticks(self, p["rate"], self._tick, machine.skip, self._on_clock)
        self.create_timer(DIAGNOSE, self._diagnose)
        self._publish_machine_state()

    def activate(self) -> None:
        """Power the machine on as soon as the drives report positions."""
        self._tried, self._last_report, self._waits = 0.0, 0.0, True
        self.get_logger().info(f"joint_commander of {self._mechanism.name}, ready")

    def deactivate(self) -> None:
        """Switch the machine off, unless it is moving."""
        try:
            self._machine.request("power_off")
        except RequestRefused as error:
            raise Refused(str(error)) from error
        self._publish_machine_state()

    def _from_drives(self, positions: FloatArray) -> FloatArray:
        return np.asarray(self._sign * positions + self._offset)

    def _request(self, request: str) -> str:
        if self._machine.state == "off" and request in ("power_on", "reset"):
            others = self._commands.others()
            if time.monotonic() - self._born < DISCOVERY:
                others = "the search for other nodes that command the drives has not ended"
            if others:
                raise RequestRefused(f"{request} refused: {others}", value=request)
            self._yields = False
        state = self._machine.request(request)
        self._publish_machine_state()
        return state

    def _on_clock(self, change: int) -> None:
        """Shift the receive times of inputs by a jump of the clock."""
        machine = self._machine
        machine.set_clock(change)
        if machine.state != "off":
            self.get_logger().warning(
                f"clock was changed by {change * 1e-9:+.3g} s: motions continue from the present "
                f"state, set-points follow the new time; the machine is {machine.state}"
            )

    def _on_other(self, text: str) -> None:
        """Report a fault if another publisher commands the drives, and stop sending."""
        if self._machine.state != "off":
            self._yields = True
            self._machine.fault(f"{text}, and it commands the drives: stop it, then reset")

    def _on_trajectory(self, trajectory: SampledTrajectory, start: int | None) -> None:
        if self._machine.state not in MOVING or not self.is_active:
            self.get_logger().error(
                f"trajectory refused: the machine is {self._machine.state}, not engaged"
            )
            return
        now = self.get_clock().now().nanoseconds
        point = self._points.take(trajectory, now)
        if point is not None:
            self._machine.motion_source = PointSource(point, now)
            return
        begins = now if start is None else start
        if begins + round(trajectory.duration * 1e9) < now:
            late = 1e-9 * (now - begins)
            self.get_logger().error(
                f"trajectory refused: it began {late:.3g} s ago and lasts only "
                f"{trajectory.duration:.3g} s; check that the clocks of both computers agree"
            )
            return
        self._machine.motion_source = TrajectorySource(trajectory, begins)
        self.get_logger().info(f"trajectory of {trajectory.duration:g} s accepted")

    def _on_setpoint(self, message: Odometry) -> None:
        state = self._machine.state
        if state not in LISTENING or not self.is_active:
            if state != self._ignored_state:
                self._ignored_state = state
                self.get_logger().info(f"platform_setpoint is ignored while the machine is {state}")
            return
        self._ignored_state = ""
        commander, now = self._machine.commander, self.get_clock().now().nanoseconds
        near = commander.configuration if commander.target is None else commander.target
        try:
            frame, base = message.header.frame_id, self._interface.base_frame
            if frame not in ("", base):
                raise rd.InvalidInput(f"frame is {frame!r}, expected {base!r}", value=frame)
            stamp, pose, twist = messages.platform_state(message)
            problem = self._stream.take(stamp or now, now, pose, twist, near)
        except LateSetPoint as error:
            self._late += 1
            self.get_logger().warning(
                f"platform_setpoint is late ({self._late} so far): {error}; if none arrives on "
                "time, the machine comes to rest",
                throttle_duration_sec=QUIET,
            )
            return
        except rd.RobodynError:
            self._stream.refused += 1
            raise
        self._machine.motion_source = self._stream
        if problem:
            self.get_logger().warning(f"platform_setpoint: {problem}", throttle_duration_sec=1.0)

    def _on_joints(self, stamp: int, positions: FloatArray, velocities: FloatArray) -> None:
        self._machine.measure(self._ticks.time, self._from_drives(positions))
        if self._p["observer_bandwidth"] and self._drives.message is not None:
            self._watch_for_collisions(self._drives.message, self._from_drives(positions))

    def _watch_for_collisions(self, message: JointState, positions: FloatArray) -> None:
        """Report a fault if measured rates and efforts indicate a collision."""
        m, commander = self._mechanism, self._machine.commander
        rates, efforts = (
            messages.joint_values(message, m.joint_names, each) for each in ("velocity", "effort")
        )
        near = commander.configuration if self._felt is None else self._felt
        state = motions.motion_of_joints(m, positions, self._sign * rates, None, near)[:2]
        self._felt, stamp = state[0], messages.to_nanoseconds(message.header.stamp)
        why = self._estimated.update(stamp, state, efforts, m, commander.base)
        if why:
            self._machine.fault(why)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.level >= DiagnosticStatus.ERROR and status.name.startswith(
                self._p["drive_diagnostics"]
            ):
                self._machine.fault(f"{status.name}: {status.message}")

    def _listen_to_interfaces(self) -> None:
        if control_messages is None:
            raise rd.InvalidInput(
                "drive_faults needs the package control_msgs, which is not installed"
            )
        for kind, topic, names in (
            ("DynamicJointState", "dynamic_joint_states", "joint_names"),
            ("DynamicInterfaceGroupValues", "gpio_states", "interface_groups"),
        ):
            message = getattr(control_messages, kind, None)  # Humble has only the first
            if message is not None:
                receive = partial(self._on_interfaces, names)
                subscribe(self, message, topic, receive, qos.RECENT)

    def _on_interfaces(self, names: str, message: Any) -> None:
        for name, group in zip(getattr(message, names), message.interface_values, strict=False):
            for interface, value in zip(group.interface_names, group.values, strict=False):
                # NaN is not a healthy value
                if value != 0.0 and f"{name}/{interface}" in self._p["drive_faults"]:
                    self._machine.fault(f"{name}/{interface} is {value:g}")

    def _stabilize(self, p: dict[str, Any]) -> None:
        """Stabilize the platform in the world frame if the parameter `stabilize` is set."""
        if p["stabilize"] == (self._machine.stabilized is not None):
            return
        ahead = round(1e9 * (p["drive_delay"] + p["imu_delay"]))
        self._machine.stabilized = (
            StabilizedSource(self._machine.commander, self._place, ahead)
            if p["stabilize"]
            else None
        )

    def _tick(self) -> None:
        machine = self._machine
        if machine.state == "off" and self.is_active and self._waits:
            self._bring_up()
        machine.commander.base = self._base.at(self._ticks.time)
        self._point = point = machine.step(self._ticks.time)
        if point is not None and self.is_active:
            try:
                self._publish(point)
            except CommandRefused as error:
                machine.fault(f"a command was not published: {error}")
        if self._yields and machine.state == "fault":
            with suppress(RequestRefused):  # until it is at rest
                machine.request("power_off")
        self._publish_machine_state()

    def _bring_up(self) -> None:
        """Request to power the machine on; retry periodically until it is accepted."""
        now = time.monotonic()
        if now - self._tried < RETRY:
            return
        self._tried = now
        try:
            self._request("power_on")
            self._waits, self._waiting = False, ""
        except RequestRefused as error:
            self._waiting = f"waiting: {error}"
            if not self._last_report or now - self._last_report > QUIET:
                self._last_report = now
                self.get_logger().info(f"{self._waiting}; nothing is sent to the drives")

    def _publish(self, point: SetPoint) -> None:
        self._commands.publish(
            self._ticks.time,
            lambda: point.velocities,
            position=self._sign * (point.positions - self._offset),
            velocity=self._sign * point.velocities,
            effort=point.efforts,
        )
        target = self._machine.commander.target
        if target is not None and self._target_publisher.get_subscription_count():
            pose = self._mechanism.body_pose(target)
            self._target_publisher.publish(self._target.filled(self._ticks.time, pose, np.zeros(6)))

    def _publish_machine_state(self) -> None:
        machine, before = self._machine, self._reported_state
        if machine.state != before:
            self._reported_state = machine.state
            self._states.publish(String(data=machine.state))
            text = f"state changed: {before or 'start'} -> {machine.state}"
            why = f": {machine.reason}" if machine.reason else ""
            effect = f" ({EFFECTS[machine.state]})"
            is_fault = machine.state == "fault" or self._yields
            diagnostics.log_at_level(self, 2 if is_fault else 0, text + why + effect)
            self._diagnose()
        problem = "" if self._point is None else self._point.problem
        if problem and not self._problem:
            self.get_logger().warning(problem, throttle_duration_sec=1.0)
        self._problem = problem

    def _diagnose(self) -> None:
        machine = self._machine
        self._commands.watch(self._on_other)
        level, text = (1, self._problem) if self._problem else (0, machine.state)
        if machine.state == "off" and (why := self._waiting or machine.reason):
            level, text = 2 if self._yields else 1, f"off: {why}"
        if machine.state in ("freezing", "frozen", "fault"):
            level = 2 if machine.state == "fault" else 1
            text = f"{machine.state}: {machine.reason}"
        values = {
            "state": machine.state,
            "reason": machine.reason,
            "enabled": machine.is_enabled,
            "arrived": machine.commander.has_arrived,
            "refused_setpoints": self._stream.refused,
            "late_setpoints": self._late,
            "held_share": 0.0 if machine.stabilized is None else machine.stabilized.fraction,
            "lost_time": f"{self._ticks.pacer.lost:.3f}",
        }
        own = diagnostics.Status("machine", level, text, values)
        # drives need not publish positions unless homing uses them
        needs = self._p["homing"] != "assumed" or self._feedback.waiting() is None
        states = self._feedback.report(self._p["feedback_timeout"]) if needs else []
        self._report(self._ticks.time, own, *states)
