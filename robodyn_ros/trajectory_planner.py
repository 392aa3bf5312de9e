# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Node `trajectory_planner`: plans trajectories from goals and named paths.

For a platform it subscribes `goal_pose`, `goal_joints` (leg lengths) and `platform_state` and
publishes `platform_trajectory`; a mechanism moved by its joints uses `goal_joints`, `joint_states`
and `joint_trajectory`. `planned_path` has the poses of the platform or tip, for display.
A goal in another frame than the base is transformed: from the platform's frame at its present
pose, from any other by TF where tf2_ros is installed. A plan that violates a limit of the mechanism
is refused, or a warning is logged. Trajectories are latched. Serves `~/plan`, `~/start` and
`~/cancel`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

import robodyn as rd
from robodyn.analysis.limits import check_limits
from robodyn.analysis.lookahead import look_ahead
from robodyn.mechanisms.protocol import Reaches
from robodyn.poses import composed_pose
from robodyn.trajectories import Motion, knot_times
from robodyn.trajectories.straight import plan_straight
from robodyn_ros import diagnostics, messages, qos
from robodyn_ros.frames import TRANSFORMS, Frames
from robodyn_ros.interfaces import Interface
from robodyn_ros.parameters import MECHANISM, declare, live, load_mechanism, on_change

if TYPE_CHECKING:
    from collections.abc import Callable

    from robodyn.analysis.limits import Quantity
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.trajectories import Trajectory

SETTINGS = {
    "path": live(
        "",
        "path planned at start-up and by ~/plan: I, II, III, P1, puma, a waypoint file; or none",
    ),
    "auto_start": live(True, "publish each plan at once; else wait for ~/start"),
    "start_in": live(
        0.0,
        "delay from publishing to the start of the motion, by the states' stamps [s]; 0: at once",
        0.0,
        60.0,
    ),
    "sample_period": live(0.005, "time between the points of a trajectory [s]", 1e-4, 1.0),
    "profile": live(
        "lspb", "speed profile to a goal", choices=("lspb", "cubic", "quintic", "cycloidal")
    ),
    "duration": live(0.0, "duration of a motion to a goal [s]; 0: from v_max and w_max", 0.0, 1e5),
    "limits": live(
        "refuse",
        "what to do with a plan that violates a limit of velocity, effort or conditioning; a plan "
        "beyond position limits is refused unless limits are ignored",
        choices=("refuse", "warn", "ignore"),
    ),
    "v_max": live(
        0.08, "largest speed of a motion to a goal [m/s], of joints [rad/s]", 1e-6, 100.0
    ),
    "w_max": live(
        0.08, "largest rate of roll, pitch and yaw of a motion to a goal [rad/s]", 1e-6, 100.0
    ),
    "condition_warn": live(100.0, "condition number in a plan at which to warn", 1.0),
    "condition_error": live(1000.0, "condition number in a plan that counts as singular", 1.0),
}
PARAMETERS = MECHANISM | TRANSFORMS | SETTINGS
POSITION: tuple[Quantity, ...] = ("position",)
# A path is displayed by poses at equal intervals of time from its start to its end.
DRAWN = np.linspace(0.0, 1.0, 201)


