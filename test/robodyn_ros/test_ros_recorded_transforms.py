# SPDX-License-Identifier: Apache-2.0

"""recorder without tf2: the transforms of a bag put every link where the mechanism has it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from message_makers import odometry
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

import robodyn as rd
from robodyn.errors import UnphysicalInertiaWarning
from robodyn.loading import robot_description
from robodyn.parsing import parse_urdf
from robodyn.poses import matrix_from_pose
from robodyn.presentation import Figure, presentation
from robodyn_ros import messages
from robodyn_ros.bag_writer import BagWriter
from robodyn_ros.mechanism_messages import AllJoints
from robodyn_ros.recorded_transforms import KIND, PERIOD, RecordedTransforms

typesys = pytest.importorskip("rosbags.typesys", reason="the extra `record` is not installed")

pytestmark = pytest.mark.ros
START = 1_000_000_000


@pytest.fixture
def bag(tmp_path):
    writer = BagWriter(tmp_path / "bag")
    yield writer
    writer.close()


def loaded(model: str):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)
        mechanism = rd.load(model)
    return mechanism, list(parse_urdf(robot_description(model, mechanism), model).joints.values())


def poses_of(message: bytes | None) -> dict[tuple[str, str], np.ndarray]:
    """Pose (7,) of each child by the names of parent and child."""
    assert message is not None
    store = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
    poses = {}
    for each in store.deserialize_cdr(message, KIND).transforms:
        p, q = each.transform.translation, each.transform.rotation
        frames = each.header.frame_id, each.child_frame_id
        poses[frames] = np.array([p.x, p.y, p.z, q.x, q.y, q.z, q.w])
    return poses


def viewed(joints, poses) -> dict[str, np.ndarray]:
    """Frames (4, 4) of all links in the root's, as a viewer chains transforms and fixed joints."""
    tree = Figure(joints, ())
    frames = {tree.links[0]: np.eye(4)}
    for joint in tree.joints:
        step = joint.at.matrix
        if joint.kind != "fixed":
            step = matrix_from_pose(poses[joint.parent, joint.child])
        frames[joint.child] = frames[joint.parent] @ step
    return frames


@pytest.mark.parametrize("model", ["delta", "fivebar", "puma560", "stewart_dasgupta"])
def test_every_link_is_where_the_mechanism_has_it(model, bag):
    mechanism, joints = loaded(model)
    motion = rd.load_path("demo", mechanism)
    here = motion.sample(0.4 * motion.duration).configuration
    still = np.zeros(mechanism.coordinates.velocity_size)
    effort = np.zeros(len(mechanism.joint_names))
    states = AllJoints(mechanism).filled(START, here, still, effort)
    transforms = RecordedTransforms(bag, joints, mechanism)
    poses = poses_of(transforms.of_joints(serialize_message(states)))
    base, body = mechanism.frames
    if mechanism.coordinates.is_pose:
        state = odometry(START, mechanism.frames, here, np.zeros(6))
        poses |= poses_of(transforms.of_state(serialize_message(state)))
    frames = viewed(joints, poses)
    seen = np.linalg.inv(frames[base]) @ frames[body]
    np.testing.assert_allclose(seen, matrix_from_pose(mechanism.body_pose(here)), atol=1e-9)
    at_home = matrix_from_pose(mechanism.body_pose(mechanism.home))
    assert np.abs(seen - at_home).max() > 0.01


def test_the_legs_of_a_platform_end_at_it(bag):
    """The loops are closed in the picture, although a URDF leaves them open."""
    mechanism, joints = loaded("stewart_dasgupta")
    turned = mechanism.home + np.array([0.02, -0.03, 0.04, 0.0, 0.0, 0.0, 0.0])
    states = AllJoints(mechanism).filled(START, turned, np.zeros(6), np.zeros(6))
    transforms = RecordedTransforms(bag, joints, mechanism)
    poses = poses_of(transforms.of_joints(serialize_message(states)))
    state = odometry(START, mechanism.frames, turned, np.zeros(6))
    frames = viewed(joints, poses | poses_of(transforms.of_state(serialize_message(state))))
    _, tips = presentation.leg_ends(mechanism, turned)
    for i, tip in enumerate(tips, start=1):
        np.testing.assert_allclose(frames[f"leg{i}_upper"][:3, 3], tip, atol=1e-9)


def test_joints_reported_one_by_one_are_remembered_and_not_reported_too_often(bag):
    mechanism, joints = loaded("puma560")
    transforms = RecordedTransforms(bag, joints, mechanism)

    def place(stamp: int, name: str, position: float) -> bytes | None:
        message = JointState(name=[name], position=[position])
        messages.fill_stamp(message.header.stamp, stamp)
        return transforms.of_joints(serialize_message(message))

    assert place(START, "of another robot", 0.1) is None
    assert place(START, "joint1", float("nan")) is None
    assert set(poses_of(place(START, "joint1", 0.1))) == {("base_link", "link1")}
    assert place(START + PERIOD - 1, "joint2", 0.2) is None
    later = poses_of(place(START + PERIOD, "joint3", 0.3))
    assert [child for _, child in later] == ["link1", "link2", "link3"]
    # after a reset time starts again
    assert poses_of(place(0, "joint1", 0.0)).keys() == later.keys()


def test_without_a_model_only_the_platform_has_a_transform(bag, mechanism):
    transforms = RecordedTransforms(bag)
    state = odometry(START, mechanism.frames, mechanism.home, np.zeros(6))
    ((frames, pose),) = poses_of(transforms.of_state(serialize_message(state))).items()
    assert frames == mechanism.frames
    np.testing.assert_array_equal(pose, mechanism.home)
    states = AllJoints(mechanism).filled(START, mechanism.home, np.zeros(6), np.zeros(6))
    assert transforms.of_joints(serialize_message(states)) is None
