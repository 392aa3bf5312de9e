# SPDX-License-Identifier: Apache-2.0

"""Poses: R = Rz Ry Rx, angles there and back, displacements as the inverse of each other."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import robodyn as rd
from robodyn.errors import InvalidInput
from robodyn.numerics.broadcasting import element, flatten
from robodyn.poses import (
    advance_pose,
    composed_pose,
    pose_difference,
    pose_from_rpy,
    quaternion_of_rotation,
    rotation_matrix,
    rpy_from_pose,
    rpy_of_rotation,
    twist_in_base,
    twist_in_body,
    wrench_about_base,
)


def random_pose(rng, *shape):
    quaternion = rng.normal(size=(*shape, 4))
    quaternion /= np.linalg.norm(quaternion, axis=-1, keepdims=True)
    return np.concatenate([rng.normal(size=(*shape, 3)), quaternion], axis=-1)


def elementary(roll, pitch, yaw):
    def turn(angle, i, j):
        R = np.eye(3)
        R[i, i] = R[j, j] = np.cos(angle)
        R[j, i] = np.sin(angle)
        R[i, j] = -R[j, i]
        return R

    return turn(yaw, 0, 1) @ turn(pitch, 2, 0) @ turn(roll, 1, 2)


def assert_same_rotation(actual, expected, atol=4e-15):
    np.testing.assert_allclose(rotation_matrix(actual), rotation_matrix(expected), atol=atol)


def test_angles_of_a_rotation_are_exact_at_right_angles_of_pitch(rng):
    for pitch in (np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, np.pi / 2 - 1e-8, 0.3):
        roll, yaw = rng.uniform(-3, 3, 2)
        R = rotation_matrix(pose_from_rpy([0, 0, 0], [roll, pitch, yaw]))
        again = rotation_matrix(pose_from_rpy([0, 0, 0], rpy_of_rotation(R)))
        np.testing.assert_allclose(again, R, rtol=0, atol=1e-15)


def test_roll_pitch_yaw_are_turns_about_fixed_x_y_z(rng):
    rpy = rng.uniform(-np.pi, np.pi, 3)
    pose = pose_from_rpy([1.0, 2.0, 3.0], rpy)
    np.testing.assert_array_equal(pose[:3], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(rotation_matrix(pose), elementary(*rpy), atol=1e-15)


def test_angles_there_and_back(rng):
    rpy = rng.uniform(-1.0, 1.0, (50, 3)) * [np.pi, 0.499 * np.pi, np.pi]
    xyz, back = rpy_from_pose(pose_from_rpy(rng.normal(size=3), rpy))
    assert xyz.shape == (50, 3)
    np.testing.assert_allclose(back, rpy, atol=1e-12)


def test_rotations_there_and_back(rng):
    pose = random_pose(rng, 4, 25)
    xyz, rpy = rpy_from_pose(pose)
    assert_same_rotation(pose_from_rpy(xyz, rpy), pose)
    assert (np.abs(rpy) <= [np.pi, 0.5 * np.pi, np.pi]).all()


@pytest.mark.parametrize("end", [-0.5 * np.pi, 0.5 * np.pi])
@pytest.mark.parametrize("off", [0.0, 1e-16, 1e-13, 1e-11, 1e-9, 1e-7, 1e-4])
def test_angles_keep_every_digit_of_the_rotation_at_gimbal_lock(rng, end, off):
    rpy = np.array([rng.uniform(-3, 3), end - np.sign(end) * off, rng.uniform(-3, 3)])
    pose = pose_from_rpy(np.zeros(3), rpy)
    xyz, back = rpy_from_pose(pose)
    assert back[1] == pytest.approx(rpy[1], abs=3e-8 if off < 1e-6 else 1e-11)
    assert_same_rotation(pose_from_rpy(xyz, back), pose)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_roll_is_zero_where_it_cannot_be_distinguished_from_yaw(sign):
    exact = np.array([0.0, 0.0, 0.0, 0.0, sign * np.sqrt(0.5), 0.0, np.sqrt(0.5)])
    _, (roll, pitch, yaw) = rpy_from_pose(exact)
    assert (roll, pitch) == (0.0, pytest.approx(sign * 0.5 * np.pi, abs=1e-15))
    assert yaw == pytest.approx(0.0, abs=1e-15)


def test_a_quaternion_and_its_negative_are_one_rotation(rng):
    pose = random_pose(rng, 20)
    negative = pose * ([1.0] * 3 + [-1.0] * 4)
    np.testing.assert_allclose(rpy_from_pose(negative)[1], rpy_from_pose(pose)[1], atol=1e-14)
    np.testing.assert_allclose(pose_difference(pose, negative), 0.0, atol=1e-15)


def test_a_displacement_leads_from_start_to_goal(rng):
    start, goal = random_pose(rng, 50), random_pose(rng, 50)
    displacement = pose_difference(start, goal)
    assert (np.linalg.norm(displacement[:, 3:], axis=1) <= np.pi).all()
    there = advance_pose(start, displacement)
    np.testing.assert_allclose(there[:, :3], goal[:, :3], atol=1e-15)
    assert_same_rotation(there, goal)


def test_displacements_are_in_the_base_frame():
    quarter = pose_from_rpy(np.zeros(3), [0.0, 0.0, 0.5 * np.pi])
    turned = advance_pose(quarter, [0.0, 0.0, 0.0, 0.1, 0.0, 0.0])
    expected = elementary(0.1, 0.0, 0.0) @ rotation_matrix(quarter)
    np.testing.assert_allclose(rotation_matrix(turned), expected, atol=1e-15)


def test_twists_there_and_back(rng):
    pose, twist = random_pose(rng, 5), rng.normal(size=(5, 6))
    body = twist_in_body(pose, twist)
    np.testing.assert_allclose(twist_in_base(pose, body), twist, atol=1e-15)
    R = rotation_matrix(pose)
    np.testing.assert_allclose(body[:, 3:], np.einsum("nji,nj->ni", R, twist[:, 3:]), atol=1e-15)


@pytest.mark.parametrize(
    ("poses", "twists"), [((), (4,)), ((4,), ()), ((3, 1), (1, 4)), ((0,), ())]
)
def test_poses_and_twists_broadcast(rng, poses, twists):
    pose, twist = random_pose(rng, *poses), rng.normal(size=(*twists, 6))
    shape = np.broadcast_shapes(poses, twists)
    assert twist_in_body(pose, twist).shape == (*shape, 6)
    assert advance_pose(pose, twist).shape == (*shape, 7)
    assert pose_from_rpy(pose[..., :3], twist[..., :3]).shape == (*shape, 7)


@pytest.mark.parametrize("function", [twist_in_body, advance_pose])
def test_shapes_that_do_not_broadcast_are_refused_by_name(rng, function):
    with pytest.raises(InvalidInput, match=r"do not broadcast: pose \(2, 7\), .* \(3, 6\)"):
        function(random_pose(rng, 2), rng.normal(size=(3, 6)))


def test_flatten_makes_one_batch_and_element_finds_it_again():
    shape, (a, b) = flatten(a=np.zeros((2, 1, 4)), b=np.arange(15.0).reshape(5, 3))
    assert (shape, a.shape, b.shape) == ((2, 5), (10, 4), (10, 3))
    assert a.flags.c_contiguous
    assert b.flags.c_contiguous
    assert element(shape, 7) == (1, 2)
    assert element((), 0) == ()


def test_a_composed_pose_takes_points_where_the_two_poses_take_them(rng):
    outer, inner, point = random_pose(rng, 30), random_pose(rng, 30), rng.normal(size=(30, 3, 1))

    def carried(pose, points):
        return rotation_matrix(pose) @ points + pose[..., :3, None]

    both = composed_pose(outer, inner)
    np.testing.assert_allclose(
        carried(both, point), carried(outer, carried(inner, point)), atol=1e-13
    )
    # one against many, too
    np.testing.assert_allclose(composed_pose(outer[0], inner)[3], composed_pose(outer[0], inner[3]))


def test_a_wrench_does_the_same_work_about_whatever_point_it_refers_to(rng):
    """A body that moves with a twist about the base's origin: power is no matter of the frame."""
    pose, wrench, twist = random_pose(rng, 30), rng.normal(size=(30, 6)), rng.normal(size=(30, 6))
    velocity, omega = twist[:, :3], twist[:, 3:]
    there = np.concatenate([velocity + np.cross(omega, pose[:, :3]), omega], axis=1)
    power = (wrench * twist_in_body(pose, there)).sum(axis=1)
    np.testing.assert_allclose(
        (wrench_about_base(pose, wrench) * twist).sum(axis=1), power, atol=1e-13
    )


