# SPDX-License-Identifier: Apache-2.0

"""Plans that start where the mechanism is not, arms that take poses, goals for some joints."""

from __future__ import annotations

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from local_graph import LocalGraph
from message_makers import joint_state, odometry
from nav_msgs.msg import Odometry
from ros_harness import LATCHED
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory

import robodyn as rd
from robodyn.poses import composed_pose
from robodyn.trajectories import point_times
from robodyn_ros import messages

pytestmark = [
    pytest.mark.ros,
    pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning"),
]
FRAMES = ("base_link", "platform_link")
# six turning joints; stretched out along x at zero, where every such wrist is singular
SINGULAR = "puma560"


class Planner:
    """A trajectory_planner of a mechanism, with states of the mechanism."""

    def __init__(self, model: str, **parameters: object) -> None:
        self.mechanism = rd.load(model)
        self.is_pose = self.mechanism.coordinates.is_pose
        self.graph = graph = LocalGraph({"trajectory_planner": {"model": model} | parameters})
        kind, topic = (
            (MultiDOFJointTrajectory, "platform_trajectory")
            if self.is_pose
            else (JointTrajectory, "joint_trajectory")
        )
        self.received = graph.listen(kind, topic, LATCHED)
        states = (Odometry, "platform_state") if self.is_pose else (JointState, "joint_states")
        self.states = graph.publisher(*states)
        self.joints = graph.publisher(JointState, "goal_joints")

    def be_at(self, configuration) -> None:
        rest = np.zeros(self.mechanism.coordinates.velocity_size)
        if self.is_pose:
            message = odometry(1, FRAMES, configuration, rest)
        else:
            message = joint_state(1, self.mechanism.joint_names, configuration, rest)
        node = self.graph.nodes["trajectory_planner"]
        known = node._stamp
        self.states.publish(message)
        self.graph.until(lambda: node._stamp != known or node._here is not None, "the state")
        self.graph.spin(0.05)

    def call(self, service):
        return self.graph.call(Trigger, f"trajectory_planner/{service}")

    def go_joints(self, names, positions) -> None:
        self.joints.publish(joint_state(0, names, np.array(positions, dtype=float)))

    def go_pose(self, pose, frame="") -> None:
        message = PoseStamped()
        message.header.frame_id = frame
        messages.fill_pose(message.pose, pose)
        self.graph.publisher(PoseStamped, "goal_pose").publish(message)

    def motion(self):
        """Times and configurations of the first trajectory published."""
        message = self.graph.until(lambda: self.received, "a trajectory")[0]
        times = point_times(message.points)
        if self.is_pose:
            rows = [messages.pose_array(point.transforms[0]) for point in message.points]
        else:
            rows = [point.positions for point in message.points]
        return times, np.array(rows)


@pytest.fixture
def planner(request):
    model, parameters = request.param
    made = Planner(model, **parameters)
    with made.graph:
        yield made


def given(model, **parameters):
    return pytest.mark.parametrize("planner", [(model, parameters)], indirect=True, ids=[""])


@given("stewart_dasgupta", path="I", auto_start=False, v_max=0.2, w_max=0.2, limits="warn")
def test_a_platform_elsewhere_approaches_the_start_of_its_path(planner):
    start = rd.paper_path("I").sample(0.0).configuration
    here = composed_pose(start, rd.pose_from_rpy([0.1, 0.0, 0.0], [0.0, 0.0, 0.0]))
    planner.be_at(here)
    answer = planner.call("start")
    assert answer.success
    assert "approaching 0.1 m in " in answer.message
    assert answer.message.endswith(" s, then path I")
    times, poses = planner.motion()
    np.testing.assert_allclose(poses[0], here, rtol=0, atol=1e-9)
    speed = np.linalg.norm(np.diff(poses[:, :3], axis=0), axis=1) / np.diff(times)
    before = times[-1] - rd.paper_path("I").duration
    assert speed[times[1:] <= before].max() <= 0.2 * (1 + 1e-6)
    # then the path itself
    path = rd.paper_path("I").sample(times[times >= before] - before).configuration
    np.testing.assert_allclose(poses[times >= before], path, rtol=0, atol=1e-7)


