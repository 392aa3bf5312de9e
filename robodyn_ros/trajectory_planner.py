# SPDX-License-Identifier: Apache-2.0

"""Node that plans trajectories to goals and along paths.

The node subscribes to `goal_pose`, a pose of the platform or of an arm's tip, and to `goal_joints`,
positions of some or all driven joints (for a platform, leg lengths). For a platform, the node
subscribes to `platform_state` and publishes `platform_trajectory`; for other mechanisms, the node
uses `joint_states` and `joint_trajectory`. The node also publishes `planned_path`, the poses of the
platform or tip, and `planned_path_markers`, a line through these poses, colored by the condition
number. Trajectories are latched. The status on `/diagnostics` shows the progress. The node provides
the services `~/plan`, `~/start` and `~/cancel`. With `auto_start: false`, a planned motion begins
when `~/start` is called.

- Goals in other frames are transformed to the base frame. A goal in the frame of the body is
  transformed by the body's current pose. For goals in all other frames, the node uses TF, which
  requires tf2_ros.
- If a plan exceeds a limit of the mechanism, the node rejects the plan or logs a warning (parameter
  `limits`). Limits on the condition number apply to motions to poses and along lines of the tip,
  not to joint motions.
- If the mechanism is not at the start of a plan, the node plans an approach with `v_max` and
  `w_max`, or rejects the plan (parameter `approach`).
- With `profile: time_optimal`, a motion is as fast as the limits of efforts, velocities and motors
  permit. The node then plans a motion to a goal in a thread, from a predicted state, so the
  mechanism does not need to stop first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from tf_transformations import euler_from_quaternion

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.analysis.limits import Quantity, check_limits
from robodyn.arrays import FloatArray
from robodyn.control.lookahead import look_ahead
from robodyn.planning.paths.around import around_singularities
from robodyn.planning.time_optimal.online import (
    is_moving,
    predict_state,
    time_optimal_from,
    time_optimal_line,
)
from robodyn.trajectories import Motion, Trajectory, knot_times
from robodyn.trajectories.profiles import TIME_OPTIMAL, ProfileName
from robodyn.trajectories.straight import distance_to_start, join_motions, plan_straight
from robodyn.trajectories.tip_line import is_body_motion, plan_tip_line
from robodyn_ros import diagnostics, messages, qos
from robodyn_ros.background import Background
from robodyn_ros.frames import Frames
from robodyn_ros.interfaces import Interface, serve_trigger, steady_timer, subscribe
from robodyn_ros.markers import PathDisplay
from robodyn_ros.parameters import declare, load_mechanism, on_change, table

SETTINGS = table("trajectory_planner")
PARAMETERS = table("mechanism", "states", "transforms") | SETTINGS
# [s] period of diagnostics; waiting for the first state longer than LATE is an error.
DIAGNOSE, LATE = 0.5, 5.0
POSITION: tuple[Quantity, ...] = ("position",)


class TrajectoryPlanner(Node):
    """Node that plans trajectories, checks their conditioning and publishes them."""

    def __init__(self) -> None:
        super().__init__("trajectory_planner")
        self._p = declare(self, PARAMETERS)
        self._mechanism = load_mechanism(self._p)
        self._plan: tuple[Trajectory, str] | None = None  # and its description
        self._here: FloatArray | None = None
        self._velocity: FloatArray | None = None
        self._stamp = 0
        self._followed: tuple[Trajectory, int] | None = None  # and its start [ns]
        self._background = Background(self, lambda: self._stamp)
        self._due: tuple[Trajectory, str] | None = None
        self._waiting: Callable[[], None] | None = None  # a goal that waits for the first state
        self._interface = Interface(self, self._mechanism)
        self._send = self._interface.trajectory_publisher()
        self._display = PathDisplay(self, self._mechanism)
        self._interface.on_state(self._on_state, qos.LATEST)
        self._report = diagnostics.reporter(self)
        self._not_started, self._was_not_started = "", False
        steady_timer(self, DIAGNOSE, self._diagnose)
        self._frames = Frames(self, self._mechanism.frames, lambda: self._stamp)
        self._frames.subscribe()
        self._take_goals(PoseStamped, "goal_pose", self._on_goal_pose)
        self._take_goals(JointState, "goal_joints", self._on_goal_joints)
        serve_trigger(self, "~/plan", self._plan_again)
        serve_trigger(self, "~/start", self._publish_plan)
        serve_trigger(self, "~/cancel", self._cancel)
        on_change(self, SETTINGS, self._p, self._on_change)
        if self._p["path"]:
            self._take(self._load(self._p["path"]), f"path {self._p['path']}")

    def _on_change(self, p: dict[str, Any]) -> None:
        """Raise an error if a new value of the parameter `path` is invalid."""
        if p["path"] and p["path"] != self._p["path"]:
            self._load(p["path"])

    def _load(self, path: str) -> Trajectory:
        plan = rd.load_path(path, self._mechanism, self._here)
        if self._p["avoid_singularities"]:
            plan = self._around_singularities(plan, f"path {path}")
        if not self._is_fastest:
            return plan
        return rd.time_optimal(self._mechanism, plan, **self._fastest_options)

    @property
    def _is_fastest(self) -> bool:
        return bool(self._p["profile"] == TIME_OPTIMAL)

    def _take(self, plan: Trajectory, what: str, start: int = 0) -> str:
        """Store a plan, publish it if auto_start is set, and describe the result.

        `start` [ns] is the time at which the plan starts, from the state expected at that time;
        with 0, it starts at once.
        """
        if self._p["avoid_singularities"]:
            plan = self._around_singularities(plan, what)
        found = self._examine(plan, what)
        if not self._p["auto_start"]:
            service = f"{self.get_fully_qualified_name()}/start"
            self._not_started = (
                f"{what} is planned but not started, because auto_start is false: call {service} "
                "(std_srvs/srv/Trigger)"
            )
            self.get_logger().warning(self._not_started)
            return f"{found}; not published, because auto_start is false: call ~/start"
        return f"{found}; {self._publish(plan, what, start)}"

    def _around_singularities(self, plan: Trajectory, what: str) -> Trajectory:
        """Replace a plan by one that stays within condition_limit, if necessary."""
        path = around_singularities(self._mechanism, plan, self._p["condition_limit"])
        if path is not plan:
            self.get_logger().info(f"{what}: path around singularities: {path}")
        return path

    def _examine(self, plan: Trajectory, what: str) -> str:
        """Store a plan; describe its conditioning and the limits that it violates."""
        self._knots(plan)  # raises an error for a plan that is too long to publish
        check = self._check(plan, what)
        ahead = look_ahead(
            self._mechanism, plan, self._p["condition_warn"], self._p["condition_error"]
        )
        text = f"{what}: {plan.duration:g} s, {ahead.text}"
        # a motion of joints may pass through singular configurations
        severity = ahead.severity if is_body_motion(self._mechanism, plan) else 0
        diagnostics.log_at_level(self, severity, text)
        if check:
            self.get_logger().warning(f"{what}: {check}")
        self._plan = plan, what
        return "; ".join(part for part in (text, check) if part)

    def _check(self, plan: Trajectory, what: str) -> str:
        """Return a warning, or raise an error, if a plan violates limits; otherwise empty."""
        if self._p["limits"] == "ignore":
            return ""
        # position limits are always enforced
        broken = check_limits(self._mechanism, plan, quantities=POSITION)
        refused = broken is not None or self._p["limits"] == "refuse"
        worst = self._p["condition_error"] if is_body_motion(self._mechanism, plan) else np.inf
        broken = broken or check_limits(self._mechanism, plan, worst)
        if broken is not None and refused:
            raise rd.InfeasibleTrajectory(f"{what} refused: {broken.text}", value=broken)
        return "" if broken is None else broken.text

    def _knots(self, plan: Trajectory) -> FloatArray:
        return knot_times(plan.duration, plan.switching_times, self._p["sample_period"])

    def _publish(self, plan: Trajectory, what: str, start: int = 0) -> str:
        """Publish a plan and the motion to its start, if necessary; describe the result."""
        self._not_started = ""
        self._due = None
        if self._p["start_in"] and self._here is None:
            self._due = plan, what  # the time is unknown before the first state
            return f"waiting for the first {self._interface.state_topic}"
        done = "continuing"
        if not start:
            plan, done = self._from_here(plan, what)
        times = self._knots(plan)
        may_wait = bool(self._p["start_in"]) and not start
        if may_wait:
            start = self._stamp + round(self._p["start_in"] * messages.NANOSECONDS)
        start = self._send(times, plan.sample(times), start, may_wait)
        self._followed = plan, start or self._stamp
        self._display.show(plan, self._p["condition_warn"], self._p["condition_error"])
        self.get_logger().info(f"trajectory of {len(times)} points published: {done}")
        return done

    def _from_here(self, plan: Trajectory, what: str) -> tuple[Trajectory, str]:
        """Prepend a motion from the current configuration to the plan's start, if needed."""
        if self._here is None:
            return plan, "started"
        mechanism, here, p = self._mechanism, self._here, self._p
        distance = distance_to_start(mechanism, here, plan)
        if distance.is_there:
            return plan, "started"
        if p["approach"] == "refuse":
            raise rd.InfeasibleTrajectory(
                f"{what} refused: it starts {distance.text} from the mechanism's position; move "
                "there first, or set the parameter approach to 'plan'",
                value=distance.joint,
            )
        profile: ProfileName = "lspb" if self._is_fastest else p["profile"]
        limits = {name: p[name] for name in ("v_max", "w_max")}
        start = plan.sample(0.0).configuration
        way = plan_straight(mechanism, here, start, **limits, profile=profile)
        if problem := self._check(way, f"{what}, which starts {distance.text} away: approach"):
            self.get_logger().warning(f"approach to {what}: {problem}")
        done = f"approaching {distance.text} in {way.duration:.3g} s, then {what}"
        return join_motions(mechanism, way, plan), done

    def _on_state(self, stamp: int, configuration: FloatArray, velocity: FloatArray) -> None:
        self._here, self._velocity, self._stamp = configuration, velocity, stamp
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            waiting()
        if self._due is not None:
            try:
                self._publish(*self._due)
            except rd.RobodynError as error:  # sample_period may have changed meanwhile
                self.get_logger().error(f"plan not published: {error}")

    def _take_goals(self, kind: type[Any], topic: str, plan: Callable[[Any], None]) -> None:
        """Plan motions to received goals; only the latest one waits for the first state."""

        def receive(message: Any) -> None:
            if self._here is not None:
                plan(message)
                return
            self._waiting = lambda: subscription.callback(message)
            state = self._interface.state_topic
            self.get_logger().info(f"{topic} waits for the first {state}, the start of the motion")

        subscription = subscribe(self, kind, topic, receive, qos.COMMAND)

    def _on_goal_pose(self, message: PoseStamped) -> None:
        goal = self._frames.in_base(
            message.header.frame_id,
            messages.pose_array(message.pose),
            self._mechanism.body_pose(self._start()),
        )
        angles = ", ".join(f"{angle:.3f}" for angle in euler_from_quaternion(goal[3:]))
        what = f"goal {goal[:3].round(4).tolist()} m, rpy [{angles}] rad"
        if self._is_fastest:
            self._plan_fastest(goal, what, "goal_pose", of_body=True)
        else:
            self._background.cancel()
            self._take(self._motion_of_body_to(goal), what)

    def _plan_fastest(self, goal: FloatArray, what: str, topic: str, *, of_body: bool) -> None:
        """Plan the fastest motion to a goal in a background thread.

        The goal is a pose of the body, or positions of the driven joints.

        From rest, the body moves along a straight line if `pose_motion` is `line`. Otherwise, the
        motion is planned in the coordinates of the mechanism.
        """
        mechanism, here, velocity = self._mechanism, self._start(), self._velocity
        assert velocity is not None  # since a state was received
        moving = is_moving(mechanism, here, velocity)
        options = self._fastest_options
        start, lead = 0, self._p["lead"]
        if moving:
            start = self._stamp + round(lead * messages.NANOSECONDS)
            here, velocity, _ = predict_state(
                mechanism, self._stamp, here, velocity, lead, self._followed
            )
        line = of_body and not moving and self._p["pose_motion"] == "line"

        def work(report_progress: Any) -> Trajectory:
            if line:
                return time_optimal_line(mechanism, here, goal, progress=report_progress, **options)
            find = mechanism.configuration_at if of_body else mechanism.assemble
            end = find(goal, here)
            return time_optimal_from(
                mechanism, here, velocity, end, progress=report_progress, **options
            )

        self._background.begin(
            what,
            work,
            lambda plan: self._take(plan, what, start),
            lambda error: self.get_logger().error(f"{topic} refused: {error}"),
        )

    def _motion_of_body_to(self, goal: FloatArray) -> Trajectory:
        """Plan a motion of the body to a pose, on a straight line or in joint space."""
        start = self._start()
        if self._p["pose_motion"] == "joints":
            return self._motion_to(self._mechanism.configuration_at(goal, start))
        period = self._p["sample_period"]
        return plan_tip_line(self._mechanism, start, goal, period=period, **self._options)

    def _motion_to(self, goal: FloatArray) -> Trajectory:
        """Plan a motion that is straight in the coordinates of the mechanism."""
        return plan_straight(self._mechanism, self._start(), goal, **self._options)

    @property
    def _fastest_options(self) -> dict[str, Any]:
        """Keyword arguments for time-optimal plans: reserve, jerk and effort-rate limits."""
        p = self._p
        return {
            "reserve": p["reserve"],
            "jerk_limits": p["jerk_limit"] or None,
            "effort_rate_limits": p["effort_rate_limit"] or None,
        }

    @property
    def _options(self) -> dict[str, Any]:
        """Keyword arguments of a planned motion: profile, and duration or speed limits."""
        names = ("duration",) if self._p["duration"] else ("v_max", "w_max")
        return {name: self._p[name] for name in ("profile", *names)}

    def _on_goal_joints(self, message: JointState) -> None:
        present = self._mechanism.joint_positions(self._start())
        goal = messages.joint_goal(message, self._mechanism.joint_names, present)
        goal = present + motions.joint_difference(self._mechanism, present, goal)
        what = f"goal {goal.round(4).tolist()}"
        if self._is_fastest:
            self._plan_fastest(goal, what, "goal_joints", of_body=False)
            return
        self._background.cancel()
        plan = self._motion_to(self._mechanism.assemble(goal, self._start()))
        self._take(plan, what)

    def _start(self) -> FloatArray:
        if self._here is None:
            raise rd.InvalidInput(
                f"no {self._interface.state_topic} received: the start of the motion is unknown"
            )
        return self._here

    def _diagnose(self) -> None:
        """Report a missing state, or a plan that waits for ~/start."""
        statuses = self._interface.states.report(LATE)
        if self._not_started or self._was_not_started:
            text = self._not_started or "started"
            statuses.append(diagnostics.Status("plan", int(bool(self._not_started)), text))
        self._was_not_started = bool(self._not_started)
        if statuses:
            self._report(self._stamp, *statuses)

    def _plan_again(self) -> str:
        """Plan the path of the parameter `path` again; publish it if auto_start is set."""
        path = self._p["path"]
        return self._take(self._load(path), f"path {path}")

    def _publish_plan(self) -> str:
        if self._plan is None:
            raise rd.InvalidInput("nothing planned: send a goal first")
        return self._publish(*self._plan)

    def _cancel(self) -> str:
        """Discard the plan and bring the mechanism to rest."""
        self._plan = self._due = self._waiting = self._followed = None
        self._not_started = ""
        dropped = self._background.cancel()
        if self._here is None:
            raise rd.InvalidInput(
                f"no {self._interface.state_topic} received: the position to hold is unknown"
            )
        rest = self._mechanism.difference(self._here, self._here)
        self._send(np.zeros(1), Motion(self._here[None], rest[None], rest[None]), 0, False)
        given_up = f"; planning of {dropped} was canceled" if dropped else ""
        return f"canceled, holding the present configuration{given_up}"
