# SPDX-License-Identifier: Apache-2.0

"""trajectory_planner with a real executor: goals of both mechanisms, limits, timing, canceling."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from local_graph import LocalGraph
from message_makers import joint_state, odometry
from nav_msgs.msg import Odometry, Path
from ros_harness import LATCHED
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory
from visualization_msgs.msg import MarkerArray

import robodyn as rd
from robodyn.trajectories import point_times
from robodyn_ros import interfaces, messages

pytestmark = pytest.mark.ros
MODEL = "stewart_symmetric"
FRAMES = ("base_link", "platform_link")
HIGH = rd.pose_from_rpy([0.0, 0.0, 3.0], [0.0, 0.0, 0.0])
NEAR = rd.pose_from_rpy([0.05, 0.0, 0.9], [0.0, 0.1, 0.0])


class Planner:
    """A trajectory_planner of a platform, with states of the platform."""

    def __init__(self, **parameters: object) -> None:
        given = {"model": MODEL} | parameters
        self.graph = graph = LocalGraph({"trajectory_planner": given})
        self.states = graph.publisher(Odometry, "platform_state")
        self.poses = graph.publisher(PoseStamped, "goal_pose")
        self.joints = graph.publisher(JointState, "goal_joints")
        self.received = graph.listen(MultiDOFJointTrajectory, "platform_trajectory", LATCHED)

    def be_at(self, pose) -> None:
        self.states.publish(odometry(0, FRAMES, pose, np.zeros(6)))
        self.graph.spin(0.05)

    def go(self, pose) -> None:
        message = PoseStamped()
        message.header.frame_id = "base_link"
        messages.fill_pose(message.pose, pose)
        self.poses.publish(message)

    def planned(self):
        """Times, and motion, of the first trajectory published."""
        message = self.graph.until(lambda: self.received, "a trajectory")[-1]
        times = point_times(message.points)
        motion = (
            [messages.pose_array(point.transforms[0]) for point in message.points],
            [messages.twist_array(point.velocities[0]) for point in message.points],
            [messages.twist_array(point.accelerations[0]) for point in message.points],
        )
        return times, tuple(map(np.array, motion))

    def call(self, service):
        return self.graph.call(Trigger, f"trajectory_planner/{service}")


@pytest.fixture(scope="module")
def platform():
    return rd.load(MODEL)


@pytest.fixture
def planner(request, platform):
    made = Planner(**getattr(request, "param", {}))
    with made.graph:
        made.be_at(platform.home)
        yield made


def with_parameters(**parameters):
    return pytest.mark.parametrize("planner", [parameters], indirect=True, ids=[""])


def equals(planned, path):
    times, motion = planned
    assert times[-1] == pytest.approx(path.duration, abs=1e-9)
    for ours, theirs in zip(motion, path.sample(times), strict=True):
        # a knot's time is a whole number of nanoseconds
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-7)


@with_parameters(duration=10.0, limits="refuse")
def test_a_goal_out_of_reach_is_refused_with_time_leg_and_value(planner, platform):
    planner.go(HIGH)
    line = planner.graph.line("goal_pose refused")
    broken = rd.check_limits(platform, rd.plan_line(platform.home, HIGH, duration=10.0), 1000.0)
    assert broken.joint
    assert broken.text in line
    for part in (broken.joint, f"t = {broken.time:.3f} s", "limit is 1.4"):
        assert part in line
    planner.graph.spin(0.2)
    assert planner.received == []
    # it is no plan either
    assert not planner.call("start").success
    planner.go(NEAR)
    planner.planned()


@with_parameters(duration=10.0, limits="warn")
def test_out_of_reach_is_no_matter_for_a_warning(planner):
    planner.go(HIGH)
    planner.graph.line("goal_pose refused", "reaches", "limit")
    assert planner.received == []


@with_parameters(duration=10.0, limits="ignore")
def test_limits_are_ignored_if_that_is_requested(planner):
    planner.go(HIGH)
    times, _ = planner.planned()
    assert times[-1] == pytest.approx(10.0)
    assert not any("refused" in line for line in planner.graph.lines)


@pytest.mark.parametrize(
    ("planner", "refused"),
    [({"duration": 0.05, "limits": "refuse"}, True), ({"duration": 0.05, "limits": "warn"}, False)],
    indirect=["planner"],
    ids=["refuse", "warn"],
)
def test_a_plan_too_fast_for_the_legs(planner, platform, refused):
    planner.go(NEAR)
    broken = rd.check_limits(platform, rd.plan_line(platform.home, NEAR, duration=0.05), 1000.0)
    assert broken.quantity in ("velocity", "effort")
    assert ("refused" in planner.graph.line(broken.text)) == refused
    if refused:
        planner.graph.spin(0.2)
        assert planner.received == []
    else:
        planner.planned()


@with_parameters(model="stewart_dasgupta", path="III", limits="warn")
def test_a_path_through_a_singularity_is_warned_of_with_its_time(planner):
    assert planner.planned()[0][-1] > 3.67
    planner.graph.line("singular at t = 3.67")


@pytest.mark.parametrize("profile", ["lspb", "quintic", "cycloidal"])
@pytest.mark.parametrize("limits", [{"duration": 3.0}, {"v_max": 0.05, "w_max": 0.2}],
                         ids=["duration", "speed"])  # fmt: skip
def test_duration_or_speeds_whichever_are_given(platform, profile, limits):
    path = rd.plan_line(platform.home, NEAR, profile=profile, **limits)
    made = Planner(profile=profile, **limits)
    with made.graph:
        made.be_at(platform.home)
        made.go(NEAR)
        planned = made.planned()
        equals(planned, path)
        if "v_max" in limits:
            twists = planned[1][1]
            assert np.linalg.norm(twists[:, :3], axis=1).max() <= limits["v_max"] * (1 + 1e-9)


@with_parameters(duration=2.0)
def test_leg_lengths_as_a_goal_lead_to_their_pose(planner, platform, scrambled):
    lengths = platform.inverse_kinematics(NEAR)
    names = platform.joint_names
    order = scrambled(6)
    wrong = joint_state(0, (*names[:5], "leg_6"), lengths)
    planner.joints.publish(wrong)
    planner.graph.line("goal_joints refused", "no joint 'leg_6'", names[5])
    planner.joints.publish(joint_state(0, names, np.full(6, np.nan)))
    planner.graph.line("goal_joints refused", "nan")
    planner.joints.publish(joint_state(0, names, np.full(6, 9.0)))
    planner.graph.until(
        lambda: sum("goal_joints refused" in line for line in planner.graph.lines) == 3, "refusal"
    )
    assert planner.received == []
    planner.joints.publish(joint_state(0, [names[i] for i in order], lengths[order]))
    times, (poses, _, _) = planner.planned()
    assert times[-1] == pytest.approx(2.0)
    np.testing.assert_allclose(poses[-1], NEAR, rtol=0, atol=1e-9)
    np.testing.assert_allclose(poses[0], platform.home, rtol=0, atol=1e-12)


@with_parameters(duration=2.0)
def test_cancel_holds_what_is_there(planner, platform):
    planner.go(NEAR)
    planner.planned()
    known = len(planner.received)
    here = rd.pose_from_rpy([0.01, 0.0, 0.85], [0.0, 0.02, 0.0])
    planner.be_at(here)
    assert planner.call("cancel").success
    planner.graph.until(lambda: len(planner.received) > known, "a trajectory to rest")
    times, (poses, twists, accels) = planner.planned()
    assert times.tolist() == [0.0]
    np.testing.assert_allclose(poses, [here], rtol=0, atol=1e-12)
    assert not twists.any()
    assert not accels.any()
    answer = planner.call("start")
    assert not answer.success
    assert "nothing planned" in answer.message


@with_parameters(duration=5000.0, sample_period=0.5, auto_start=False)
def test_a_plan_of_too_many_points_is_refused_and_the_node_goes_on(planner):
    """When it is made; and when it is started, should the points have come closer since."""
    planner.go(NEAR)
    planner.graph.line("rad: 5000 s, condition number")
    planner.graph.set("trajectory_planner", sample_period=0.001)
    answer = planner.call("start")
    assert not answer.success
    assert "more than 200000; lengthen the intervals" in answer.message
    planner.go(NEAR)
    planner.graph.line("goal_pose refused: a motion of 5000 s would have 5e+06 points")
    assert planner.received == []
    planner.graph.set("trajectory_planner", sample_period=0.5)
    assert planner.call("start").success
    assert len(planner.planned()[0]) > 10_000


def test_cancel_without_a_state_says_so():
    made = Planner()
    with made.graph:
        answer = made.call("cancel")
        assert not answer.success
        assert "platform_state" in answer.message


def test_a_plan_that_waits_for_the_first_state_can_be_cancelled(platform):
    """After the first state the next goal's plan is published, not the canceled one."""
    made = Planner(path="I", start_in=1.0, limits="ignore", duration=2.0)
    with made.graph:
        made.call("cancel")
        made.be_at(platform.home)
        assert not made.call("start").success
        made.go(NEAR)
        times, (poses, _, _) = made.planned()
        assert times[-1] == pytest.approx(2.0)
        np.testing.assert_allclose(poses[-1], NEAR, rtol=0, atol=1e-9)
        assert len(made.received) == 1


