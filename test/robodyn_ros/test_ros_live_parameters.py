# SPDX-License-Identifier: Apache-2.0

"""Parameters changed while their node runs: they hold at once, or are refused with a reason."""

from __future__ import annotations

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from local_graph import LocalGraph
from message_makers import joint_state, odometry
from nav_msgs.msg import Odometry
from ros_harness import LATCHED
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from std_srvs.srv import Trigger
from trajectory_msgs.msg import MultiDOFJointTrajectory

import robodyn as rd
from robodyn.trajectories import knot_times, point_times
from robodyn_ros import messages

pytestmark = pytest.mark.ros
MODEL = "stewart_symmetric"
FRAMES = ("base_link", "platform_link")
SECOND = 1_000_000_000


@pytest.fixture(scope="module")
def platform():
    return rd.load(MODEL)


def trajectory(path, start: int = 0):
    times = knot_times(path.duration, path.switching_times, 0.005)
    message = messages.platform_trajectory("base_link", "j", times, path.sample(times))
    message.header.stamp = messages.to_stamp(start)
    return message


class Controller:
    def __init__(self, graph: LocalGraph) -> None:
        self.graph = graph
        self.states = graph.publisher(Odometry, "platform_state")
        self.trajectories = graph.publisher(MultiDOFJointTrajectory, "platform_trajectory", LATCHED)
        self.received = graph.listen(JointState, "joint_commands")

    def set(self, **values: object) -> list[str]:
        return self.graph.set("inverse_dynamics", **values)

    def answer(self, stamp: int, pose, twist) -> np.ndarray:
        known = len(self.received)
        self.states.publish(odometry(stamp, FRAMES, pose, twist))
        self.graph.until(lambda: len(self.received) > known, f"a command at {stamp}")
        return np.array(self.received[-1].effort)


@pytest.fixture
def controller():
    given = {"model": MODEL, "watchdog_timeout": 0.0, "handover": 0.0}
    with LocalGraph({"inverse_dynamics": given}) as graph:
        yield Controller(graph)


def test_gains_are_those_of_the_next_command(controller, platform):
    path = rd.plan_line(platform.home, platform.advance(platform.home, [0.05] * 6), duration=2.0)
    controller.trajectories.publish(trajectory(path, 1))
    controller.graph.line("points accepted")
    pose = platform.advance(path.sample(1.0).configuration, [0.002, -0.001, 0.003, 0.01, 0.0, 0.02])
    twist = path.sample(1.0).velocity + 0.01

    def commanded(**gains: float) -> None:
        control = rd.ComputedTorque(platform, **gains)
        # knots are 5 ms apart, and stamps whole nanoseconds
        np.testing.assert_allclose(
            controller.answer(SECOND + 1, pose, twist), control(1.0, pose, twist, path), rtol=1e-5
        )

    commanded(kp=100.0, kv=20.0)
    assert controller.set(kp=400.0, kv=40.0) == []
    commanded(kp=400.0, kv=40.0)
    assert controller.set(preview=0.1) == []
    commanded(kp=400.0, kv=40.0, preview=0.1)
    assert controller.set(mode="feedforward") == []
    np.testing.assert_allclose(
        controller.answer(SECOND + 1, pose, twist),
        platform.inverse_dynamics(*path.sample(1.0)),
        rtol=1e-5,
    )
    assert controller.set(mode="computed_torque") == []
    # a rejected value changes nothing
    assert "must be positive" in controller.set(kp=0.0)[0]
    for name, value in (("kp", -1.0), ("kv", 1e9), ("preview", 2.0), ("mode", "guessing")):
        (reason,) = controller.set(**{name: value})
        assert name in reason, reason
    for name in ("kp", "watchdog_timeout", "watchdog_hold", "handover"):
        (reason,) = controller.set(**{name: float("nan")})
        assert name in reason, reason
    (reason,) = controller.set(kp="much")
    assert "kp" in reason or "type" in reason
    commanded(kp=400.0, kv=40.0, preview=0.1)


def test_the_watchdog_may_be_set_and_a_scale_heeded_later(controller, platform):
    scale = controller.graph.peer.create_publisher(Float64, "condition_monitor/scale", 1)
    still = np.zeros(6)
    controller.graph.spin(0.1)
    assert scale.get_subscription_count() == 0
    assert controller.set(use_scale=True) == []
    controller.graph.until(scale.get_subscription_count, "somebody who heeds the scale")
    assert controller.set(use_scale=False) == []
    controller.graph.until(lambda: not scale.get_subscription_count(), "nobody who does")
    controller.trajectories.publish(
        trajectory(rd.plan_line(platform.home, platform.home, duration=1.0))
    )
    controller.graph.line("points accepted")
    controller.answer(SECOND, platform.home, still)
    controller.graph.spin(0.3)
    assert not any("no platform_state for" in line for line in controller.graph.lines)
    assert controller.set(watchdog_timeout=0.1) == []
    controller.graph.line("no platform_state for 0.1 s")