@given("stewart_dasgupta", path="I", auto_start=False, approach="refuse", limits="warn")
def test_or_refuses_it_with_the_distance(planner):
    start = rd.paper_path("I").sample(0.0).configuration
    planner.be_at(composed_pose(start, rd.pose_from_rpy([0.0, 0.0, 0.107], [0.0, 0.0, 0.0])))
    answer = planner.call("start")
    assert not answer.success
    assert "path I refused: it starts 0.107 m from the mechanism's position" in answer.message
    assert planner.received == []


@given("stewart_dasgupta", path="I", auto_start=False, v_max=50.0, w_max=50.0, limits="refuse",
       condition_error=1e6)  # fmt: skip
def test_an_approach_that_breaks_a_limit_is_refused(planner):
    start = rd.paper_path("I").sample(0.0).configuration
    planner.be_at(composed_pose(start, rd.pose_from_rpy([0.1, 0.0, 0.0], [0.0, 0.0, 0.0])))
    answer = planner.call("start")
    assert not answer.success
    assert "approach refused" in answer.message
    assert "its limit is" in answer.message
    assert planner.received == []


@given("puma560", path="puma", auto_start=False, limits="ignore", v_max=0.5)
def test_at_its_start_within_measurement_a_plan_is_published_as_it_is(planner):
    path = rd.load_path("puma", planner.mechanism)
    planner.be_at(path.sample(0.0).configuration + 5e-5)
    assert planner.call("start").message == "started"
    times, _ = planner.motion()
    assert times[-1] == pytest.approx(path.duration, abs=1e-9)


@given("puma560", path="puma", auto_start=False, limits="ignore", v_max=0.5)
def test_an_arm_elsewhere_approaches_by_its_joints(planner):
    path = rd.load_path("puma", planner.mechanism)
    here = path.sample(0.0).configuration.copy()
    here[2] += 0.25
    planner.be_at(here)
    name = planner.mechanism.joint_names[2]
    assert f"approaching 0.25 rad ({name}) in " in planner.call("start").message
    _, q = planner.motion()
    np.testing.assert_allclose(q[0], here, rtol=0, atol=1e-12)
    np.testing.assert_allclose(q[-1], path.sample(path.duration).configuration, atol=1e-9)


@pytest.mark.parametrize(("auto", "what"), [(True, "started"), (False, "not published")])
def test_plan_publishes_by_auto_start_and_says_so(auto, what):
    planner = Planner("puma560", auto_start=auto, limits="ignore")
    with planner.graph:
        planner.graph.set("trajectory_planner", path="puma")
        answer = planner.call("plan")
        assert answer.success
        assert what in answer.message
        if auto:
            planner.motion()
        else:
            planner.graph.spin(0.2)
            assert planner.received == []


@given(SINGULAR, limits="refuse", v_max=0.2)
def test_an_arm_leaves_a_singular_pose_by_its_joints(planner):
    arm = planner.mechanism
    here = np.clip(np.zeros(6), *arm.position_limits.T)
    assert arm.condition_number(here) > 1e6
    planner.be_at(here)
    goal = np.clip(here + 0.1, *arm.position_limits.T)
    planner.go_joints(arm.joint_names, goal)
    _, q = planner.motion()
    np.testing.assert_allclose(q[-1], goal, rtol=0, atol=1e-9)


@given(SINGULAR, limits="refuse", v_max=0.05, w_max=0.05)
def test_but_a_tip_line_through_one_is_refused(planner):
    arm = planner.mechanism
    here = np.zeros(6)
    planner.be_at(here)
    goal = arm.body_pose(here)
    goal[2] += 0.02
    planner.go_pose(goal)
    planner.graph.line("goal_pose refused")
    assert planner.received == []


BENT = np.array([0.2, -0.6, 0.4, 0.3, 0.7, 0.1])


@given("puma560", v_max=0.1, w_max=0.2, limits="refuse")
def test_the_tip_goes_straight_to_a_pose(planner):
    arm = planner.mechanism
    planner.be_at(BENT)
    start = arm.body_pose(BENT)
    goal = composed_pose(start, rd.pose_from_rpy([0.04, -0.03, 0.05], [0.1, 0.0, -0.1]))
    planner.go_pose(goal, arm.frames[0])
    times, q = planner.motion()
    np.testing.assert_allclose(q[0], BENT, rtol=0, atol=1e-9)
    tip = arm.body_pose(q)
    np.testing.assert_allclose(tip[-1], goal, rtol=0, atol=1e-8)
    line = rd.plan_line(start, goal, v_max=0.1, w_max=0.2).sample(times).configuration
    np.testing.assert_allclose(tip[:, :3], line[:, :3], rtol=0, atol=1e-8)


