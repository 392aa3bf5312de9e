# SPDX-License-Identifier: Apache-2.0

"""trajectory_planner as a process: paths by parameter, goals by message, plans by service."""

from __future__ import annotations

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from message_makers import odometry
from nav_msgs.msg import Odometry
from ros_harness import LATCHED
from std_srvs.srv import Trigger
from trajectory_msgs.msg import MultiDOFJointTrajectory

import robodyn as rd
from robodyn_ros import messages

pytestmark = pytest.mark.ros
FRAMES = ("base_link", "platform_link")


@pytest.fixture(scope="module")
def planner(start):
    """Waits for ~/start with path II, and takes goals."""
    process = start("trajectory_planner", {"path": "II", "auto_start": False, "v_max": 0.5,
                                           "w_max": 0.5, "limits": "warn"})  # fmt: skip
    process.wait_for_line("path II")
    return process


@pytest.fixture(scope="module")
def received(planner, peer):
    """Every trajectory the planner publishes, as it comes."""
    return peer.listen(MultiDOFJointTrajectory, "platform_trajectory", LATCHED)


def knots(message):
    times = [messages.to_nanoseconds(point.time_from_start) * 1e-9 for point in message.points]
    poses = [messages.pose_array(point.transforms[0]) for point in message.points]
    twists = [messages.twist_array(point.velocities[0]) for point in message.points]
    accels = [messages.twist_array(point.accelerations[0]) for point in message.points]
    return np.array(times), np.array(poses), np.array(twists), np.array(accels)


def await_trajectory(peer, received, before):
    peer.until(lambda: len(received) > before, "a trajectory")
    return received[-1]


def test_nothing_is_published_before_start(planner, peer, received):
    answer = peer.call(Trigger, "trajectory_planner/plan")
    assert answer.success
    assert "0.6 s" in answer.message
    assert received == []


def test_start_publishes_the_paper_path_to_the_last_digit(planner, peer, received):
    before = len(received)
    assert peer.call(Trigger, "trajectory_planner/start").success
    message = await_trajectory(peer, received, before)
    assert message.header.frame_id == "base_link"
    assert message.joint_names == ["platform_joint"]
    path = rd.paper_path("II")
    times, poses, twists, accels = knots(message)
    assert times[0] == 0.0
    assert times[-1] == pytest.approx(path.duration, abs=1e-9)
    for t in path.switching_times:
        # acceleration jumps there: a knot is needed
        assert np.abs(times - t).min() < 1e-9
    expected = path.sample(times)
    for ours, theirs in zip((poses, twists, accels), expected, strict=True):
        scale = max(1.0, np.abs(theirs).max())
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * scale)


def test_a_late_joiner_gets_the_trajectory(planner, peer, received):
    peer.until(lambda: received, "the first trajectory")
    late = peer.listen(MultiDOFJointTrajectory, "platform_trajectory", LATCHED)
    peer.until(lambda: late, "the latched trajectory")
    assert late[-1] == received[-1]


def test_the_planner_plans_to_goals_from_the_first_state(planner, peer, received):
    """Waits for a state; refused in a wrong frame or malformed; else a rest-to-rest line."""
    start, goal = rd.paper_path("II").sample([0.0, 0.6]).configuration
    goals = peer.publisher(PoseStamped, "goal_pose")
    states = peer.publisher(Odometry, "platform_state")
    message = PoseStamped()
    message.header.frame_id = "base_link"
    messages.fill_pose(message.pose, goal)
    goals.publish(message)
    planner.wait_for_line("goal_pose waits for the first platform_state")
    states.publish(odometry(0, FRAMES, start, np.zeros(6)))
    planner.wait_for_line("goal [0.3, 0.0, 0.6] m")

    message.header.frame_id = "somewhere_else"
    goals.publish(message)
    line = planner.wait_for_line("goal_pose", "'somewhere_else'")
    assert "base_link" in line

    message.header.frame_id = "base_link"
    for spoilt in (np.nan, 2.0):
        message.pose.orientation.w = spoilt
        planner.provoke(lambda: goals.publish(message), "goal_pose refused")

    messages.fill_pose(message.pose, goal)
    goals.publish(message)
    planner.wait_for_line("goal [0.3, 0.0, 0.6] m", times=2)
    before = len(received)
    assert peer.call(Trigger, "trajectory_planner/start").success
    _, poses, twists, _ = knots(await_trajectory(peer, received, before))
    np.testing.assert_allclose(poses[0], start, atol=1e-12)
    np.testing.assert_allclose(poses[-1], goal, atol=1e-12)
    np.testing.assert_allclose(twists[[0, -1]], 0.0, atol=1e-12)
    speed = np.linalg.norm(twists[:, :3], axis=1)
    assert speed.max() <= 0.5 + 1e-9
    assert planner.alive
    assert "Traceback" not in planner.output


def test_plan_brings_the_path_of_the_parameter_back(planner, peer, received):
    assert peer.call(Trigger, "trajectory_planner/plan").success
    before = len(received)
    assert peer.call(Trigger, "trajectory_planner/start").success
    times, *_ = knots(await_trajectory(peer, received, before))
    assert times[-1] == pytest.approx(0.6, abs=1e-9)


def test_a_singular_plan_is_an_error_and_the_next_sound_one_is_not(planner, peer):
    start, goal = rd.paper_path("III").sample([0.0, 6.0]).configuration
    states = peer.publisher(Odometry, "platform_state")
    goals = peer.publisher(PoseStamped, "goal_pose")
    states.publish(odometry(0, FRAMES, start, np.zeros(6)))
    message = PoseStamped()
    messages.fill_pose(message.pose, goal)
    # the state may still be on its way: a goal from elsewhere would be no error
    peer.spin(0.2)
    goals.publish(message)
    line = planner.wait_for_line("goal [0.8, 1.8, 1.8] m")
    assert "ERROR" in line
    assert "singular at t =" in line
    count = sum("path II:" in line for line in planner.lines)
    assert peer.call(Trigger, "trajectory_planner/plan").success
    assert "INFO" in planner.wait_for_line("path II:", times=count + 1)
    assert planner.alive


def test_start_without_a_plan_says_so(peer, start):
    node = start("trajectory_planner", {}, "-r", "__node:=idle_planner",
                 "-r", "platform_trajectory:=elsewhere")  # fmt: skip
    answer = peer.call(Trigger, "idle_planner/start")
    assert not answer.success
    assert "nothing planned" in answer.message
    answer = peer.call(Trigger, "idle_planner/plan")
    assert not answer.success
    assert node.alive