def test_a_planner_plans_by_what_holds_now(platform):
    with LocalGraph({"trajectory_planner": {"model": MODEL, "limits": "refuse"}}) as graph:
        states = graph.publisher(Odometry, "platform_state")
        joints = graph.publisher(JointState, "goal_joints")
        received = graph.listen(MultiDOFJointTrajectory, "platform_trajectory", LATCHED)
        states.publish(odometry(0, FRAMES, platform.home, np.zeros(6)))
        graph.spin(0.1)
        goal = rd.pose_from_rpy(platform.home[:3] + np.array([0.0, 0.0, 0.1]), [0.0, 0.0, 0.0])
        lengths = platform.inverse_kinematics(goal)

        def duration() -> float:
            known = len(received)
            joints.publish(joint_state(0, platform.joint_names, lengths))
            graph.until(lambda: len(received) > known, "a plan")
            return point_times(received[-1].points)[-1]

        for limits in ({"v_max": 0.08, "w_max": 0.08}, {"v_max": 0.02, "w_max": 0.5}):
            assert graph.set("trajectory_planner", **limits) == []
            expected = rd.plan_line(platform.home, goal, **limits).duration
            assert duration() == pytest.approx(expected, rel=1e-6)
        assert graph.set("trajectory_planner", duration=3.0, profile="quintic") == []
        assert duration() == pytest.approx(3.0)
        # too fast for the legs: rejected, or logged, by the parameter
        assert graph.set("trajectory_planner", duration=0.05) == []
        joints.publish(joint_state(0, platform.joint_names, lengths))
        graph.line("goal_joints refused")
        assert graph.set("trajectory_planner", limits="warn") == []
        assert duration() == pytest.approx(0.05)
        for name, value in (("limits", "never"), ("v_max", -1.0), ("profile", "steep")):
            (reason,) = graph.set("trajectory_planner", **{name: value})
            assert name in reason
        (reason,) = graph.set("trajectory_planner", path="no_such_file.yaml")
        assert "no_such_file.yaml" in reason
        assert graph.set("trajectory_planner", path="I", limits="ignore") == []
        answer = graph.call(Trigger, "trajectory_planner/plan")
        assert answer.success
        assert answer.message.startswith("path I: 6 s")


def test_a_monitor_judges_by_the_thresholds_that_hold_now():
    mechanism = rd.load("stewart_dasgupta")
    pose = rd.paper_path("III").sample(0.0).configuration  # condition number 289.4
    with LocalGraph({"condition_monitor": {"model": "stewart_dasgupta"}}) as graph:
        states = graph.publisher(Odometry, "platform_state")
        paths = graph.publisher(MultiDOFJointTrajectory, "platform_trajectory", LATCHED)
        received = graph.listen(DiagnosticArray, "/diagnostics")
        scaled = graph.listen(Float64, "condition_monitor/condition_number_scaled")
        stamp = 0

        def level() -> int:
            nonlocal stamp
            stamp += SECOND
            numbers = len(scaled)
            states.publish(odometry(stamp, FRAMES, pose, np.zeros(6)))

            def levels() -> list[int]:
                # the trajectory ahead is reported as well, at any time
                return [
                    ord(status.level)
                    for message in received
                    for status in message.status
                    if status.name.endswith("condition number")
                    and messages.to_nanoseconds(message.header.stamp) == stamp
                ]

            graph.until(lambda: levels() and len(scaled) > numbers, "a diagnostic")
            return levels()[-1]

        paths.publish(trajectory(rd.paper_path("III")))
        graph.line("trajectory ahead", "above 100 from t = 0.000 s")
        assert level() == 1
        assert graph.set("condition_monitor", error=200.0) == []
        graph.line("trajectory ahead", "above 200 from t = 0.000 s")
        assert level() == 2
        assert graph.set("condition_monitor", error=2000.0) == []
        assert graph.set("condition_monitor", warn=500.0) == []
        graph.line("trajectory ahead", "above 500 from t = 2.505 s")
        assert level() == 0
        assert graph.set("condition_monitor", characteristic_length=0.3) == []
        level()
        expected = float(mechanism.condition_number(pose, 0.3))
        assert scaled[-1].data == pytest.approx(expected, rel=1e-9)
        for values, named in (
            ({"warn": 3000.0}, "error"),
            ({"scale_to": 20.0}, "scale_to"),
            ({"hysteresis": 1.5}, "hysteresis"),
        ):
            (reason,) = graph.set("condition_monitor", **values)
            assert named in reason, reason
        assert level() == 0
