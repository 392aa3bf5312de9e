# SPDX-License-Identifier: Apache-2.0

"""Node that simulates a mechanism under effort commands.

The node subscribes to `joint_commands` and `effort_controller/commands`, in the unit
`command_unit`, to `external_wrench`, and to `base_imu` of a moving base. The node publishes
`joint_states` with the efforts at the joints, `/clock`, `/diagnostics` and, for a platform,
`platform_state` and the transform of the platform (if tf2 is installed). If drives are elastic, the
parameter `feedback` selects whether positions are those of the motors or those of the joints. The
node provides the services `~/reset`, `~/pause` and `~/step`. Commands in another unit are ignored
with a warning.

In lockstep, the simulation advances by one control period when the command with the stamp of the
latest state has arrived, so a run depends only on its inputs. In real time, the simulation follows
the wall clock and applies the latest command. In this mode, brakes hold the mechanism until the
first command arrives, and whenever commands stop.
"""

from __future__ import annotations

import time

import numpy as np
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool

import robodyn as rd
from robodyn.arrays import FloatArray
from robodyn.control import CommandUnit
from robodyn.simulation import Brakes, Pacer, Plant, Sensor
from robodyn.trajectories import SampledTrajectory
from robodyn_ros import messages, qos
from robodyn_ros.base_imu import BaseImu
from robodyn_ros.diagnostics import Status, reporter
from robodyn_ros.external_wrench import ExternalWrench
from robodyn_ros.interfaces import Interface, serve_trigger, subscribe
from robodyn_ros.parameters import declare, load_mechanism, table, with_payload
from robodyn_ros.qos import sender
from robodyn_ros.runner import Finished

PARAMETERS = table("mechanism", "payload", "transforms", "command_unit", "forward_simulator")
# Lockstep: period of republishing a state until its command arrives [s].
REPEAT = 0.2
# Real time: number of periods after which a command is late.
LATE_COMMAND = 5
# Real time: shortest time between two warnings that the simulation is too slow [s].
LATE_REPEAT = 2.0


def _steps_per_period(control_rate: float, dt: float) -> int:
    """Return the number of integration steps in a control period.

    Raises:
        InvalidInput: the control period is not a whole number of integration steps.
    """
    steps = round(1.0 / (control_rate * dt))
    if steps < 1 or abs(steps * dt * control_rate - 1.0) > 1e-9:
        raise rd.InvalidInput(
            f"parameter control_rate: a period of 1/{control_rate} s is not a whole number of "
            f"steps dt = {dt} s"
        )
    return steps


