# SPDX-License-Identifier: Apache-2.0

"""MoveIt's files for a closed loop's tip: a tree of joints whose poses the mechanism can take."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from urdf_parser_py.urdf import URDF

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.errors import InvalidInput, OutputError
from robodyn.formats import parse_xml
from robodyn.planning.moveit import moveit
from robodyn.poses import rotation_matrix
from robodyn.trajectories import TipJoints, space_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["delta", "stewart_symmetric"])
def package(request, tmp_path_factory):
    m = rd.load(request.param)
    folder = tmp_path_factory.mktemp(m.name)
    files = moveit(m, folder)
    return m, TipJoints(m), folder, files


def pose_of(robot, values):
    """Return the pose (4, 4) of the last link of a chain by its URDF."""
    frame = np.eye(4)
    for joint in robot.joints:
        value, axis, step = values[joint.name], np.array(joint.axis), np.eye(4)
        if joint.type == "prismatic":
            step[:3, 3] = value * axis
        else:
            x = np.cross(np.eye(3), axis)
            step[:3, :3] = np.eye(3) + np.sin(value) * x + (1.0 - np.cos(value)) * x @ x
        frame = frame @ step
    return frame


def test_the_chain_puts_the_tip_where_the_mechanism_has_it(package, rng):
    m, tip, folder, _ = package
    robot = URDF.from_xml_file(str(folder / "config" / f"{m.name}.urdf.xacro"))
    limits = np.array([[j.limit.lower, j.limit.upper] for j in robot.joints])
    assert {j.name for j in robot.joints} == set(tip.independent_joints)
    assert (robot.get_root(), robot.joints[-1].child) == m.frames
    rest = np.zeros((1, len(limits)))
    for values in rng.uniform(*limits.T, (20, len(limits))):
        reported = dict(zip((j.name for j in robot.joints), values, strict=True))
        asked = np.array([[reported[name] for name in tip.independent_joints]])
        q = motions.motion_of_independent(tip, asked, rest, rest, m.home).configuration[0]
        frame = pose_of(robot, reported)
        np.testing.assert_allclose(m.body_pose(q)[:3], frame[:3, 3], atol=1e-8)
        if len(limits) == 6:
            np.testing.assert_allclose(rotation_matrix(m.body_pose(q)), frame[:3, :3], atol=1e-8)
        assert m.drives.within_position_limits(m.joint_positions(q))
        assert m.condition_number(q) < 100.0


def test_files_agree_on_joints_and_groups(package):
    m, tip, folder, files = package
    assert all(file.is_file() for file in files)
    srdf = parse_xml((folder / "config" / f"{m.name}.srdf").read_text(), "srdf")
    chain, home = srdf.find("group/chain"), srdf.find("group_state")
    assert (chain.get("base_link"), chain.get("tip_link")) == m.frames
    assert [j.get("name") for j in home] == list(tip.independent_joints)
    values = [float(j.get("value")) for j in home]
    np.testing.assert_allclose(values, tip.positions(m.home), atol=1e-15)
    read = {name: yaml.safe_load((folder / "config" / f"{name}.yaml").read_text())
            for name in ("kinematics", "joint_limits", "moveit_controllers")}  # fmt: skip
    assert list(read["kinematics"]) == [srdf.find("group").get("name")]
    assert list(read["joint_limits"]["joint_limits"]) == list(tip.independent_joints)
    simple = read["moveit_controllers"]["moveit_simple_controller_manager"]["inverse_dynamics"]
    assert simple["joints"] == list(tip.independent_joints)
    compile((folder / "launch" / "move_group.launch.py").read_text(), "launch", "exec")
    assert parse_xml((folder / "package.xml").read_text(), "package").tag == "package"


def test_all_joints_at_their_rates_stay_below_those_of_the_drives(package, rng):
    m, tip, folder, _ = package
    limits = yaml.safe_load((folder / "config" / "joint_limits.yaml").read_text())["joint_limits"]
    rates = np.array([limits[name]["max_velocity"] for name in tip.independent_joints])
    here = tip.positions(m.home)[None]
    for signs in rng.choice([-1.0, 1.0], (8, len(rates))):
        motion = motions.motion_of_independent(tip, here, (signs * rates)[None], 0.0 * here, m.home)
        driven = m.joint_velocities(motion.configuration[0], motion.velocity[0])
        assert (np.abs(driven) <= m.velocity_limits).all()


def test_motions_of_the_tip_are_found_again(package, rng):
    """Positions, rates and accelerations, there and back."""
    m, tip, _, _ = package
    n = len(tip.rows)
    here = tip.positions(m.home) + rng.uniform(-0.02, 0.02, (1, n))
    rate, change = rng.uniform(-0.1, 0.1, (2, 1, n))
    motion = motions.motion_of_independent(tip, here, rate, change, m.home)
    found = motions.independent_motion(tip, *(part[0] for part in motion))
    for one, expected in zip(found, (here, rate, change), strict=True):
        np.testing.assert_allclose(one, expected[0], atol=1e-7)


def test_names_tell_whose_joints_are_meant(package):
    m, tip, folder, _ = package
    assert space_of(m, m.independent_joints) is m
    assert isinstance(space_of(m, tip.independent_joints[::-1]), TipJoints)
    with pytest.raises(OutputError, match="exists"):
        moveit(m, folder)


def test_moveit_refuses_mechanisms_that_the_tip_does_not_determine(tmp_path):
    with pytest.raises(InvalidInput, match="does not determine"):
        moveit(rd.load("stewart_symmetric", base="moving"), tmp_path)