def test_a_plan_that_waits_for_the_first_state_is_published_with_it(platform):
    made = Planner(path="I", start_in=1.0, limits="ignore")
    with made.graph:
        assert made.received == []
        made.be_at(rd.paper_path("I").sample(0.0).configuration)
        times, _ = made.planned()
        assert times[-1] == pytest.approx(6.0)
        assert messages.to_nanoseconds(made.received[0].header.stamp) >= 1_000_000_000


def test_an_arms_goal():
    """By speed; from the measured joints, in any order; a goal off limits is rejected."""
    arm = rd.load("puma560")
    n = len(arm.joint_names)
    start = 0.5 * arm.home + 0.1
    goal = start + np.linspace(0.2, 0.4, n)
    parameters = {"model": "puma560", "v_max": 0.3, "limits": "warn"}
    with LocalGraph({"trajectory_planner": parameters}) as graph:
        states = graph.publisher(JointState, "joint_states")
        goals = graph.publisher(JointState, "goal_joints")
        received = graph.listen(JointTrajectory, "joint_trajectory", LATCHED)
        goals.publish(joint_state(0, arm.joint_names, goal))
        graph.line("goal_joints waits for the first joint_states")
        back = slice(None, None, -1)
        states.publish(joint_state(0, arm.joint_names[back], start[back], np.zeros(n)))
        graph.until(lambda: received, "the trajectory to the goal that waited")
        received.clear()
        beyond = np.where(np.arange(n) == 2, 100.0, goal)
        goals.publish(joint_state(0, arm.joint_names, beyond))
        graph.line("goal_joints refused", arm.joint_names[2], "limit")
        goals.publish(joint_state(0, arm.joint_names[back], goal[back]))
        message = graph.until(lambda: received, "a trajectory")[-1]
        times = point_times(message.points)
        path = rd.plan_joints(start, goal, v_max=0.3)
        assert times[-1] == pytest.approx(path.duration, abs=1e-9)
        expected = path.sample(times)
        for field, rows in zip(("positions", "velocities"), expected[:2], strict=True):
            ours = np.array([getattr(point, field) for point in message.points])
            np.testing.assert_allclose(ours, rows, rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", ["stewart_symmetric", "puma560"])
@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
def test_the_planned_path_is_drawn_from_start_to_goal(name):
    mechanism = rd.load(name)
    goal = mechanism.advance(mechanism.home, np.full(6, 0.03))
    given = {"model": name, "v_max": 0.5, "w_max": 0.5, "limits": "warn"}
    with LocalGraph({"trajectory_planner": given}) as graph:
        paths = graph.listen(Path, "planned_path", LATCHED)
        if name == "puma560":
            states = graph.publisher(JointState, "joint_states")
            states.publish(joint_state(1, mechanism.joint_names, mechanism.home, np.zeros(6)))
        else:
            states = graph.publisher(Odometry, "platform_state")
            states.publish(odometry(1, FRAMES, mechanism.home, np.zeros(6)))
        graph.spin(0.2)
        goals = graph.publisher(JointState, "goal_joints")
        target = mechanism.joint_positions(goal)
        goals.publish(joint_state(1, mechanism.joint_names, target))
        path = graph.until(lambda: paths, "a drawn path")[-1]
    assert path.header.frame_id == mechanism.frames[0]
    poses = np.array([messages.pose_array(stamped.pose) for stamped in path.poses])
    np.testing.assert_allclose(poses[0], mechanism.body_pose(mechanism.home), atol=1e-9)
    np.testing.assert_allclose(poses[-1], mechanism.body_pose(goal), atol=1e-9)
    steps = np.linalg.norm(np.diff(poses[:, :3], axis=0), axis=1)
    assert 0.0 < steps.max() < 0.02 * steps.sum()


@with_parameters(start_in=0.5, duration=10.0)
def test_a_start_to_come_is_in_the_time_of_the_states(planner, platform):
    graph = planner.graph
    planner.states.publish(odometry(3_000_000_000, FRAMES, platform.home, np.zeros(6)))
    graph.spin(0.1)
    planner.go(NEAR)
    message = graph.until(lambda: planner.received, "a trajectory")[-1]
    assert messages.to_nanoseconds(message.header.stamp) >= 3_500_000_000


@with_parameters(start_in=0.5, duration=10.0)
def test_a_start_is_put_off_where_trajectories_take_long_to_be_read(planner, monkeypatch):
    """The clock of the writer goes a second further at every look: a machine that is busy."""
    looks = itertools.count()
    slow = SimpleNamespace(monotonic=lambda: float(next(looks)))
    monkeypatch.setattr(interfaces, "time", slow)
    planner.go(NEAR)
    planner.planned()
    start = messages.to_nanoseconds(planner.received[-1].header.stamp)
    assert start >= round((0.5 + interfaces.READING) * 1e9)


def test_a_path_with_a_start_to_come_waits_for_the_first_state(platform):
    given = {"model": "stewart_dasgupta", "path": "I", "start_in": 0.25}
    start = rd.paper_path("I").sample(0.0).configuration
    with LocalGraph({"trajectory_planner": given}) as graph:
        received = graph.listen(MultiDOFJointTrajectory, "platform_trajectory", LATCHED)
        states = graph.publisher(Odometry, "platform_state")
        assert received == []
        states.publish(odometry(1_000_000_000, FRAMES, start, np.zeros(6)))
        message = graph.until(lambda: received, "a trajectory")[-1]
    assert messages.to_nanoseconds(message.header.stamp) >= 1_250_000_000


@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
@with_parameters(model="stewart_dasgupta", avoid_singularities=True, limits="warn")
def test_goal_beyond_a_singularity_is_reached_round_it(planner):
    """The straight way passes det H = 0 twice; to the end of path III there is no other."""
    model = rd.load("stewart_dasgupta")
    planner.be_at(rd.paper_path("I").sample(0.0).configuration)
    goal = rd.pose_from_rpy([0.0, 0.0, 0.4], [-0.2, 1.0, 0.0])
    lines = planner.graph.listen(MarkerArray, "planned_path_markers", LATCHED)
    planner.go(goal)
    _, (poses, _, _) = planner.planned()
    np.testing.assert_allclose(model.difference(poses[-1], goal), 0.0, atol=1e-9)
    assert model.condition_number(poses).max() < 60.0
    (line,) = planner.graph.until(lambda: lines, "a line")[-1].markers
    assert line.points[-1].z == pytest.approx(goal[2])
    reds = np.array([color.r for color in line.colors])
    assert 0.0 < reds.min() < reds.max() < 0.95
    start, end = rd.paper_path("III").sample(np.array([0.0, 6.0])).configuration
    planner.be_at(start)
    planner.received.clear()
    planner.go(end)
    planner.graph.spin(0.3)
    assert planner.received == []
