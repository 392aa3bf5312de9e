# SPDX-License-Identifier: Apache-2.0

"""Goals and wrenches in frames that only TF knows are transformed to where they truly are."""

from __future__ import annotations

import numpy as np
import pytest
import transform_buffer
from geometry_msgs.msg import PoseStamped, TransformStamped, WrenchStamped
from local_graph import LocalGraph
from message_makers import odometry
from nav_msgs.msg import Odometry
from rclpy.qos import DurabilityPolicy, QoSProfile
from ros_harness import LATCHED
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import Imu, JointState
from trajectory_msgs.msg import MultiDOFJointTrajectory
from transform_buffer import matrix

import robodyn as rd
from robodyn_ros import frames, messages

pytestmark = pytest.mark.ros
try:
    from tf2_msgs.msg import TFMessage
except ImportError:
    TFMessage = None

MODEL = "stewart_symmetric"
FRAMES = ("base_link", "platform_link")
STATIC = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SECOND = 1_000_000_000


@pytest.fixture(scope="module")
def platform():
    return rd.load(MODEL)


@pytest.fixture(autouse=True)
def tf2(monkeypatch):
    """That of ROS 2, or what stands in for it."""
    if TFMessage is None:
        for name in ("Buffer", "TransformException", "TransformListener"):
            monkeypatch.setattr(frames, name, getattr(transform_buffer, name), raising=False)
        monkeypatch.setattr(transform_buffer.Buffer, "edges_of_all", {})


class Sky:
    """Broadcaster of transforms, by the peer of a graph."""

    def __init__(self, graph: LocalGraph) -> None:
        if TFMessage is None:
            return
        self._moving = graph.peer.create_publisher(TFMessage, "/tf", 100)
        self._static = graph.peer.create_publisher(TFMessage, "/tf_static", STATIC)

    def set_transform(self, parent: str, child: str, pose, stamp: int | None = None) -> None:
        """Broadcast a frame's pose in its parent; static without a stamp."""
        if TFMessage is None:
            transform_buffer.Buffer.set_transform(parent, child, pose, stamp)
            return
        transform = TransformStamped(child_frame_id=child)
        transform.header.frame_id = parent
        transform.header.stamp = messages.to_stamp(stamp or 0)
        messages.fill_pose(transform.transform, pose)
        publisher = self._static if stamp is None else self._moving
        publisher.publish(TFMessage(transforms=[transform]))


def pose_of(transform) -> np.ndarray:
    return np.concatenate([transform[:3, 3], Rotation.from_matrix(transform[:3, :3]).as_quat()])


def some_pose(rng, reach: float) -> np.ndarray:
    return np.concatenate(
        [rng.uniform(-reach, reach, 3), Rotation.random(random_state=rng).as_quat()]
    )


def near(platform) -> np.ndarray:
    return pose_of(matrix(platform.home) @ matrix([0.01, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]))


def same_pose(ours, theirs) -> None:
    np.testing.assert_allclose(ours[:3], theirs[:3], atol=1e-9)
    assert abs(np.dot(ours[3:], theirs[3:])) == pytest.approx(1.0, abs=1e-12)


class Planner:
    def __init__(self, graph: LocalGraph) -> None:
        self.graph = graph
        self.sky = Sky(graph)
        self.states = graph.publisher(Odometry, "platform_state")
        self.goals = graph.publisher(PoseStamped, "goal_pose")
        self.received = graph.listen(MultiDOFJointTrajectory, "platform_trajectory", LATCHED)

    def be_at(self, pose, stamp: int = 0) -> None:
        self.states.publish(odometry(stamp, FRAMES, pose, np.zeros(6)))
        self.graph.spin(0.1)

    def go(self, frame: str, pose) -> None:
        message = PoseStamped()
        message.header.frame_id = frame
        messages.fill_pose(message.pose, pose)
        self.goals.publish(message)

    def flown_to(self, frame: str, pose) -> np.ndarray:
        """Return the end of the trajectory to a goal, whose frame may not be known yet."""
        known = len(self.received)

        def planned() -> bool:
            self.go(frame, pose)
            self.graph.spin(0.2)
            return len(self.received) > known

        self.graph.until(planned, f"a trajectory to a goal in {frame}")
        return messages.pose_array(self.received[-1].points[-1].transforms[0])


