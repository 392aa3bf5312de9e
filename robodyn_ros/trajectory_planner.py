"""Node `trajectory_planner`: goals and named paths in, trajectories out.

Subscribes `goal_pose` and `platform_state`, publishes `platform_trajectory` (latched), serves
`~/plan` and `~/start`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from std_srvs.srv import Trigger
from tf_transformations import euler_from_quaternion
from trajectory_msgs.msg import MultiDOFJointTrajectory

import robodyn as rd
from robodyn.analysis.lookahead import look_ahead
from robodyn.trajectories import knot_times
from robodyn_ros import diagnostics, messages, qos
from robodyn_ros.parameters import MECHANISM, Spec, declare, load_mechanism
from robodyn_ros.runner import main as run_main

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from robodyn.trajectories import Trajectory

PARAMETERS = MECHANISM | {
    "path": Spec("", "path to plan at start-up: I, II, III, P1 or a waypoint file; empty: none"),
    "auto_start": Spec(True, "publish a plan as soon as it is made; else wait for ~/start"),
    "sample_period": Spec(0.005, "time between the points of a trajectory [s]", 1e-4, 1.0),
    "profile": Spec(
        "lspb", "speed profile to a goal", choices=("lspb", "cubic", "quintic", "cycloidal")
    ),
    "v_max": Spec(0.08, "largest speed of the platform to a goal [m/s]", 1e-6, 100.0),
    "w_max": Spec(0.08, "largest rate of roll, pitch, yaw to a goal [rad/s]", 1e-6, 100.0),
    "condition_warn": Spec(100.0, "condition number to warn of in a plan", 1.0),
    "condition_error": Spec(1000.0, "condition number that counts as singular in a plan", 1.0),
    "base_frame": Spec("base_link", "frame of goals and trajectories"),
    "platform_joint": Spec("platform_joint", "joint name in the trajectory"),
}


class TrajectoryPlanner(Node):
    """Plans with the library, checks the conditioning along the plan, publishes its knots."""

    def __init__(self) -> None:
        super().__init__("trajectory_planner")
        self._p = declare(self, PARAMETERS)
        self._mechanism = load_mechanism(self._p)
        self._plan: Trajectory | None = None
        self._pose: NDArray | None = None
        self._publisher = self.create_publisher(
            MultiDOFJointTrajectory, "platform_trajectory", qos.LATCHED
        )
        self.create_subscription(PoseStamped, "goal_pose", self._on_goal, qos.COMMAND)
        self.create_subscription(Odometry, "platform_state", self._on_state, qos.LATEST)
        self.create_service(Trigger, "~/plan", self._on_plan)
        self.create_service(Trigger, "~/start", self._on_start)
        if self._p["path"]:
            self._make_plan(rd.load_path(self._p["path"]), f"path {self._p['path']}")
            if self._p["auto_start"]:
                self._publish()

    def _make_plan(self, trajectory: Trajectory, what: str) -> str:
        """Keep a plan, and say what lies ahead on it."""
        report = look_ahead(
            self._mechanism, trajectory, self._p["condition_warn"], self._p["condition_error"]
        )
        self._plan = trajectory
        text = f"{what}: {trajectory.duration:g} s, {report.text}"
        diagnostics.say(self, report.severity, text)
        return text

    def _publish(self) -> None:
        assert self._plan is not None
        times = knot_times(
            self._plan.duration, self._plan.switching_times, self._p["sample_period"]
        )
        self._publisher.publish(
            messages.platform_trajectory(
                self._p["base_frame"],
                self._p["platform_joint"],
                times,
                self._plan.sample(times),
            )
        )
        self.get_logger().info(f"trajectory of {len(times)} points published")

    def _on_state(self, message: Odometry) -> None:
        self._pose = messages.pose_array(message.pose.pose)

    def _on_goal(self, message: PoseStamped) -> None:
        frame = message.header.frame_id
        if frame not in ("", self._p["base_frame"]):
            self.get_logger().error(
                f"goal_pose in frame {frame!r} refused, expected {self._p['base_frame']!r}"
            )
            return
        if self._pose is None:
            self.get_logger().error("goal_pose refused: no platform_state received to start from")
            return
        try:
            goal = messages.pose_array(message.pose)
            plan = rd.plan_line(
                self._pose,
                goal,
                v_max=self._p["v_max"],
                w_max=self._p["w_max"],
                profile=self._p["profile"],
            )
            angles = ", ".join(f"{angle:.3f}" for angle in euler_from_quaternion(goal[3:]))
            self._make_plan(plan, f"goal {goal[:3].round(4).tolist()} m, rpy [{angles}] rad")
        except rd.RobodynError as error:
            self.get_logger().error(f"goal_pose refused: {error}")
            return
        if self._p["auto_start"]:
            self._publish()

    def _on_plan(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Plan the path of the parameter `path` again, without publishing it."""
        try:
            response.message = self._make_plan(
                rd.load_path(self._p["path"]), f"path {self._p['path']}"
            )
            response.success = True
        except rd.RobodynError as error:
            response.message = str(error)
        return response

    def _on_start(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Publish the plan."""
        response.success = self._plan is not None
        response.message = "started" if self._plan else "nothing planned: send a goal_pose first"
        if self._plan is not None:
            self._publish()
        return response


def main() -> None:
    """Entry point of the executable."""
    run_main(TrajectoryPlanner, "trajectory_planner")
