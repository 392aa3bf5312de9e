# SPDX-License-Identifier: Apache-2.0

"""Messages to arrays and back: orders, frames, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from geometry_msgs.msg import Pose, Transform, Twist, Vector3, Wrench
from message_makers import joint_state, odometry
from nav_msgs.msg import Odometry
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState

import robodyn as rd
from robodyn.checks import as_pose
from robodyn.trajectories import knot_times, sampled_trajectory
from robodyn_ros import messages

pytestmark = pytest.mark.ros
FRAMES = ("base_link", "platform_link")
NAMES = ("a", "b", "c")


def random_pose(rng):
    return np.concatenate([rng.normal(size=3), Rotation.random(random_state=rng).as_quat()])


@pytest.mark.parametrize("nanoseconds", [0, 1, 999_999_999, 1_000_000_000, 3_670_504_110])
def test_times_keep_every_nanosecond(nanoseconds):
    assert messages.to_nanoseconds(messages.to_stamp(nanoseconds)) == nanoseconds
    assert messages.to_nanoseconds(messages.to_duration(nanoseconds)) == nanoseconds


@pytest.mark.parametrize("kind", [Pose, Transform])
def test_pose_round_trip_is_exact(kind, rng):
    pose, message = random_pose(rng), kind()
    messages.fill_pose(message, pose)
    assert (messages.pose_array(message) == pose).all()


def test_quaternion_is_in_ros_order():
    message = Pose()
    messages.fill_pose(message, np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3, 0.9]))
    assert (message.position.z, message.orientation.x, message.orientation.w) == (3.0, 0.1, 0.9)


def test_twist_and_wrench_are_linear_first():
    twist = Twist()
    messages.fill_twist(twist, np.arange(6.0))
    assert (twist.linear.z, twist.angular.x) == (2.0, 3.0)
    assert (messages.twist_array(twist) == np.arange(6.0)).all()
    wrench = Wrench(force=Vector3(x=1.0), torque=Vector3(y=2.0))
    assert messages.wrench_array(wrench).tolist() == [1.0, 0.0, 0.0, 0.0, 2.0, 0.0]


def test_odometry_reports_the_twist_in_the_child_frame():
    """A platform turned a quarter to the left that moves along the base's x moves to its right."""
    pose = rd.pose_from_rpy([0.1, 0.2, 0.3], [0.0, 0.0, np.pi / 2])
    message = odometry(5, FRAMES, pose, np.array([1.0, 0, 0, 0, 2.0, 0]))
    assert (message.header.frame_id, message.child_frame_id) == FRAMES
    linear, angular = message.twist.twist.linear, message.twist.twist.angular
    np.testing.assert_allclose([linear.x, linear.y, linear.z], [0, -1, 0], atol=1e-15)
    np.testing.assert_allclose([angular.x, angular.y, angular.z], [2, 0, 0], atol=1e-15)


def test_odometry_equals_a_rotation_by_scipy_and_comes_back(rng):
    for _ in range(20):
        pose, twist = random_pose(rng), rng.normal(size=6)
        message = odometry(7, FRAMES, pose, twist)
        to_body = Rotation.from_quat(pose[3:]).inv()
        expected = to_body.apply(twist.reshape(2, 3)).reshape(6)
        np.testing.assert_allclose(messages.twist_array(message.twist.twist), expected, atol=1e-14)
        stamp, same_pose, same_twist = messages.platform_state(message)
        assert stamp == 7
        assert (same_pose == as_pose("pose", pose)).all()
        np.testing.assert_allclose(same_twist, twist, atol=1e-14)


@pytest.mark.parametrize("quaternion", [(0.0,) * 4, (0.0, 0.0, 0.0, 1.1), (0, 0, 0, np.nan)])
def test_a_state_without_a_rotation_is_refused(quaternion):
    message = odometry(0, FRAMES, np.array([0, 0, 1.0, 0, 0, 0, 1]), np.zeros(6))
    messages.fill_pose(message.pose.pose, np.array([0, 0, 1.0, *quaternion]))
    with pytest.raises(rd.InvalidInput):
        messages.platform_state(message)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_state_that_is_not_finite_is_refused(value):
    message = odometry(0, FRAMES, np.array([0, 0, 1.0, 0, 0, 0, 1]), np.zeros(6))
    message.twist.twist.angular.y = value
    with pytest.raises(rd.InvalidInput):
        messages.platform_state(message)


