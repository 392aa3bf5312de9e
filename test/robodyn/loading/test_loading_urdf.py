# SPDX-License-Identifier: Apache-2.0

"""URDF with closures: equal to the YAML models, and true to the zero convention."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import urdf_kinematics as independent
from six_legs import LegLimits, six_legs

import robodyn as rd
from robodyn.algorithms import comparison, geometry_of
from robodyn.model import differences
from robodyn.presentation import presentation
from robodyn.solvers.stewart.drawing import platform_urdf
from robodyn.solvers.stewart.leg_shape import universal_zero_frame

URDF = Path(__file__).parents[3] / "urdf"
BUNDLED = ("stewart_dasgupta", "stewart_symmetric", "motion_platform")


@pytest.mark.slow
@pytest.mark.parametrize("name", BUNDLED)
def test_xacro_equals_yaml(name, quiet_load, capfd):
    assert differences(quiet_load(URDF / f"{name}.urdf.xacro"), quiet_load(name), 1e-14) == []
    assert quiet_load(str(URDF / f"{name}.urdf.xacro")) == quiet_load(name)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.parametrize("name", BUNDLED)
def test_ros2_control_block_is_off_by_default_and_right_when_on(name, quiet_load):
    from robodyn.formats import expand_xacro, parse_xml

    path = URDF / f"{name}.urdf.xacro"
    # nothing, or what drives the legs
    for system in parse_xml(expand_xacro(path), name).iterfind("ros2_control"):
        assert {part.tag for part in system.iterfind("joint/*")} == {"param"}
        assert {part.tag for part in system} == {"joint"}
    text = expand_xacro(path, {"ros2_control": "true"})
    assert quiet_load(text) == quiet_load(name)
    block = parse_xml(text, name).find("ros2_control")
    plugin = block.findtext("hardware/plugin")
    assert plugin == "joint_state_topic_hardware_interface/JointStateTopicSystem"
    joints = block.findall("joint")
    assert [joint.get("name") for joint in joints] == [f"leg{i}_actuator" for i in range(1, 7)]
    lengths = [float(joint.findtext("state_interface/param")) for joint in joints]
    model = quiet_load(name)
    np.testing.assert_allclose(lengths, natural_values(model, model.home)[:, 2], atol=1e-7)
    mock = "mock_components/GenericSystem"
    given = expand_xacro(path, {"ros2_control": "true", "plugin": mock})
    assert parse_xml(given, name).findtext("ros2_control/hardware/plugin") == mock


def test_export_round_trip(model, quiet_load, capfd):
    read = quiet_load(platform_urdf(model.made()))
    assert differences(read, model, 1e-13) == []
    assert read == model
    again = rd.load(platform_urdf(model.made()))
    assert (again.name, *again.frames) == ("random_machine", "base_link", "platform_link")
    assert again.all_joint_names == model.made().all_joint_names
    assert capfd.readouterr() == ("", "")


def test_own_convention_reads_as_natural_values(model, quiet_load):
    natural = np.array([0.3, -0.2, 1.1])
    for leg in rd.load(platform_urdf(model.made())).structure.legs:
        np.testing.assert_allclose(readings(leg, natural), natural, atol=1e-14)


def test_export_without_home_and_limits(model, quiet_load):
    legs = tuple(replace(leg, limits=LegLimits()) for leg in model.legs)
    bare = replace(model, home=None, legs=legs)
    assert quiet_load(platform_urdf(bare.made())) == bare


@pytest.mark.parametrize(
    "axis", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, -1, 0), (1, 2, 0), (3, 0, 4)]
)
def test_export_of_special_axes(axis, model, quiet_load):
    legs = tuple(replace(leg, universal_axis=np.array(axis, float)) for leg in model.legs)
    turned = replace(model, legs=legs)
    assert quiet_load(platform_urdf(turned.made())) == turned


def test_tilted_base_keeps_the_direction_of_gravity(model, rng, quiet_load):
    down = rng.normal(size=3)
    hung = replace(model, gravity=9.81 * down / np.linalg.norm(down))
    assert quiet_load(platform_urdf(hung.made())) == hung


def test_models_differ_where_they_differ(model):
    other = replace(
        model,
        platform=replace(model.platform, mass=model.platform.mass + 1e-6),
        legs=(replace(model.legs[0], base=model.legs[0].base + 1e-3), *model.legs[1:]),
        name="other",
    )
    found = comparison.differences(model.made(), other.made())
    assert [line.split(":")[0] for line in found] == ["platform.mass", "legs[0].base"]
    assert model.made() != other.made()
    assert model.made() == replace(model, name="other").made()
    assert model.made() != replace(model, home=None).made()


def test_opposite_quaternions_are_one_home(model):
    flipped = np.concatenate([model.home[:3], -model.home[3:]])
    assert replace(model, home=flipped).made() == model.made()


def test_tips_meet_the_platform(model, rng):
    """Forward kinematics of the URDF tree, by scipy, closes all six loops at natural values."""
    tree = independent.Tree(platform_urdf(model.made()))
    for pose in (model.home, independent.near(model.home, rng)):
        values = {"platform_joint": independent.matrix(pose)}
        legs = model.made().structure.legs
        for leg, natural in zip(legs, natural_values(model, pose), strict=True):
            joints = (joint.name for joint in leg.shape.readings)
            values |= dict(zip(joints, natural, strict=True))
        for leg_point, platform_point in tree.closures(values):
            np.testing.assert_allclose(leg_point, platform_point, atol=1e-12)
        # and the frames of both leg parts are the leg frame: x along the leg, y along k x s
        for index, leg in enumerate(model.legs, start=1):
            frame = tree.frame(f"leg{index}_lower", values)
            tip = independent.matrix(pose) @ [*leg.platform, 1]
            s = tip[:3] - leg.base
            s /= np.linalg.norm(s)
            y = np.cross(leg.universal_axis, s)
            np.testing.assert_allclose(frame[:3, 0], s, atol=1e-12)
            np.testing.assert_allclose(frame[:3, 1], y / np.linalg.norm(y), atol=1e-12)
            np.testing.assert_allclose(frame[:3, 3], leg.base, atol=1e-12)


def test_general_urdf_gives_the_same_model(model, rng, quiet_load, capfd):
    """Other frames, zeros, signs, names, order, swapped closures, split bodies: one mechanism."""
    text = independent.scrambled(platform_urdf(model.made()), rng)
    read = quiet_load(text)
    assert differences(read, model, 1e-11) == []
    assert rd.load(text).frames == ("my_base_link", "my_platform_link")
    assert capfd.readouterr() == ("", "")


def test_general_urdf_closes_at_its_own_joint_values(model, rng, quiet_load):
    text = independent.scrambled(platform_urdf(model.made()), rng)
    legs, tree = rd.load(text).structure.legs, independent.Tree(text)
    pose = independent.near(model.home, rng)
    values = {"my_platform_joint": independent.matrix(pose)}
    for leg, natural in zip(legs, natural_values(model, pose), strict=True):
        joints = (joint.name for joint in leg.shape.readings)
        values |= dict(zip(joints, readings(leg, natural), strict=True))
    for one, other in tree.closures(values):
        np.testing.assert_allclose(one, other, atol=1e-11)


@pytest.mark.slow
def test_a_general_urdf_with_other_dimensions_keeps_its_links(model, rng):
    """As the same change of the short form, although no frame is where that has it."""
    own = rd.load(platform_urdf(model.made()))
    other = rd.load(independent.scrambled(platform_urdf(model.made()), rng))
    nominal = np.array([each.value for each in geometry_of(own).parameters])
    values = nominal + 0.02 * rng.normal(size=len(nominal))
    found = geometry_of(other).with_geometry(values)
    expected = geometry_of(own).with_geometry(values)
    assert differences(six_legs(found), six_legs(expected), 1e-11) == []
    offsets = expected.drives.offsets - own.drives.offsets
    np.testing.assert_allclose(found.drives.offsets - other.drives.offsets, offsets, atol=1e-12)
    assert rd.link_names(found) == rd.link_names(other)
    # and a leg is as long as the changed dimensions say
    table = values.reshape(6, 9)
    tips = independent.matrix(model.home) @ np.column_stack([table[:, 3:6], np.ones(6)]).T
    lengths = np.linalg.norm(tips.T[:, :3] - table[:, :3], axis=1)
    np.testing.assert_allclose(found.joint_positions(model.home), lengths, atol=1e-11)


def test_a_general_urdf_is_drawn_like_the_short_form(model, rng):
    own = rd.load(platform_urdf(model.made()))
    other = rd.load(independent.scrambled(platform_urdf(model.made()), rng))
    shapes = [presentation.figure(m).shapes for m in (own, other)]
    kinds = [sorted((shape.kind, *np.round(shape.size, 5)) for shape in some) for some in shapes]
    assert kinds[0] == kinds[1]
    spheres = [sorted(sphere_centers(m, model.home)) for m in (own, other)]
    np.testing.assert_allclose(*spheres, atol=1e-9)


def sphere_centers(platform, pose):
    """The spheres' centers at a pose, in the frame of the base, with their radius first."""
    figure, states = presentation.figure(platform), platform.joint_states(pose)
    poses = presentation.floating_poses(platform, pose)
    frames = figure.link_frames(dict(zip(states.names, states.positions, strict=True)), poses)
    base = np.linalg.inv(frames[figure.index(platform.frames[0])])
    return [
        (shape.size[0], *(base @ frames[figure.index(shape.link)] @ shape.place)[:3, 3].round(10))
        for shape in figure.shapes
        if shape.kind == "sphere"
    ]