@given("puma560", v_max=0.4, pose_motion="joints")
def test_or_its_joints_go_to_the_nearest_solution(planner):
    arm = planner.mechanism
    planner.be_at(BENT)
    # in the frame of the tip
    offset = rd.pose_from_rpy([0.04, -0.03, 0.05], [0.1, 0.0, -0.1])
    planner.go_pose(offset, arm.frames[1])
    times, q = planner.motion()
    goal = composed_pose(arm.body_pose(BENT), offset)
    np.testing.assert_allclose(arm.body_pose(q[-1]), goal, rtol=0, atol=1e-8)
    assert np.abs(q[-1] - BENT).max() < 0.5
    expected = rd.plan_joints(BENT, q[-1], v_max=0.4).sample(times).configuration
    np.testing.assert_allclose(q, expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("motion", ["line", "joints"])
def test_a_pose_out_of_reach_is_refused_by_name(motion):
    planner = Planner("puma560", pose_motion=motion)
    with planner.graph:
        planner.be_at(BENT)
        planner.go_pose(rd.pose_from_rpy([5.0, 0.0, 0.0], [0.0, 0.0, 0.0]))
        line = planner.graph.line("goal_pose refused", "the pose may be out of reach")
        assert ("at t = " in line) == (motion == "line")
        assert planner.received == []


@given("puma560", v_max=0.4)
def test_a_goal_may_name_some_of_the_joints(planner):
    names = planner.mechanism.joint_names
    planner.be_at(BENT)
    planner.go_joints([names[3], names[1]], [0.5, -0.5])
    _, q = planner.motion()
    expected = BENT.copy()
    expected[[3, 1]] = 0.5, -0.5
    np.testing.assert_allclose(q[-1], expected, rtol=0, atol=1e-9)


@given("puma560", v_max=0.4)
def test_a_misspelt_joint_is_named_with_the_nearest_name(planner):
    names = planner.mechanism.joint_names
    planner.be_at(BENT)
    wrong = names[3].replace("i", "")
    planner.go_joints([names[1], wrong], [0.5, 0.5])
    planner.graph.line("goal_joints refused", f"no joint '{wrong}'", "did you mean 'joint")
    planner.go_joints([], [])
    planner.graph.line("goal_joints refused", "no joint is named")
    assert planner.received == []


def test_tip_waypoints_from_where_the_arm_is(tmp_path):
    arm = rd.load("puma560")
    xyz, rpy = rd.rpy_from_pose(arm.body_pose(BENT))
    further = (xyz + np.array([0.05, 0.0, 0.0])).tolist()
    file = tmp_path / "tip.yaml"
    points = "".join(f"- {{xyz: {p}, rpy: {rpy.tolist()}}}\n" for p in (xyz.tolist(), further))
    file.write_text(f"v_max: 0.1\nw_max: 0.1\nwaypoints:\n{points}")
    planner = Planner("puma560", auto_start=False)
    with planner.graph:
        planner.be_at(BENT)
        planner.graph.set("trajectory_planner", path=str(file))
        assert planner.call("plan").success
        assert planner.call("start").message == "started"
        _, q = planner.motion()
        np.testing.assert_allclose(q[0], BENT, rtol=0, atol=1e-7)
        np.testing.assert_allclose(arm.body_pose(q[-1])[:3], further, rtol=0, atol=1e-8)


@given("stewart_symmetric", v_max=0.2, w_max=0.2)
def test_a_goal_before_the_first_state_is_planned_from_it(planner):
    """A goal published with a bringup need not wait for the first state."""
    home = planner.mechanism.home
    node = planner.graph.nodes["trajectory_planner"]
    for height in (0.02, 0.05):  # the latest counts
        goal = composed_pose(home, rd.pose_from_rpy([0.0, 0.0, height], [0.0, 0.0, 0.0]))
        before = node._waiting
        planner.go_pose(goal)
        planner.graph.until(lambda before=before: node._waiting is not before, "the goal")
    planner.be_at(home)
    _, poses = planner.motion()
    np.testing.assert_allclose(poses[[0, -1]], [home, goal], rtol=0, atol=1e-9)