def test_joint_values_follow_the_names_whatever_their_order(rng, scrambled):
    joints = [f"joint{i}" for i in range(7)]
    values = rng.normal(size=7)
    shuffled = scrambled(7)
    message = joint_state(
        9,
        [joints[i] for i in shuffled],
        values[shuffled],
        2 * values[shuffled],
        3 * values[shuffled],
    )
    assert messages.to_nanoseconds(message.header.stamp) == 9
    for factor, field in enumerate(("position", "velocity", "effort"), 1):
        assert (messages.joint_values(message, joints, field) == factor * values).all()
    # a message may contain further joints
    some = messages.joint_values(message, joints[1:], "effort")
    assert some.tolist() == (3 * values[1:]).tolist()


def test_a_missing_joint_is_named():
    message = JointState(name=["a", "c"], effort=[1.0, 2.0])
    with pytest.raises(rd.InvalidInput, match=r"\bb\b"):
        messages.joint_values(message, NAMES, "effort")


@pytest.mark.parametrize("effort", [[], [1.0], [1.0, 2.0, 3.0, 4.0]])
def test_lists_of_another_length_are_refused(effort):
    with pytest.raises(rd.InvalidInput):
        messages.joint_values(JointState(name=list(NAMES), effort=effort), NAMES, "effort")


def test_efforts_that_are_not_finite_are_refused_with_their_place():
    with pytest.raises(rd.InvalidInput, match=r"effort\[1\] is nan"):
        messages.joint_values(
            JointState(name=list(NAMES), effort=[1.0, np.nan, 2.0]), NAMES, "effort"
        )


def test_trajectory_comes_back_as_the_same_numbers(mechanism):
    path = rd.paper_path("II")
    times = knot_times(path.duration, path.switching_times, 0.005)
    motion = path.sample(times)
    message = messages.platform_trajectory("base_link", "platform_joint", times, motion)
    assert message.header.frame_id == "base_link"
    assert message.joint_names == ["platform_joint"]
    back = sampled_trajectory(message, mechanism)
    assert (back.times == times).all()
    for ours, theirs in zip(back.sample(times), motion, strict=True):
        # quaternions are normalized once more: the last bit may turn
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-15)


def _no_points(message):
    message.points = []


def _no_transform(message):
    message.points[2].transforms = []


def _two_joints(message):
    message.points[2].transforms *= 2


def _time_stands_still(message):
    message.points[2].time_from_start = message.points[1].time_from_start


def _infinite_acceleration(message):
    message.points[2].accelerations[0].linear.x = np.inf


def _absurd_velocity(message):
    message.points[2].velocities[0].linear.y = 1e155


def _unreadable_rotation(message):
    message.points[2].transforms[0].rotation.w = np.nan


def _not_a_rotation(message):
    message.points[2].transforms[0].rotation.w = 3.0


SPOILERS = (
    _no_points,
    _no_transform,
    _two_joints,
    _time_stands_still,
    _infinite_acceleration,
    _absurd_velocity,
    _unreadable_rotation,
    _not_a_rotation,
)


@pytest.mark.parametrize("spoil", SPOILERS, ids=lambda spoil: spoil.__name__.strip("_"))
def test_a_malformed_trajectory_is_refused(spoil, mechanism):
    path = rd.paper_path("II")
    times = np.linspace(0.0, path.duration, 5)
    message = messages.platform_trajectory("base_link", "j", times, path.sample(times))
    spoil(message)
    with pytest.raises(rd.RobodynError):
        sampled_trajectory(message, mechanism)


@pytest.mark.parametrize("data", [b"", b"\0\1\0\0\1\0\0\0", b"\xff" * 100], ids=len)
def test_bytes_that_are_no_message_are_named_so(data):
    with pytest.raises(rd.InvalidInput, match="Odometry"):
        messages.deserialize(data, Odometry)
    if len(data) < messages.FIRST_BYTES:
        with pytest.raises(rd.InvalidInput, match="header"):
            messages.first_stamp(data)