@pytest.fixture
def planner(platform):
    with LocalGraph({"trajectory_planner": {"model": MODEL}}) as graph:
        made = Planner(graph)
        made.be_at(platform.home)
        yield made


def test_a_goal_in_a_moved_and_turned_frame(planner, platform, rng):
    """world -> base_link and world -> table -> part: the goal is in the part's frame."""
    base, table, part = (some_pose(rng, 3.0) for _ in range(3))
    planner.sky.set_transform("world", "base_link", base)
    planner.sky.set_transform("world", "table", table)
    planner.sky.set_transform("table", "part", part)
    goal = rd.pose_from_rpy(platform.home[:3] + np.array([0.02, -0.03, 0.04]), [0.05, -0.02, 0.1])
    in_part = pose_of(np.linalg.inv(matrix(table) @ matrix(part)) @ matrix(base) @ matrix(goal))
    same_pose(planner.flown_to("part", in_part), goal)


def test_a_goal_in_the_platforms_own_frame_needs_no_tf(planner, platform):
    step = rd.pose_from_rpy([0.01, 0.02, 0.03], [0.0, 0.0, 0.1])
    same_pose(
        planner.flown_to("platform_link", step), pose_of(matrix(platform.home) @ matrix(step))
    )


def test_a_frame_that_nobody_knows_is_refused_with_those_that_are_known(planner, platform):
    planner.sky.set_transform("world", "base_link", platform.home)
    planner.flown_to("world", pose_of(matrix(platform.home) @ matrix(near(platform))))
    refused = "goal_pose refused", "'nowhere'", "Known frames"
    planner.go("nowhere", platform.home)
    line = planner.graph.line(*refused)
    for name in ("base_link", "platform_link", "world"):
        assert name in line
    # goals are processed and logged in order: all goals before the first rejection are
    # done with when it is logged
    planner.go("nowhere", platform.home)

    def refusals() -> list[int]:
        lines = enumerate(planner.graph.lines)
        return [k for k, line in lines if all(text in line for text in refused)]

    planner.graph.until(lambda: len(refusals()) == 2, "a second refusal")
    first, second = refusals()
    assert not any("published" in line for line in planner.graph.lines[first:second])


def test_a_tree_that_is_not_connected_or_a_loop_is_refused(planner, platform):
    planner.sky.set_transform("attic", "chest", platform.home)
    planner.sky.set_transform("world", "base_link", platform.home)
    planner.sky.set_transform("snake", "tail", platform.home)
    planner.sky.set_transform("tail", "snake", platform.home)
    planner.flown_to("world", pose_of(matrix(platform.home) @ matrix(near(platform))))
    planner.go("chest", platform.home)
    planner.graph.line("goal_pose refused", "'chest'", "connect")
    planner.go("tail", platform.home)
    planner.graph.line("goal_pose refused", "'tail'", "loop")


def test_a_transform_that_is_none_or_old_is_refused(planner, platform):
    home = platform.home
    planner.sky.set_transform("base_link", "broken", [np.nan, 0, 0, 0, 0, 0, 1], SECOND)
    planner.sky.set_transform("base_link", "moving", home, 5 * SECOND)
    planner.be_at(home, 5 * SECOND)
    at_home = [0, 0, 0.01, 0, 0, 0, 1]
    planner.flown_to("moving", at_home)
    planner.be_at(home, 7 * SECOND)
    planner.go("moving", at_home)
    planner.graph.line("goal_pose refused", "'moving'", "2.000 s older", "transform_timeout")
    planner.go("broken", home)
    planner.graph.line("goal_pose refused", "'broken'")
    # this can be permitted
    assert planner.graph.set("trajectory_planner", transform_timeout=0.0) == []
    planner.flown_to("moving", at_home)


class Controller:
    def __init__(self, graph: LocalGraph) -> None:
        self.graph = graph
        self.sky = Sky(graph)
        self.states = graph.publisher(Odometry, "platform_state")
        self.wrenches = graph.publisher(WrenchStamped, "external_wrench")
        self.received = graph.listen(JointState, "joint_commands")
        self.unit = None  # an IMU that publishes before each state
        self.stamp = 0

    def push(self, frame: str, wrench) -> None:
        message = WrenchStamped()
        message.header.frame_id = frame
        w, numbers = message.wrench, [float(value) for value in wrench]
        w.force.x, w.force.y, w.force.z, w.torque.x, w.torque.y, w.torque.z = numbers
        self.wrenches.publish(message)

    def answers(self, pose, expected) -> None:
        """Wait for the expected efforts for a state at rest."""

        def answered() -> bool:
            self.stamp += SECOND // 100
            stamp = messages.to_stamp(self.stamp)
            if self.unit is not None:
                publisher, message = self.unit
                message.header.stamp = stamp
                publisher.publish(message)
            state = odometry(self.stamp, FRAMES, pose, np.zeros(6))
            self.states.publish(state)
            found = self.graph.until(
                lambda: next((m for m in self.received if m.header.stamp == stamp), None),
                "a command",
            )
            return np.allclose(found.effort, expected, rtol=1e-9, atol=1e-7)

        self.graph.until(answered, "the efforts against the wrench")


