# SPDX-License-Identifier: Apache-2.0

"""Node that computes the efforts for trajectories of a platform, an arm or a closed loop.

For a platform, the node subscribes to `platform_trajectory` and `platform_state`; for other
mechanisms, to `joint_trajectory` and `joint_states`. A platform also accepts a `joint_trajectory`
of leg lengths. If trajectories of a single point arrive at 5 Hz or more, as from MoveIt Servo, they
are treated as a stream: the mechanism reaches each point within one period and comes to rest when
the stream ends. Further inputs are `external_wrench` and, for a moving base, `base_imu`.

For each received state, the node publishes `effort_controller/commands` and `joint_commands` with
the stamp of the state. The parameter `command_unit` selects the unit of the commands, and
`header.frame_id` of `joint_commands` states this unit. Further outputs are

- `~/forces` and `~/massless_forces`, for plots;
- `~/joint_trajectory_with_effort`, for a joint_trajectory_controller, always with joint efforts;
- `~/tip_joint_states`, for MoveIt;
- `estimated_wrench`, if `observer_bandwidth` is not 0;
- `/diagnostics`.

The node provides the service `~/stop` and, if control_msgs is installed, the action
`~/follow_joint_trajectory`.

This is a managed (lifecycle) node. An inactive node subscribes to its inputs but publishes no
commands. If the node is deactivated during a motion
(`ros2 lifecycle set /inverse_dynamics deactivate`), it brings the mechanism to rest and then
reduces the efforts in the same way as the watchdog. When the node is activated, it starts at the
current position of the mechanism.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from rclpy.subscription import Subscription
from std_msgs.msg import Float64

import robodyn as rd
from robodyn.algorithms.tracking import tracking_of
from robodyn.analysis.goal_execution import GoalExecution
from robodyn.analysis.trajectory_goals import Goal, GoalPlan, GoalRefused, Present
from robodyn.arrays import FloatArray
from robodyn.control import EffortRampDown, TrajectoryFollower, Watchdog
from robodyn.control.goal_watch import GoalCode
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories import Motion, SampledTrajectory
from robodyn_ros import qos
from robodyn_ros.base_imu import BaseImu
from robodyn_ros.diagnostics import Status, reporter
from robodyn_ros.effort_outputs import EffortOutputs
from robodyn_ros.external_wrench import EstimatedWrench, ExternalWrench
from robodyn_ros.interfaces import Interface, serve_trigger, subscribe
from robodyn_ros.losses import StateFlow
from robodyn_ros.managed import ManagedNode, Refused
from robodyn_ros.parameters import (
    compensated_model,
    load_mechanism,
    on_change,
    payload_model,
    table,
)
from robodyn_ros.state_topic import WAITS
from robodyn_ros.trajectory_action import ACTIONS, TrajectoryAction, serve

LIVE = table("control", "collision", "trajectory_goals")
MODEL = table("payload", "compensation")
PARAMETERS = table("mechanism", "autostart", "states", "transforms", "command_unit") | MODEL | LIVE
# Periods of the watchdog, of the diagnostics and of hold trajectories [s].
WATCH, DIAGNOSE, ANNOUNCE = 0.02, 0.5, 0.1


__all__ = ["ACTIONS", "PARAMETERS", "InverseDynamics"]


class InverseDynamics(ManagedNode):
    """Node that publishes the computed efforts for each state."""

    _ramp_down: EffortRampDown | None = None  # after a deactivation
    _action: TrajectoryAction | None = None

    def __init__(self) -> None:
        super().__init__("inverse_dynamics", PARAMETERS)

    def configure(self) -> None:
        """Load the mechanism and create subscriptions and publishers."""
        p = self._p
        self._mechanism = load_mechanism(p)
        self._loaded = self._model_of(p)
        self._stamp = 0
        self._last: FloatArray | None = None
        self._rates: FloatArray | None = None
        self._problem = ""
        self._flow = StateFlow()
        self._begins: int | None = None  # [ns] start of a trajectory without a processed state
        self._held: FloatArray | None = None  # configuration that controllers are to hold
        self._waits = self._p["idle"] == "hold"  # until the first trajectory arrives
        self._outputs = EffortOutputs(self, self._mechanism, p["command_unit"])
        self._report = reporter(self)
        self._interface = Interface(self, self._mechanism)
        self._wrench = ExternalWrench(self, self._mechanism, lambda: self._stamp)
        self._base = BaseImu(self, self._mechanism, lambda: self._stamp)
        self._estimated = EstimatedWrench(self, self._mechanism, p)
        self._acting: FloatArray | None = None  # last commanded efforts
        self._interface.on_trajectory(self._on_trajectory, lambda: self._last)
        self._interface.on_state(self._on_state, qos.LATEST)
        self._interface.states.on_switch = self._follow_other_publisher
        self._scale: Subscription | None = None
        self._watchdog, self._follower = self._new_watchdog(), self._new_follower()
        self._goals = GoalExecution(self._follower, p)
        self._use_scale(p)
        on_change(self, LIVE, p, self._on_change)
        on_change(self, MODEL, p, self._on_model)
        serve_trigger(self, "~/stop", self._stop)
        self.create_timer(WATCH, self._watch)
        self.create_timer(DIAGNOSE, self._diagnose)
        self.create_timer(ANNOUNCE, self._announce)
        self._action = serve(self, self._mechanism.independent_joints, self._goals, self._plan_of)

    def activate(self) -> None:
        """Start to command efforts, at the first trajectory or, if `idle` is hold, now.

        A mechanism whose efforts are still being reduced is held at its position.
        """
        self._watchdog = self._new_watchdog()
        self._follower = self._goals.follower = self._new_follower()
        self._goals.set_path_tolerances(self._p["path_tolerance"])
        self._use_scale(self._p)
        if self._ramp_down is not None:
            self._ramp_down = None
            self._follower.stop()
        self._problem = ""
        self._interface.states.reset()
        self.get_logger().info(f"{self._p['mode']} of {self._mechanism.name}, ready")

    def deactivate(self) -> None:
        """Come to rest and hold, then reduce the efforts to zero and stop commanding."""
        self._goals.abandon("the node was deactivated", GoalCode.INVALID_GOAL)
        if not self._watchdog.has_started:  # no command was sent
            return
        self._follower.stop()
        hold, ramp = max(self._p["watchdog_hold"], self._p["stop_time"]), self._p["watchdog_ramp"]
        self._ramp_down = EffortRampDown(hold, ramp, time.monotonic())
        self.get_logger().info(
            f"inactive: efforts hold the configuration for {hold:g} s, then fall to zero in "
            f"{ramp:g} s"
        )

    def clean_up(self) -> None:
        """Destroy the subscriptions, publishers and services."""
        if self._ramp_down is not None:
            raise Refused(
                "the efforts are still being reduced to zero: repeat the request when they are zero"
            )
        self._end_action()
        super().clean_up()

    def destroy_node(self) -> None:
        """Destroy the action server, which rclpy would not destroy, and the node."""
        self._end_action()
        super().destroy_node()

    def _end_action(self) -> None:
        if self._action is not None:
            self._action.destroy()
            self._action = None

    def _model_of(self, p: dict[str, Any]) -> Mechanism:
        """Return the model for computed torque: with payload and only compensated terms."""
        return payload_model(compensated_model(self._mechanism, p), p)

    def _on_model(self, p: dict[str, Any]) -> None:
        """Update the model after a change of payload, gravity or the compensated terms."""
        self._loaded = self._model_of(p)
        self._follower.set_mechanism(self._loaded)
        self._follower.compensates_coriolis = "coriolis" in p["compensate"]

    def _new_watchdog(self) -> Watchdog:
        p = self._p
        return Watchdog(p["watchdog_timeout"], p["watchdog_hold"], p["watchdog_ramp"])

    def _new_follower(self) -> TrajectoryFollower:
        p = self._p
        return TrajectoryFollower(
            self._loaded,
            p["mode"],
            p["kp"],
            p["kv"],
            hold_when_idle=p["idle"] == "hold",
            compensates_coriolis="coriolis" in p["compensate"],
            **{name: p[name] for name in ("preview", "handover", "stop_time")},
        )

    def _on_trajectory(self, trajectory: SampledTrajectory, start: int | None) -> None:
        if not self.is_active:
            self.get_logger().warning("trajectory rejected: the node is inactive")
            return
        self._waits = False
        if self._follower.stream(trajectory, start):
            self._outputs.trajectory(trajectory, start, self._loaded)
            return
        self._flow, self._begins = StateFlow(), start  # earlier losses do not matter
        self.get_logger().info(
            f"trajectory of {trajectory.duration:g} s, {len(trajectory.times)} points accepted"
        )
        topic = self._interface.trajectory_topic
        if (planners := self.count_publishers(topic)) > 1:
            self.get_logger().warning(
                f"{topic} has {planners} publishers: the latest trajectory is followed"
            )
        self._outputs.trajectory(trajectory, start, self._loaded)

    def _follow_other_publisher(self) -> None:
        """Hold the position that the newly selected publisher of states reports."""
        if self.is_active:
            self._follower.stop()

    def _on_state(self, stamp: int, configuration: FloatArray, velocity: FloatArray) -> None:
        self._flow.take(stamp)
        self._outputs.tip(stamp, configuration)
        if not self.is_active and self._ramp_down is None:
            self._stamp, self._last, self._rates = stamp, configuration, velocity
            return
        wrench, self._follower.base = self._wrench.at(configuration), self._base.at(stamp)
        self._check_collision(stamp, (configuration, velocity), wrench)
        # states were checked when they were read
        command = self._follower.command_unchecked(stamp, configuration, velocity, wrench)
        self._stamp, self._last, self._rates = stamp, configuration, velocity
        if command is None:
            self._acting = None
            return
        self._watchdog.record_message(time.monotonic())
        if self._begins is not None:
            self._flow.begun_late = max(stamp - self._begins, 0) * 1e-9
            self._begins = None
        self._report_problem(command.problem)
        effort = command.effort if self._ramp_down is None else self._ramp_scale() * command.effort
        withheld = self._outputs.command(stamp, effort, configuration, velocity)
        self._problem = withheld or self._problem
        self._acting = None if withheld else effort
        self._outputs.plots(stamp, command, wrench, self._loaded)
        if self._goals.is_busy:
            self._goals.update(stamp, configuration, velocity, command.problem)

    def _check_collision(
        self, stamp: int, state: tuple[FloatArray, FloatArray], known: FloatArray
    ) -> None:
        """Abandon the motion if a collision is detected, except in gravity compensation."""
        follower, acting = self._follower, self._acting
        why = self._estimated.update(stamp, state, acting, self._loaded, follower.base, known)
        if why and not follower.abandoned and follower.mode != "gravity_compensation":
            follower.abandon(why)
            self.get_logger().error(f"{why}; the mechanism comes to rest and holds its position")
            self._diagnose()

    def _report_problem(self, problem: str) -> None:
        """Log a problem with a command, except while efforts are being reduced."""
        self._problem = problem if self._ramp_down is None else ""
        if not self._problem:
            return
        if problem == self._follower.abandoned:
            self.get_logger().error(f"{problem}; the mechanism holds its configuration")
            self._diagnose()
        else:
            self.get_logger().warning(problem, throttle_duration_sec=1.0)

    def _announce(self) -> None:
        """Publish a trajectory that holds the position until the first trajectory arrives.

        A newly activated joint_trajectory_controller holds its position without feedforward
        efforts; this trajectory contains them. It is repeated, because an inactive controller
        accepts no trajectory.
        """
        here = self._last
        if not (self._waits and self.is_active and self._outputs.has_follower) or here is None:
            return
        held, mechanism = self._held, self._mechanism
        if held is None or tracking_of(mechanism).is_lost(mechanism.difference(held, here)):
            self._held = held = here
        still = np.zeros((2, mechanism.coordinates.velocity_size))
        motion = Motion(np.array([held, held]), still, still)
        hold = SampledTrajectory(mechanism, [0.0, 1.0], motion)
        self._outputs.trajectory(hold, None, self._loaded)

    def _ramp_scale(self) -> float:
        """Return the factor for commanded efforts, which falls to 0 after deactivation."""
        if self._ramp_down is None:
            return 1.0
        fraction = self._ramp_down.fraction(time.monotonic())
        if fraction == 0.0:
            self._ramp_down = None
            self.get_logger().info("the efforts are zero")
        return fraction

    def _watch(self) -> None:
        """If no states arrive, command holding efforts, then reduce them to zero."""
        self._outputs.publish_latest()
        watch = self._watchdog.state(time.monotonic())
        silent = not self.is_active and self._ramp_down is None
        if watch.level == "ok" or self._last is None or silent:
            return
        topic, timeout = self._interface.state_topic, self._p["watchdog_timeout"]
        self.get_logger().error(
            f"no {topic} for {timeout:g} s: {watch.level}", throttle_duration_sec=5.0
        )
        self._goals.abandon(f"no {topic} for {timeout:g} s")
        effort = self._follower.hold_effort(self._last, self._wrench.at(self._last))
        now = self.get_clock().now().nanoseconds
        self._outputs.command(now, min(watch.scale, self._ramp_scale()) * effort, self._last)

    def _diagnose(self) -> None:
        incoming = self._interface.states
        watch, timeout = self._watchdog.state(time.monotonic()), self._p["watchdog_timeout"]
        waits, states = incoming.waiting(timeout), incoming.status(timeout)
        cut = int(self._follower.saturated.max())
        level, text = (1, self._problem) if self._problem else (0, self._p["mode"])
        if self._follower.abandoned:
            level, text = 2, self._follower.abandoned
        if not self.is_active:
            level, text = 0, "inactive"
        elif waits:
            level, text = waits
        elif watch.level != "ok":
            level, text = 2, f"no {self._interface.state_topic}: {watch.level}"
        scale, joints = self._follower.scale, self._mechanism.joint_names
        values: dict[str, object] = {"saturated_commands": cut, "watchdog": watch.level}
        values |= {"scale": scale} | (WAITS if waits else {})
        values |= dict(zip(joints, self._follower.saturated.tolist(), strict=True))
        flow = self._flow
        counts = {"received": flow.received, "lost": flow.lost, "late": flow.late}
        busy = flow.text
        arrived = Status("states", int(bool(busy)), busy or "all states on time", counts)
        if states is not None:
            both = "; ".join(part for part in (states.text, busy) if part)
            arrived = Status("states", states.level, both, {**counts, **states.values})
        self._report(self._stamp, Status("efforts", level, text, values), arrived)

    def _on_scale(self, message: Float64) -> None:
        if not 0.0 <= message.data <= 1.0:
            raise rd.InvalidInput(f"scale is {message.data}, expected 0 to 1", value=message.data)
        self._follower.scale = message.data

    def _use_scale(self, p: dict[str, Any]) -> None:
        """Subscribe to the condition monitor's speed factor if `use_scale` is set."""
        enabled = p["use_scale"]
        self._follower.delay = p["delay"]
        self._follower.predicts = enabled or p["delay"] > 0.0
        if enabled and self._scale is None:
            self._scale = subscribe(
                self, Float64, "condition_monitor/scale", self._on_scale, qos.LATEST
            )
        elif not enabled and self._scale is not None:
            self.destroy_subscription(self._scale)
            self._scale, self._follower.scale = None, 1.0

    def _on_change(self, p: dict[str, Any]) -> None:
        """Apply changed parameters, first the gains, which may be rejected."""
        self._follower.set_gains(p["kp"], p["kv"], p["preview"])
        self._follower.handover, self._follower.stop_time = p["handover"], p["stop_time"]
        if p["mode"] != self._follower.mode:
            self._follower.mode = p["mode"]
        watchdog = self._watchdog
        watchdog.timeout, watchdog.hold = p["watchdog_timeout"], p["watchdog_hold"]
        watchdog.ramp = p["watchdog_ramp"]
        self._goals.set_path_tolerances(p["path_tolerance"])
        self._use_scale(p)

    def _stop(self) -> str:
        """Abandon the trajectory, come to rest and hold the configuration."""
        if not self.is_active:
            raise rd.InvalidInput("the node is inactive: it sends no commands")
        self._follower.stop()
        return "the mechanism comes to rest and holds its configuration"

    def _plan_of(self, goal: Goal) -> GoalPlan:
        """Check an action goal against the current state, and return its plan."""
        if not self.is_active:
            raise GoalRefused("the node is inactive")
        present = None
        if self._last is not None and self._rates is not None:
            measured = Motion(self._last, self._rates, 0.0 * self._rates)
            present = Present(self._stamp, measured, self._follower.desired)
        return self._goals.examine(goal, present)