class TrajectoryPlanner(Node):
    """Plans with the library, checks the conditioning along the plan, publishes its knots."""

    def __init__(self) -> None:
        super().__init__("trajectory_planner")
        self._p = declare(self, PARAMETERS)
        self._mechanism = load_mechanism(self._p)
        self._plan: Trajectory | None = None
        self._here: FloatArray | None = None
        self._stamp = 0
        self._due: Trajectory | None = None
        self._interface = Interface(self, self._mechanism)
        self._send = self._interface.trajectory_publisher()
        self._drawn = self.create_publisher(Path, "planned_path", qos.LATCHED)
        self._interface.on_state(self._on_state, qos.LATEST)
        self._goal_of_body = _goal_of_body(self._mechanism)
        if self._goal_of_body is not None:
            own = self._interface.base_frame, self._interface.body_frame
            self._frames = Frames(self, own, lambda: self._stamp)
            self._frames.listen()
            self.create_subscription(PoseStamped, "goal_pose", self._on_goal_pose, qos.COMMAND)
        self.create_subscription(JointState, "goal_joints", self._on_goal_joints, qos.COMMAND)
        self.create_service(Trigger, "~/plan", self._on_plan)
        self.create_service(Trigger, "~/start", self._on_start)
        self.create_service(Trigger, "~/cancel", self._on_cancel)
        on_change(self, SETTINGS, self._p, self._on_change)
        if self._p["path"]:
            self._take(rd.load_path(self._p["path"], self._mechanism), f"path {self._p['path']}")

    def _on_change(self, p: dict[str, Any]) -> None:
        """Reject an invalid path at once, not when it is planned."""
        if p["path"] and p["path"] != self._p["path"]:
            rd.load_path(p["path"], self._mechanism)

    def _take(self, plan: Trajectory, what: str) -> None:
        """Keep a plan, and publish it if auto_start is set."""
        self._examine(plan, what)
        if self._p["auto_start"]:
            self._publish(plan)

    def _examine(self, plan: Trajectory, what: str) -> str:
        """Keep a plan, and return what was found along it."""
        self._knots(plan)  # raises for a plan too long to be published
        check = self._check(plan, what)
        ahead = look_ahead(
            self._mechanism, plan, self._p["condition_warn"], self._p["condition_error"]
        )
        text = f"{what}: {plan.duration:g} s, {ahead.text}"
        diagnostics.say(self, ahead.severity, text)
        if check:
            self.get_logger().warning(f"{what}: {check}")
        self._plan = plan
        return "; ".join(part for part in (text, check) if part)

    def _check(self, plan: Trajectory, what: str) -> str:
        """Refuse a plan that violates limits, or return a warning."""
        if self._p["limits"] == "ignore":
            return ""
        # position limits are always enforced
        broken = check_limits(self._mechanism, plan, quantities=POSITION)
        refused = broken is not None or self._p["limits"] == "refuse"
        broken = broken or check_limits(self._mechanism, plan, self._p["condition_error"])
        if broken is not None and refused:
            raise rd.InfeasibleTrajectory(f"{what} refused: {broken.text}", value=broken)
        return "" if broken is None else broken.text

    def _knots(self, plan: Trajectory) -> FloatArray:
        return knot_times(plan.duration, plan.switching_times, self._p["sample_period"])

    def _publish(self, plan: Trajectory) -> None:
        start, times = 0, self._knots(plan)
        if self._p["start_in"]:
            if self._here is None:
                self._due = plan  # the time is not known before the first state
                return
            start = self._stamp + round(self._p["start_in"] * messages.NANOSECONDS)
        self._send(times, plan.sample(times), start)
        poses = self._mechanism.body_pose(plan.sample(plan.duration * DRAWN).configuration)
        self._drawn.publish(messages.path(self._interface.base_frame, poses))
        self.get_logger().info(f"trajectory of {len(times)} points published")

    def _on_state(self, stamp: int, configuration: FloatArray, _: FloatArray) -> None:
        self._here, self._stamp = configuration, stamp
        if self._due is not None:
            due, self._due = self._due, None
            try:
                self._publish(due)
            except rd.RobodynError as error:  # sample_period may have changed meanwhile
                self.get_logger().error(f"not published: {error}")

    def _on_goal_pose(self, message: PoseStamped) -> None:
        if self._goal_of_body is None:
            return
        try:
            goal = self._in_base(message.header.frame_id, messages.pose_array(message.pose))
            plan = self._motion_to(self._goal_of_body(goal, self._start()))
            angles = ", ".join(f"{angle:.3f}" for angle in rd.rpy_from_pose(goal)[1])
            self._take(plan, f"goal {goal[:3].round(4).tolist()} m, rpy [{angles}] rad")
        except rd.RobodynError as error:
            self.get_logger().error(f"goal_pose refused: {error}")

    def _in_base(self, frame: str, goal: FloatArray) -> FloatArray:
        """A goal pose in any known frame, transformed to the base frame.

        A moving frame is taken where it is when the goal arrives.
        """
        base, body = self._interface.base_frame, self._interface.body_frame
        if frame in ("", base):
            return goal
        if frame == body:
            return composed_pose(self._mechanism.body_pose(self._start()), goal)
        where = self._frames.pose(frame, base)
        return composed_pose(where, goal)

    def _motion_to(self, goal: FloatArray) -> Trajectory:
        """A straight motion, by the duration or by the speed limits, whichever is set."""
        p = self._p
        limits = {"v_max": p["v_max"], "w_max": p["w_max"]}
        if p["duration"]:
            limits = {"duration": p["duration"]}
        return plan_straight(self._mechanism, self._start(), goal, profile=p["profile"], **limits)

    def _on_goal_joints(self, message: JointState) -> None:
        try:
            goal = messages.joint_values(message, self._mechanism.joint_names, "position")
            plan = self._motion_to(self._mechanism.assemble(goal, self._start()))
            self._take(plan, f"goal {goal.round(4).tolist()}")
        except rd.RobodynError as error:
            self.get_logger().error(f"goal_joints refused: {error}")

    def _start(self) -> FloatArray:
        if self._here is None:
            raise rd.InvalidInput(f"no {self._interface.state_topic} received to start from")
        return self._here

    def _on_plan(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Plan the path of the parameter `path` again, without publishing it."""
        path = self._p["path"]
        try:
            response.message = self._examine(rd.load_path(path, self._mechanism), f"path {path}")
            response.success = True
        except rd.RobodynError as error:
            response.message = str(error)
        return response

    def _on_start(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Publish the plan."""
        if self._plan is None:
            response.message = "nothing planned: send a goal first"
            return response
        try:
            self._publish(self._plan)
            response.success, response.message = True, "started"
        except rd.RobodynError as error:
            response.message = str(error)
        return response

    def _on_cancel(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Discard the plan and bring the mechanism to rest where it is."""
        self._plan = self._due = None
        response.success = self._here is not None
        response.message = "cancelled, holding the present configuration"
        if self._here is None:
            response.message = f"nothing to hold: no {self._interface.state_topic} received"
            return response
        rest = self._mechanism.difference(self._here, self._here)
        self._send(np.zeros(1), Motion(self._here[None], rest[None], rest[None]), 0)
        return response


def _goal_of_body(
    mechanism: Mechanism,
) -> Callable[[FloatArray, FloatArray], FloatArray] | None:
    """What makes a configuration near another one of a pose of the body, if anything does."""
    if mechanism.coordinates.is_pose:
        return lambda pose, _: pose
    return mechanism.reach if isinstance(mechanism, Reaches) else None