def readings(leg, natural):
    """Return a leg's joint readings at natural values q1, q2, L (3,); angles in [-pi, pi)."""
    pairs = zip(leg.shape.readings, natural, strict=True)
    values = np.array([joint.sign * (value - joint.offset) for joint, value in pairs])
    values[:2] = (values[:2] + np.pi) % (2.0 * np.pi) - np.pi
    return values


def natural_values(model, pose):
    """q1, q2, L (6, 3) of a pose, from the definition s = [h u k] Rz(q1) Ry(q2) ex."""
    out = []
    for leg in model.legs:
        S = (independent.matrix(pose) @ [*leg.platform, 1])[:3] - leg.base
        h, u, k = universal_zero_frame(leg.universal_axis).T
        np.testing.assert_allclose(np.cross(h, u), k, atol=1e-15)
        s = S / np.linalg.norm(S)
        out.append([np.arctan2(s @ u, s @ h), -np.arcsin(s @ k), np.linalg.norm(S)])
    return np.array(out)


def test_prefixes_that_nothing_declares_are_passed_over():
    """As vendors write them for Gazebo's controllers; the parsers of ROS know no namespaces."""
    arm = rd.load(
        '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="2"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
        '<joint name="j" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '<limit lower="0" upper="1" effort="9" velocity="1"/></joint>'
        '<controller:manager name="m" plugin="p"/></robot>'
    )
    assert arm.gravity([0.0]) == pytest.approx([2 * 9.81])
