# SPDX-License-Identifier: Apache-2.0

"""A flight by the wall clock as `launch_testing` runs it, under pytest and under colcon alike.

While the platform moves, everything that draws it must agree: the upper end of each leg meets its
joint of the platform. Where robot_state_publisher is installed, that is read from TF, too.

It needs a real ROS 2: bare/ has no launch_testing.
"""

from __future__ import annotations

import contextlib
import threading
import unittest
from importlib.util import find_spec
from xml.etree import ElementTree

import numpy as np
import pytest
import rclpy
from ament_index_python.packages import (
    PackageNotFoundError,
    get_package_prefix,
    get_package_share_directory,
)
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Pose, TransformStamped
from nav_msgs.msg import Odometry
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from ros_harness import PATIENCE, RELIABLE, free_domain
from sensor_msgs.msg import JointState

import robodyn as rd
from robodyn.loading import robot_description
from robodyn.parsing import parse_urdf
from robodyn.poses import matrix_from_pose, rotation_matrix
from robodyn.presentation import figure_of_links
from robodyn_ros import messages

pytest.importorskip("launch_testing.actions", reason="launch_testing needs a real ROS 2")

import launch_testing
from launch.actions import IncludeLaunchDescription, SetEnvironmentVariable
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_testing.actions import ReadyToTest
from launch_testing.asserts import assertExitCodes
from launch_testing.markers import keep_alive

from launch import LaunchDescription

MODEL = "stewart_symmetric"
DOMAIN = free_domain()
PATH = f"{__file__.rpartition('/')[0]}/there_and_back.yaml"
NODES = {
    "trajectory_planner",
    "inverse_dynamics",
    "condition_monitor",
    "forward_simulator",
    "run_summary",
}


def has_transforms() -> bool:
    try:
        get_package_prefix("robot_state_publisher")
    except PackageNotFoundError:
        return False
    return find_spec("tf2_msgs") is not None


@pytest.mark.launch_test
@pytest.mark.system
@keep_alive
def generate_test_description():
    simulation = get_package_share_directory("robodyn") + "/launch/stewart_sim.launch.py"
    arguments = {
        "model": MODEL,
        "path": PATH,
        "stepping": "realtime",
        # the tests are done long before
        "duration": "600.0",
        "output": "",
    }
    return LaunchDescription(
        [
            SetEnvironmentVariable("ROS_DOMAIN_ID", str(DOMAIN)),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(simulation), launch_arguments=arguments.items()
            ),
            ReadyToTest(),
        ]
    )


class Watch:
    """A node beside the launch."""

    def __init__(self) -> None:
        self.context = rclpy.Context()
        rclpy.init(args=[], context=self.context, domain_id=DOMAIN)
        self.node = rclpy.create_node("watch", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.thread = threading.Thread(target=self.spin, daemon=True)
        self.changed = threading.Condition()

    def spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException):
            self.executor.spin()

    def begin(self) -> None:
        self.thread.start()

    def close(self) -> None:
        rclpy.try_shutdown(context=self.context)
        if self.thread.is_alive():
            self.thread.join()
        self.node.destroy_node()

    def collect(self, kind: type, topic: str) -> dict[int, object]:
        """Receive messages of a topic, by their stamps."""
        received: dict[int, object] = {}

        def keep(message):
            with self.changed:
                received[messages.to_nanoseconds(message.header.stamp)] = message
                self.changed.notify_all()

        self.node.create_subscription(kind, topic, keep, RELIABLE)
        return received

    def until(self, condition, what: str) -> None:
        with self.changed:
            assert self.changed.wait_for(condition, PATIENCE), f"not in {PATIENCE} s: {what}"


