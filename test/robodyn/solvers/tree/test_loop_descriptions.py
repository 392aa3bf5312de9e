# SPDX-License-Identifier: Apache-2.0
"""Descriptions of closed loops: what is read from them, and which are refused."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import comparison, conditioning

BAR = (
    '<inertial><origin xyz="{half} 0 0"/><mass value="1"/><inertia ixx="0.001" ixy="0" ixz="0" '
    'iyy="0.02" iyz="0" izz="0.02"/></inertial>'
)
# A four-bar linkage in the plane y = 0, closed between the ends of two chains.
FOURBAR = """<robot name="fourbar">
  <link name="base_link"/>
  <link name="crank">{crank}</link><link name="coupler">{coupler}</link>
  <link name="rocker">{rocker}</link>
  <joint name="motor" type="continuous"><parent link="base_link"/><child link="crank"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="knee" type="continuous"><parent link="crank"/><child link="coupler"/>
    <origin xyz="0.1 0 0"/><axis xyz="0 1 0"/></joint>
  <joint name="pivot" type="continuous"><parent link="base_link"/><child link="rocker"/>
    <origin xyz="{apart} 0 0"/><axis xyz="0 1 0"/></joint>
  <constraint name="loop" type="{kind}">
    <parent link="coupler"/><parent_origin xyz="0.4 0 0"/><parent_axis xyz="0 1 0"/>
    <child link="rocker"/><child_origin xyz="0.3 0 0"/><child_axis xyz="0 1 0"/>
  </constraint>
  <ros2_control name="fourbar" type="system"><hardware><plugin>x/Y</plugin></hardware>{drives}
  </ros2_control>