def test_quaternions_of_rotations_turn_back_into_them(rng):
    """Half turns among them, about the axes and others, where a component is zero."""
    axes = np.vstack([np.eye(3), -np.eye(3), rng.normal(size=(200, 3))])
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    half = Rotation.from_rotvec(np.pi * axes).as_matrix()
    R = np.concatenate([half, np.eye(3)[None], Rotation.random(1000, random_state=rng).as_matrix()])
    quaternion = quaternion_of_rotation(R)
    assert (quaternion[:, 3] >= 0.0).all()
    np.testing.assert_allclose(np.linalg.norm(quaternion, axis=1), 1.0, rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(Rotation.from_quat(quaternion).as_matrix(), R, rtol=0.0, atol=4e-15)
    np.testing.assert_array_equal(quaternion_of_rotation(R[7]), quaternion[7])


def test_matrices_of_poses_are_scipys(rng):
    poses = rd.pose_from_rpy(*rng.uniform(-3.0, 3.0, (2, 5, 2, 3)))
    matrices = rd.matrix_from_pose(poses)
    np.testing.assert_allclose(
        matrices[..., :3, :3], Rotation.from_quat(poses[..., 3:].reshape(-1, 4)).as_matrix()
        .reshape(5, 2, 3, 3), atol=1e-14)  # fmt: skip
    again = rd.pose_from_matrix(matrices)
    np.testing.assert_allclose(rd.matrix_from_pose(again), matrices, atol=1e-14)
    turn = Rotation.from_quat(poses[0, 0, 3:])
    for alone in (turn, turn.as_matrix()):
        found = rd.pose_from_matrix(alone)
        np.testing.assert_allclose(rd.matrix_from_pose(found)[:3, :3], turn.as_matrix(), atol=1e-14)
        assert not found[:3].any()


def test_the_se3_of_pinocchio_is_a_pose(rng):
    pin = pytest.importorskip("pinocchio")
    place = pin.SE3.Random()
    np.testing.assert_allclose(
        rd.matrix_from_pose(rd.pose_from_matrix(place)), place.homogeneous, atol=1e-12
    )


def test_matrices_that_are_no_poses_are_refused():
    mirrored, sheared, projective = np.eye(4), np.eye(4), np.eye(4)
    mirrored[0, 0], sheared[0, 1], projective[3, 0] = -1.0, 0.1, 0.5
    for wrong in (mirrored, sheared, projective, np.eye(2), np.full((3, 3), np.nan)):
        with pytest.raises(InvalidInput, match="matrix"):
            rd.pose_from_matrix(wrong)