@pytest.fixture
def controller():
    given = {"model": MODEL, "mode": "gravity_compensation", "watchdog_timeout": 0.0}
    with LocalGraph({"inverse_dynamics": given}) as graph:
        yield Controller(graph)


def shifted(arm, wrench) -> np.ndarray:
    """A wrench at the tip of an arm (3,), about the arm's root."""
    return np.concatenate([wrench[:3], wrench[3:] + np.cross(arm, wrench[:3])])


def turned(rotation, wrench) -> np.ndarray:
    return rotation.apply(wrench.reshape(2, 3)).reshape(6)


def test_a_sensors_wrench_turns_with_the_platform_and_acts_where_the_sensor_is(
    controller, platform, rng
):
    """Its power over any motion of the platform is that of the sensor's own point and axes."""
    sensor, wrench = some_pose(rng, 0.3), 50.0 * rng.normal(size=6)
    controller.sky.set_transform("platform_link", "flange", sensor)
    controller.sky.set_transform("flange", "sensor", [0, 0, 0, 0, 0, 0, 1])
    first = rd.pose_from_rpy(platform.home[:3] + np.array([0.03, 0.02, 0.01]), [0.05, 0.1, 0.2])
    still = np.zeros(6)
    controller.push("sensor", wrench)
    # the wrench continues to act as the platform turns
    for pose in (platform.home, first):
        fixed = matrix(pose) @ matrix(sensor)
        place, axes = fixed[:3, 3], Rotation.from_matrix(fixed[:3, :3])
        expected = shifted(place - pose[:3], turned(axes, wrench))
        controller.answers(pose, platform.inverse_dynamics(pose, still, still, expected))


def test_an_imu_mounted_elsewhere_on_the_base_is_felt_at_the_base_frame(controller, platform, rng):
    mounted, still = some_pose(rng, 1.0), np.zeros(6)
    controller.sky.set_transform("base_link", "imu", mounted)
    base = rd.BaseMotion([2.0, 1.0, 8.0], [1.0, -0.5, 0.7])
    felt = base.felt_at(mounted)
    message = Imu()
    message.header.frame_id = "imu"
    force, rate = message.linear_acceleration, message.angular_velocity
    force.x, force.y, force.z = felt.specific_force.tolist()
    rate.x, rate.y, rate.z = felt.angular_velocity.tolist()
    expected = platform.inverse_dynamics(platform.home, still, still, base=base)
    # like an IMU: messages before its frame is known are dropped
    controller.unit = controller.graph.publisher(Imu, "base_imu"), message
    controller.answers(platform.home, expected)


def test_a_frame_elsewhere_lends_its_axes_only(controller, platform, rng):
    """As the base frame does: the wrench is about the platform's own point."""
    world, wrench = some_pose(rng, 5.0), 50.0 * rng.normal(size=6)
    controller.sky.set_transform("world", "base_link", world)
    controller.push("world", wrench)
    expected = turned(Rotation.from_quat(world[3:]).inv(), wrench)
    still = np.zeros(6)
    controller.answers(
        platform.home, platform.inverse_dynamics(platform.home, still, still, expected)
    )


def test_a_wrench_in_a_frame_that_nobody_knows_leaves_the_last_one(controller, platform):
    still, wrench = np.zeros(6), np.array([0.0, 0.0, -100.0, 0.0, 0.0, 0.0])
    borne = platform.inverse_dynamics(platform.home, still, still, wrench)
    controller.push("base_link", wrench)
    controller.answers(platform.home, borne)
    controller.push("nowhere", 2.0 * wrench)
    line = controller.graph.line("external_wrench refused", "'nowhere'", "Known frames")
    assert "base_link" in line
    controller.answers(platform.home, borne)