</robot>"""
DRIVE = (
    '<joint name="{}"><command_interface name="effort"/><state_interface name="position"/></joint>'
)


def fourbar(kind="revolute", apart=0.4, driven=("motor",)):
    bars = {name: BAR.format(half=0.1) for name in ("crank", "coupler", "rocker")}
    drives = "".join(DRIVE.format(name) for name in driven)
    return FOURBAR.format(**bars, kind=kind, apart=apart, drives=drives)


@pytest.mark.parametrize(
    ("kind", "equations"), [("spherical", 3), ("revolute", 5), ("cylindrical", 4)]
)
def test_the_rank_is_found_and_not_counted(kind, equations):
    """A four-bar moves in one way, for any number of equations that make it planar."""
    found = conditioning.loop_analysis(rd.load(fourbar(kind)))
    assert (found["equations"], found["rank"], found["mobility"]) == (equations, 2, 1)
    assert found["motors_suffice"]


@pytest.mark.slow
def test_a_loop_that_cannot_close_is_named_with_what_it_is_open_by():
    with pytest.raises(rd.ModelError, match="'loop' stays open by") as reported:
        rd.load(fourbar(apart=2.0))
    # bars of 0.1, 0.4 and 0.3 m reach 0.8 of 2 m
    assert reported.value.value > 0.1


def test_too_few_motors_are_reported_with_the_joints_that_still_move():
    document = fourbar().replace(
        "</robot>",
        '<link name="tail">' + BAR.format(half=0.1) + "</link>"
        '<joint name="hinge" type="continuous"><parent link="rocker"/>'
        '<child link="tail"/><axis xyz="0 1 0"/></joint></robot>',
    )
    loose = rd.load(document)
    found = conditioning.loop_analysis(loose)
    assert not found["motors_suffice"]
    assert found["loose_joints"] == ["hinge"]
    assert found["condition_numbers"]["force"] is None
    rest = np.zeros(2)
    with pytest.raises(rd.UnderActuated, match="hinge"):
        loose.inverse_dynamics(loose.home, rest, rest)
    assert np.isfinite(loose.forward_dynamics(loose.home, rest, [0.0])).all()


@pytest.mark.parametrize(
    "axis", ["0 0 0", None]
)  # exporters write a zero axis for joints that have none
def test_fixed_joints_need_no_axis(axis):
    line = "" if axis is None else f'<axis xyz="{axis}"/>'
    document = fourbar().replace(
        "</robot>",
        '<link name="tool"/><joint name="flange" type="fixed"><parent link="coupler"/>'
        f'<child link="tool"/>{line}</joint></robot>',
    )
    assert rd.load(document).frames[1] == "tool"


def gepetto(folder, text, urdf):
    (folder / "robot.yaml").write_text(text)
    (folder / "robot.urdf").write_text(urdf)
    return folder / "robot.yaml"


@pytest.mark.slow
def test_a_ball_joint_of_the_tree_becomes_a_closure(tmp_path):
    """The loop cut at its ball joint, and the same loop with that joint in the tree."""
    names = "closed_loop: [[end_a, end_b]]\ntype: [6d]\nname_mot: [motor]\n"
    changed = "joint_name: [knee]\njoint_type: [SPHERICAL]\n"
    frames = (
        '<link name="end_a"/><joint name="a" type="fixed"><parent link="coupler"/>'
        '<child link="end_a"/><origin xyz="0.4 0 0"/><axis xyz="0 0 0"/></joint>'
        '<link name="end_b"/><joint name="b" type="continuous"><parent link="rocker"/>'
        '<child link="end_b"/><origin xyz="0.3 0 0"/><axis xyz="0 1 0"/></joint></robot>'
    )
    start = fourbar().index("<constraint")
    end = fourbar().index("</constraint>") + len("</constraint>")
    urdf = (fourbar()[:start] + fourbar()[end:]).replace("</robot>", frames)
    held = rd.load(gepetto(tmp_path, names + changed, urdf))
    plain = rd.load(fourbar())
    assert (
        conditioning.loop_analysis(held)["freedoms"]
        == conditioning.loop_analysis(plain)["freedoms"]
        == 1
    )
    # the same machine where the ball joint turns about one axis only
    q = held.assemble([0.7], guess={"pivot": plain.home[2], "motor": 0.7})
    p = plain.assemble([0.7])
    tip = held.link_pose(q, "rocker"), plain.link_pose(p, "rocker")
    np.testing.assert_allclose(tip[0][:3], tip[1][:3], atol=1e-10)
    rd.save(held, tmp_path / "saved.urdf")  # the joint floats there, for any type in the URDF
    assert rd.load(tmp_path / "saved.urdf") == held
    bad = names + changed.replace("SPHERICAL", "SCREW")
    with pytest.raises(rd.ModelError, match="SCREW"):
        rd.load(gepetto(tmp_path, bad, urdf))


GEARED = {"rotor_inertia": "2e-4", "gear_ratio": "-50", "coulomb": "3", "torque_limit": "0.5"}


def geared(**params):
    lines = "".join(f'<param name="{name}">{text}</param>' for name, text in params.items())
    return fourbar().replace('<joint name="motor"><command', f'<joint name="motor">{lines}<command')


def beside(folder, actuators, urdf=None):
    (folder / "fourbar.urdf").write_text(urdf or fourbar())
    file = folder / "fourbar.yaml"
    lines = "\n".join(f"  {joint}: {block}" for joint, block in actuators.items())
    file.write_text(f"type: closed_loop\nurdf: fourbar.urdf\nactuators:\n{lines}\n")
    return file


def test_actuators_in_urdf_and_yaml_are_the_same(tmp_path):
    loop = rd.load(geared(**GEARED))
    block = "{rotor_inertia: 2.0e-4, gear_ratio: -50, coulomb: 3.0, torque_limit: 0.5}"
    again = rd.load(beside(tmp_path, {"motor": block}))
    assert again.actuators == loop.actuators
    assert comparison.differences(again, loop) == []
    (motor,) = loop.actuators
    assert (motor.rotor_inertia, motor.coulomb) == (2e-4, 3.0)
    assert loop.effort_limits == pytest.approx([25.0])
    assert loop.motor_torques([10.0]) == pytest.approx([-0.2])
    plain = rd.load(fourbar())
    more = loop.mass_matrix(loop.home) - plain.mass_matrix(plain.home)
    assert more[0, 0] == pytest.approx(2e-4 * 50.0**2)  # on the base, which does not turn
    assert comparison.differences(loop.without_actuators(), plain) == []
    rough = loop.inverse_dynamics(loop.home, [-0.5], [0.0])
    smooth = plain.inverse_dynamics(plain.home, [-0.5], [0.0])
    assert rough - smooth == pytest.approx([-3.0])


def test_actuators_that_are_not_right_are_refused(tmp_path):
    for actuators, urdf, message in (
        ({"knee": "{rotor_inertia: 1.0e-4}"}, None, "unknown field actuators.knee"),
        ({"motor": "{lead: 0.01}"}, None, "lead of 0.01 m, but the joint is not prismatic"),
        ({"motor": "{rotor_inertia: 1.0e-4}"}, geared(**GEARED), "state it once, or with the same"),
        ({"motor": "{coulomb: 1.0}"}, geared(coulomb="2"), "state it once, or with the same"),
    ):
        with pytest.raises(rd.ModelError, match=message):
            rd.load(beside(tmp_path, actuators, urdf))
    with pytest.raises(rd.ModelError, match="torque_limit"):
        rd.load(geared(torque_limit="often"))