class TestFlight(unittest.TestCase):
    """While it flies."""

    def setUp(self):
        self.platform = rd.load(MODEL)
        self.text = robot_description(MODEL, self.platform)
        self.tips = [
            (
                closure.find("parent").get("link"),
                np.array(closure.find("child_origin").get("xyz").split(), dtype=float),
            )
            for closure in ElementTree.fromstring(self.text).iterfind("constraint")
        ]
        self.watch = Watch()
        self.addCleanup(self.watch.close)

    def flown(self, states) -> bool:
        """Whether the platform has been far from where it began."""
        poses = [states[stamp].pose.pose.position.x for stamp in sorted(states)]
        return bool(poses) and max(poses) - min(poses) > 0.05

    def test_the_nodes_are_there_and_well(self):
        names = self.watch.node.get_node_names
        reports = self.watch.collect(DiagnosticArray, "/diagnostics")
        self.watch.begin()
        self.watch.until(lambda: reports, "diagnostics")
        self.watch.until(lambda: set(names()) >= NODES, f"nodes {NODES}")
        for report in list(reports.values()):
            for status in report.status:
                # a busy machine loses states and real time, which is logged
                busy = status.name.endswith((": states", ": real time"))
                assert status.level == b"\x00" or busy, f"{status.name}: {status.message}"

    def test_joint_states_and_pose_draw_legs_that_meet_the_platform(self):
        states = self.watch.collect(Odometry, "platform_state")
        joints = self.watch.collect(JointState, "joint_states")
        self.watch.begin()
        self.watch.until(lambda: self.flown(states), "a platform that has moved")
        tree = parse_urdf(self.text, "robot_description")
        links, joints = list(tree.links.values()), list(tree.joints.values())
        figure = figure_of_links(links, joints, "robot_description")
        stamps = sorted(set(states) & set(joints))
        looked = stamps[:: max(1, len(stamps) // 20)]
        assert len(looked) > 10
        for stamp in looked:
            pose = messages.platform_state(states[stamp])[1]
            reported = dict(zip(joints[stamp].name, joints[stamp].position, strict=True))
            frames = figure.link_frames(reported, pose)
            self.meet(pose, [frames[figure.index(link)][:3, 3] for link, _ in self.tips])

    def meet(self, pose, ends) -> None:
        """The upper ends of the legs are at the platform's joints."""
        points = np.array([point for _, point in self.tips])
        there = points @ rotation_matrix(pose).T + pose[:3]
        np.testing.assert_allclose(ends, there, rtol=0, atol=1e-6)

    @unittest.skipUnless(has_transforms(), "tf2_ros and robot_state_publisher are not installed")
    def test_transforms_draw_legs_that_meet_the_platform(self):
        from tf2_msgs.msg import TFMessage

        states = self.watch.collect(Odometry, "platform_state")
        # where robot_state_publisher itself put each link, link by link; in between is no matter
        reported: dict[int, dict[str, TransformStamped]] = {}

        def keep(message):
            with self.watch.changed:
                for transform in message.transforms:
                    stamp = messages.to_nanoseconds(transform.header.stamp)
                    reported.setdefault(stamp, {})[transform.child_frame_id] = transform
                self.watch.changed.notify_all()

        self.watch.node.create_subscription(TFMessage, "/tf", keep, 1000)
        self.watch.begin()
        self.watch.until(lambda: self.flown(states), "a platform that has moved")
        looked = 0
        for stamp, transforms in sorted(reported.items()):
            expected = {link for link, _ in self.tips} | {"platform_link"}
            if not expected <= set(transforms):
                continue
            frames = {link: self.frame(transforms, link) for link in expected}
            platform = frames["platform_link"]
            pose = messages.platform_state(states[stamp])[1] if stamp in states else None
            if pose is None:
                continue
            np.testing.assert_allclose(platform[:3, 3], pose[:3], rtol=0, atol=1e-9)
            self.meet(pose, [frames[link][:3, 3] for link, _ in self.tips])
            looked += 1
        assert looked > 10

    def frame(self, transforms, link):
        """(4, 4) of a link in the base, from its chain of transforms."""
        whole = np.eye(4)
        while link in transforms:
            stamped = transforms[link]
            placed = Pose(orientation=stamped.transform.rotation)
            placed.position.x = stamped.transform.translation.x
            placed.position.y = stamped.transform.translation.y
            placed.position.z = stamped.transform.translation.z
            whole = matrix_from_pose(messages.pose_array(placed)) @ whole
            link = stamped.header.frame_id
        return whole


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    """When all have ended."""

    def test_every_process_ended_in_order(self, proc_info):
        ended = {event.process_name.rpartition("-")[0] for event in proc_info}
        assert ended >= NODES
        assertExitCodes(proc_info)
