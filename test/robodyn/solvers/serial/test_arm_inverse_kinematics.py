# SPDX-License-Identifier: Apache-2.0

"""Inverse kinematics of arms: the tip reaches its goal, and moves as requested."""

import numpy as np
import pytest
from serial_arms import arm_from_urdf, random_arm

import robodyn as rd
from robodyn.solvers.serial.inverse_kinematics import inverse_motion
from robodyn.trajectories import plan_tip_line


def ranges(arm):
    lower, upper = arm.position_limits.T
    return np.where(np.isfinite(lower), lower, -np.pi), np.where(np.isfinite(upper), upper, np.pi)


def miss(arm, q, pose):
    """Translation and rotation (..., 6) between the tip and a pose."""
    from robodyn.poses import pose_difference

    return np.abs(pose_difference(arm.body_pose(q), pose)).max()


SEVEN = """<robot name="seven"><link name="base"/>{links}</robot>"""


def seven_joints():
    """An arm with a shoulder, an elbow and a wrist of three axes, two of them, and an elbow."""
    axes = ["0 0 1", "0 1 0", "0 0 1", "0 1 0", "0 0 1", "0 1 0", "0 0 1"]
    lifts = [0.34, 0.0, 0.40, 0.0, 0.40, 0.0, 0.126]
    parts, parent = [], "base"
    for i, (axis, lift) in enumerate(zip(axes, lifts, strict=True)):
        parts.append(
            f'<link name="l{i}"><inertial><mass value="2"/><inertia ixx="0.01" ixy="0" ixz="0" '
            'iyy="0.01" iyz="0" izz="0.01"/></inertial></link>'
            f'<joint name="j{i}" type="revolute"><parent link="{parent}"/><child link="l{i}"/>'
            f'<origin xyz="0 0 {lift}"/><axis xyz="{axis}"/>'
            '<limit lower="-2.9" upper="2.9" effort="100" velocity="2"/></joint>'
        )
        parent = f"l{i}"
    return rd.load(SEVEN.format(links="".join(parts)))


@pytest.mark.parametrize("name", ["puma560", "stanford_arm"])
def test_every_pose_of_the_workspace_is_reached_from_home(name, rng):
    arm = rd.load(name)
    lower, upper = ranges(arm)
    for q in rng.uniform(lower, upper, (60, arm.n)):
        pose = arm.body_pose(q)
        found = arm.inverse_kinematics(pose)
        assert miss(arm, found, pose) < 1e-9
        assert (found >= arm.position_limits[:, 0]).all()
        assert (found <= arm.position_limits[:, 1]).all()


def test_the_solution_is_the_one_near_the_guess(puma, rng):
    lower, upper = ranges(puma)
    q = rng.uniform(lower, upper, (200, 6))
    q = q[puma.condition_number(q) < 50.0]
    guess = np.clip(q + rng.uniform(-1e-3, 1e-3, q.shape), *puma.position_limits.T)
    assert np.abs(puma.inverse_kinematics(puma.body_pose(q), guess) - q).max() < 1e-9


def test_a_pose_out_of_reach_is_refused_with_the_distance(puma):
    pose = puma.body_pose(puma.home)
    pose[:3] = [3.0, 0.0, 0.0]
    with pytest.raises(rd.NoSolution, match="misses by") as caught:
        puma.inverse_kinematics(pose)
    assert caught.value.residual > 1.0


def test_rates_and_accelerations_are_those_of_the_tip(rng):
    """Against central differences of the tip's pose along the joints' motion."""
    arm = random_arm(rng, n=6)
    every = rng.normal(size=(400, 6))
    # the twenty that are furthest from singular: some arms hardly move in one direction
    q = every[np.argsort(arm.condition_number(every))[:20]]
    worst = float(arm.condition_number(q).max())
    qd, qdd = rng.normal(size=(2, 20, 6))
    h = 1e-4
    twist = np.einsum("sij,sj->si", arm.jacobian(q), qd)

    def twist_at(t):
        return np.einsum("sij,sj->si", arm.jacobian(q + t * qd + 0.5 * t * t * qdd), qd + t * qdd)

    accel = (twist_at(h) - twist_at(-h)) / (2.0 * h)
    found = inverse_motion(arm, q, twist, accel)
    assert np.abs(found.velocity - qd).max() < 1e-12 * worst * max(1.0, np.abs(qd).max())
    # the difference is of second order, and its rounding is h away
    assert np.abs(found.acceleration - qdd).max() < 1e-5 * worst * max(1.0, np.abs(accel).max())


@pytest.mark.parametrize("arm", [rd.load("puma560"), seven_joints()], ids=["puma", "seven"])
def test_the_tip_runs_straight_and_the_joints_consistently(arm):
    start = arm.home + 0.3 * np.array([1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])[: arm.n]
    start[1] += 0.2
    here = arm.body_pose(start)
    goal = here.copy()
    goal[:3] += [-0.05, 0.1, -0.12]
    line = rd.plan_line(here, goal, duration=2.0)
    joints = plan_tip_line(arm, start, goal, duration=2.0)
    t = np.linspace(0.0, 2.0, 401) + 1e-3
    t = t[t < 2.0]
    motion = joints.sample(t)
    assert miss(arm, motion.configuration, line.sample(t).configuration) < 1e-8
    h = 1e-4
    inside = t[(t > h) & (t < 2.0 - h)]
    ahead, backward = joints.sample(inside + h), joints.sample(inside - h)
    middle = joints.sample(inside)
    rate = (ahead.configuration - backward.configuration) / (2.0 * h)
    assert np.abs(rate - middle.velocity).max() < 1e-6
    # where accelerations jump the difference straddles two blends
    smooth = ~np.isclose(inside[:, None], line.switching_times, atol=0.011).any(axis=1)
    change = (ahead.velocity - backward.velocity) / (2.0 * h)
    assert np.abs(change - middle.acceleration)[smooth].max() < 2e-3


def test_the_tip_is_turned_no_further_than_the_limits_let_it():
    arm = arm_from_urdf(
        '<robot name="one"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
        '<link name="tip"/><joint name="j" type="revolute"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        '<joint name="f" type="fixed"><parent link="b"/><child link="tip"/>'
        '<origin xyz="0.5 0 0"/></joint></robot>'
    )
    assert arm.inverse_kinematics(arm.body_pose([0.9])) == pytest.approx([0.9], abs=1e-12)
    with pytest.raises(rd.NoSolution, match="position alone"):
        arm.inverse_kinematics(arm.body_pose([1.1]))