class ForwardSimulator(Node):
    """Node that moves a `Plant` by the received efforts and publishes its state."""

    def __init__(self) -> None:
        super().__init__("forward_simulator")
        self._p = p = declare(self, PARAMETERS)
        self._mechanism = load_mechanism(p, self.get_logger())
        self._steps = _steps_per_period(p["control_rate"], p["dt"])
        self._period = round(self._steps * p["dt"] * 1e9)
        # the controller's model may lack this payload
        loaded = with_payload(
            self, self._mechanism, p, lambda loaded: setattr(self._plant, "mechanism", loaded)
        )
        try:
            self._plant = Plant(loaded, *self._initial_state(), dt=p["dt"])
            self._state = self._plant.measured(p["feedback"])
        except rd.InvalidInput as error:
            raise rd.InvalidInput(f"parameter initial_configuration: {error}") from error
        self._sensor = Sensor(
            self._mechanism, p["position_noise"], p["velocity_noise"], p["latency"], p["seed"]
        )
        self._joints = self._mechanism.joint_names
        self._unit = CommandUnit(self._mechanism, p["command_unit"])
        self._why_ignored = ""
        self._command: FloatArray | None = None
        self._ignored = 0
        self._commanded_at: int | None = None
        self._late_periods, self._oldest, self._lost_before = 0, 0, 0.0
        self._stamp = 0
        self._measured_at = -1
        self._failure = ""
        self._paused = False
        self._lockstep = lockstep = p["stepping"] == "lockstep"
        self._brakes = Brakes(
            0.0 if lockstep else p["brake_timeout"], not lockstep and p["hold_until_command"]
        )
        self._trajectory: SampledTrajectory | None = None
        self._path_start: int | None = None
        self._create_interfaces()
        self._waiting_since = time.monotonic()
        self._begun = not lockstep
        if lockstep:
            self._ends = -1
            self.create_timer(REPEAT, self._repeat)
        else:
            self._pacer = Pacer(self._period * 1e-9, p["real_time_factor"])
            self._warned = -LATE_REPEAT
            # twice per period, so that late periods are made up for soon
            self.create_timer(0.5e-9 * self._period / p["real_time_factor"], self._follow_clock)
        self.create_timer(1.0, self._diagnose)
        self.get_logger().info(f"{p['stepping']} simulation of {self._mechanism.name}, ready")

    def _create_interfaces(self) -> None:
        """Create the publishers, subscriptions and services."""
        topics = Interface(self, self._mechanism)
        self._publish_state = topics.state_publisher(qos.LOSSLESS if self._lockstep else qos.STATE)
        if self._lockstep and self._p["ends_with_path"]:
            topics.on_trajectory(self._on_trajectory)
        self._wrench = ExternalWrench(self, self._mechanism, lambda: self._stamp)
        self._base = BaseImu(self, self._mechanism, lambda: self._stamp)
        self._topic = topics.state_topic
        self._publish_clock = sender(self, self.create_publisher(
            Clock, "/clock", qos.LOSSLESS if self._lockstep else qos.CLOCK))  # fmt: skip
        self._report = reporter(self)
        subscribe(self, JointState, "joint_commands", self._on_command, qos.RECENT)
        subscribe(
            self, Float64MultiArray, "effort_controller/commands", self._on_efforts, qos.RECENT
        )
        serve_trigger(self, "~/reset", self._reset)
        self.create_service(SetBool, "~/pause", self._on_pause)
        serve_trigger(self, "~/step", self._step)

    def _initial_state(self) -> tuple[FloatArray, FloatArray | None]:
        if self._p["path"]:
            start = rd.load_path(self._p["path"], self._mechanism).sample(0.0)
            return start.configuration, start.velocity
        given = self._p["initial_configuration"]
        return (self._mechanism.home if given is None else np.array(given)), None

    def _on_command(self, message: JointState) -> None:
        stamp = messages.to_nanoseconds(message.header.stamp)
        if self._lockstep and (stamp != self._stamp or not self._begun):
            return
        if self._command is None and messages.has_no_efforts(message):
            return  # ros2_control's hardware sends NaN until a controller commands something
        try:
            self._unit.refuse_other(message.header.frame_id)
            self._command = messages.joint_values(message, self._joints, "effort")
        except rd.RobodynError as error:
            self._ignore("joint_commands", error)
            return
        self._note_command(self._command)
        if self._path_start is None and self._command.any():
            self._path_start = self._stamp
        if self._lockstep and not (self._paused or self._failure or self._is_over()):
            self._take_period()
            self._publish()

    def _on_trajectory(self, trajectory: SampledTrajectory, start: int | None) -> None:
        self._trajectory = trajectory
        if start is not None:
            self._path_start = start

    def _is_over(self) -> bool:
        """Return whether the run is over: after `duration` or, if it is 0, the whole path."""
        if self._trajectory is None or self._path_start is None:
            return False
        seconds = self._p["duration"] or self._trajectory.duration
        return self._stamp >= self._path_start + round(seconds * messages.NANOSECONDS)

    def _on_efforts(self, message: Float64MultiArray) -> None:
        if self._lockstep:
            return  # without a stamp it does not match a state
        try:
            self._unit.refuse_other("".join(dim.label for dim in message.layout.dim[:1]))
            efforts = messages.array_values(message, len(self._joints), "effort")
        except rd.RobodynError as error:
            self._ignore("effort_controller/commands", error)
            return
        self._command = efforts
        self._note_command(efforts)

    def _note_command(self, command: FloatArray) -> None:
        if self._commanded_at is None and not self._lockstep:
            self._lost_before = self._pacer.lost
        self._commanded_at = self._stamp
        self._brakes.command(self._stamp, command)

    def _ignore(self, topic: str, error: Exception) -> None:
        self._ignored += 1
        self._why_ignored = f"; {topic} ignored: {error}"
        self.get_logger().warning(
            f"{topic} ignored ({self._ignored} so far): {error}", throttle_duration_sec=1.0
        )

    def _take_period(self) -> None:
        """Advance by one control period; closed brakes hold the mechanism still."""
        if self._brakes.close_if_silent(self._stamp):
            self.get_logger().warning(
                f"no command for {self._p['brake_timeout']:g} s: brakes closed"
            )
        age = 0 if self._commanded_at is None else self._stamp - self._commanded_at
        self._late_periods += age >= LATE_COMMAND * self._period
        self._oldest = max(self._oldest, age)
        if self._brakes.closed:
            self._plant.stop()
            self._state = self._plant.measured(self._p["feedback"])
            self._stamp += self._period
        else:
            self._advance(self._plant.effort if self._command is None else self._effort_command())

    def _effort_command(self) -> FloatArray:
        """Return the last command, converted to efforts (n,) [N or N m] at the joints."""
        assert self._command is not None
        if self._unit.is_effort:
            return self._command
        rates = self._mechanism.joint_velocities(*self._state)
        return self._unit.to_efforts(self._command, rates)

    def _advance(self, effort: FloatArray) -> None:
        """Integrate over one control period; if this fails, keep the last valid state."""
        try:
            wrench = self._wrench.at(self._plant.configuration)
            self._plant.hold(effort, self._steps, wrench, self._base.at(self._stamp))
            self._state = self._plant.measured(self._p["feedback"])
        except (rd.SimulationFailed, rd.KinematicsError) as error:
            self._failure = f"simulation stopped at t = {self._stamp * 1e-9:.3f} s: {error}"
            self.get_logger().error(self._failure)
            self._diagnose()
            return
        self._stamp += self._period
        self._waiting_since = time.monotonic()

    def _repeat(self) -> None:
        """Republish the state until the command for it arrives or command_timeout passes."""
        if self._failure or self._paused or self._is_over():
            self._waiting_since = time.monotonic()
            return
        if time.monotonic() - self._waiting_since < REPEAT:
            return
        # Nodes are counted, since some have two subscriptions and need the first state by both:
        # none may have been added since the last check.
        ends = self.get_subscriptions_info_by_topic(self.resolve_topic_name(self._topic))
        subscribers = len({(end.node_namespace, end.node_name) for end in ends})
        settled, self._ends = len(ends) == self._ends, len(ends)
        self._begun = self._begun or (settled and subscribers >= self._p["min_subscribers"])
        if self._begun:
            self._publish()
        if time.monotonic() - self._waiting_since > self._p["command_timeout"]:
            raise Finished(
                1,
                f"no joint_commands for the state at t = {self._stamp * 1e-9:.3f} s within "
                f"{self._p['command_timeout']:g} s; {self._topic} has {subscribers} of the "
                f"{self._p['min_subscribers']} required subscribers: is inverse_dynamics running, "
                f"and does it have a trajectory?{self._why_ignored}",
            )

    def _follow_clock(self) -> None:
        """Advance by one control period if one is due."""
        lost, now = self._pacer.lost, time.monotonic()
        due = self._pacer.due(now, running=not (self._paused or self._failure))
        if self._pacer.lost > lost and now > self._warned + LATE_REPEAT:
            # not throttled by the logger, which would take a tenth of the time of a late simulator
            self._warned = now
            self.get_logger().warning(
                f"slower than real time: {self._pacer.lost:.3f} s behind the wall clock"
            )
        if not due:
            return
        self._take_period()
        self._publish()

    def _publish(self) -> None:
        plant, stamp = self._plant, self._stamp
        self._publish_clock(Clock(clock=messages.to_stamp(stamp)))
        if self._measured_at != stamp:
            self._measured = self._sensor.measure(*self._state)
            self._measured_at = stamp
        self._publish_state(stamp, *self._measured, plant.effort)

    def _diagnose(self) -> None:
        cut = int(self._plant.saturated.max())
        level, text = (2, self._failure) if self._failure else (int(cut > 0), "")
        if not text:
            text = f"efforts limited {cut} times" if cut else "running"
        if exceeded := () if self._failure else self._plant.beyond_limits:
            level, text = 1, f"{text}; beyond limits: {', '.join(exceeded)}"
        if self._brakes.closed and not self._failure:
            level = max(level, int(self._command is not None))
            text = "held by brakes: no efforts commanded"
        values = {"ignored_commands": self._ignored, "time": self._stamp * 1e-9}
        values |= dict(zip(self._joints, self._plant.saturated.tolist(), strict=True))
        statuses = [Status("simulation", level, text, values)]
        if not self._lockstep:
            statuses.append(self._real_time())
        self._report(self._stamp, *statuses)

    def _real_time(self) -> Status:
        """Return the real-time status: a warning if time was lost or commands were late."""
        lost = 0.0 if self._commanded_at is None else self._pacer.lost - self._lost_before
        values = {"lost_time": lost, "periods_without_command": self._late_periods}
        texts = []
        if lost > 0.0:
            texts.append(f"{lost:.3f} s behind the wall clock since the first command")
        if self._late_periods:
            texts.append(
                f"{self._late_periods} periods with a command at least {LATE_COMMAND} periods old, "
                f"the oldest {self._oldest * 1e-9:.3f} s"
            )
        return Status("real time", int(bool(texts)), "; ".join(texts) or "kept", values)

    def _reset(self) -> str:
        """Return to the initial state and time zero."""
        self._plant.reset(*self._initial_state())
        self._state = self._plant.measured(self._p["feedback"])
        self._sensor.reset()
        self._brakes.reset()
        self._command, self._failure, self._stamp, self._measured_at = None, "", 0, -1
        self._path_start = self._commanded_at = None
        self._publish()
        return "at the initial state, t = 0"

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        """Pause or resume the simulation, as the service requests."""
        self._paused = request.data
        response.success = True
        response.message = "paused" if self._paused else "running"
        if not self._paused:
            self._publish()
        return response

    def _step(self) -> str:
        """Advance a paused simulation by one control period with the last command, if any."""
        if self._failure or not self._paused:
            raise rd.InvalidInput(self._failure or "single steps are possible only while paused")
        self._take_period()
        self._publish()
        return f"t = {self._stamp * 1e-9:.3f} s"
