# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""Descriptions of closed loops: what is read from them, and which are refused."""

import numpy as np
import pytest

import robodyn as rd

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
    """A four-bar moves in one way, however many equations say that it is planar."""
    found = rd.load(fourbar(kind)).loops_found()
    assert (found["equations"], found["rank"], found["mobility"]) == (equations, 2, 1)
    assert found["motors_suffice"]


def test_a_loop_that_cannot_close_is_named_with_what_it_is_open_by():
    with pytest.raises(rd.ModelError, match="'loop' stays open by") as told:
        rd.load(fourbar(apart=2.0))
    # bars of 0.1, 0.4 and 0.3 m reach 0.8 of 2 m
    assert told.value.value > 0.1


def test_too_few_motors_are_told_with_the_joints_that_still_move():
    document = fourbar().replace(
        "</robot>",
        '<link name="tail">' + BAR.format(half=0.1) + "</link>"
        '<joint name="hinge" type="continuous"><parent link="rocker"/>'
        '<child link="tail"/><axis xyz="0 1 0"/></joint></robot>',
    )
    loose = rd.load(document)
    found = loose.loops_found()
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
    assert held.loops_found()["freedoms"] == plain.loops_found()["freedoms"] == 1
    # the same machine where the ball joint turns about one axis only
    q = held.assemble([0.7], guess={"pivot": plain.home[2], "motor": 0.7})
    p = plain.assemble([0.7])
    tip = held.link_pose(q, "rocker"), plain.link_pose(p, "rocker")
    np.testing.assert_allclose(tip[0][:3], tip[1][:3], atol=1e-10)
    bad = names + changed.replace("SPHERICAL", "SCREW")
    with pytest.raises(rd.ModelError, match="SCREW"):
        rd.load(gepetto(tmp_path, bad, urdf))
