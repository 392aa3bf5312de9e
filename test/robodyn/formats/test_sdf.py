# SPDX-License-Identifier: Apache-2.0

"""SDF: mechanisms equal to those of a URDF, loops by second parents, and rejections by name."""

import warnings

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import LeftOutWarning, MissingInertiaWarning, ModelError
from robodyn.parsing.sdf.reader import read_sdf

INERTIAL = "<mass>2</mass><inertia><ixx>.02</ixx><iyy>.03</iyy><izz>.04</izz></inertia>"
# Frames given relative to each other, a joint off its link's origin, an axis in another frame.
ARM = f"""<sdf version="1.9"><model name="arm" canonical_link="base">
  <pose>1 2 3 0 0 0</pose>
  <frame name="shelf" attached_to="base"><pose degrees="true">0 0 0.4 0 90 0</pose></frame>
  <link name="base"><inertial>{INERTIAL}</inertial></link>
  <link name="turret"><pose relative_to="shelf">0.1 0 0 0 -0.3 0</pose>
    <inertial><pose>0.1 0 0.02 0.3 0 0</pose>{INERTIAL}</inertial></link>
  <link name="boom"><pose relative_to="lift"/><inertial>{INERTIAL}</inertial></link>
  <joint name="pan" type="revolute"><parent>base</parent><child>turret</child>
    <pose>0.05 0.02 0 0 0 0</pose>
    <axis><xyz expressed_in="__model__">0 0 2</xyz><limit><lower>-1</lower><upper>2</upper>
      <effort>50</effort><velocity>3</velocity></limit>
      <dynamics><damping>0.4</damping><friction>0.7</friction></dynamics></axis></joint>
  <joint name="lift" type="prismatic"><parent>turret</parent><child>boom</child>
    <pose relative_to="turret">0.3 0.1 0 0.2 0.1 -0.4</pose><axis><xyz>0 1 1</xyz></axis></joint>
</model></sdf>"""

SAME = f"""<robot name="arm"><link name="base"/><link name="anchor"/>
  <link name="turret"><inertial><origin xyz="0.1 0 0.02" rpy="0.3 0 0"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="boom"><inertial><mass value="2"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shelf" type="fixed"><parent link="base"/><child link="anchor"/>
    <origin xyz="0 0 0.4" rpy="0 1.5707963267948966 0"/></joint>
  <link name="tilted"/><link name="pivot"/>
  <joint name="seat" type="fixed"><parent link="anchor"/><child link="tilted"/>
    <origin xyz="0.1 0 0" rpy="0 -0.3 0"/></joint>
  <joint name="pan" type="revolute"><parent link="tilted"/><child link="pivot"/>
    <origin xyz="0.05 0.02 0"/><axis xyz="{-np.sin(np.pi / 2 - 0.3)} 0 {np.cos(np.pi / 2 - 0.3)}"/>
    <limit lower="-1" upper="2" effort="50" velocity="3"/>
    <dynamics damping="0.4" friction="0.7"/></joint>
  <joint name="back" type="fixed"><parent link="pivot"/><child link="turret"/>
    <origin xyz="-0.05 -0.02 0"/></joint>
  <joint name="lift" type="prismatic"><parent link="turret"/><child link="boom"/>
    <origin xyz="0.3 0.1 0" rpy="0.2 0.1 -0.4"/><axis xyz="0 1 1"/>
    <limit effort="0" velocity="0"/></joint>
</robot>"""

FOUR_BAR = f"""<sdf version="1.7"><world name="w"><gravity>0 -9.7 0.1</gravity>
  <model name="ground"><static>true</static><link name="g"/></model>
  <model name="four_bar">
    <link name="crank"><inertial>{INERTIAL}</inertial></link>
    <link name="rod"><pose>0.3 0 0 0 0 0</pose><inertial>{INERTIAL}</inertial></link>
    <link name="rocker"><pose>0.7 -0.3 0 0 0 0</pose><inertial>{INERTIAL}</inertial></link>
    <joint name="a" type="revolute"><parent>world</parent><child>crank</child>
      <axis><xyz>0 0 1</xyz></axis></joint>
    <joint name="b" type="revolute"><parent>crank</parent><child>rod</child>
      <axis><xyz>0 0 1</xyz></axis></joint>
    <joint name="c" type="revolute"><parent>world</parent><child>rocker</child>
      <axis><xyz>0 0 1</xyz></axis></joint>
    <joint name="d" type="revolute"><parent>rod</parent><child>rocker</child>
      <pose>0.1 0.35 0 0 0 0</pose>
      <axis><xyz>0 0 1</xyz><dynamics><damping>0.2</damping></dynamics></axis></joint>
    <plugin filename="gz-sim-joint-controller-system" name="gz::sim::systems::JointController">
      <joint_name>a</joint_name></plugin>
  </model></world></sdf>"""


def loaded(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rd.load(text)


def test_an_arm_is_the_one_that_a_urdf_says(rng):
    arm, same = loaded(ARM), loaded(SAME)
    assert arm.joint_names == same.joint_names == ("pan", "lift")
    assert arm.effort_limits.tolist() == [50.0, np.inf]
    for _ in range(3):
        q, qd, qdd = rng.uniform(-1.0, 1.0, (3, 2))
        expected = same.inverse_dynamics(q, qd, qdd)
        np.testing.assert_allclose(
            arm.inverse_dynamics(q, qd, qdd), expected, rtol=1e-12, atol=1e-12
        )
        poses = arm.forward_kinematics(q), same.forward_kinematics(q)
        np.testing.assert_allclose(*poses, atol=1e-12)


def test_a_second_parent_closes_a_loop(rng):
    """The world's gravity, the joint that a plugin drives, a closure with a damper."""
    with pytest.warns(LeftOutWarning, match="model 'ground': ignored the whole model"):
        bar = rd.load(FOUR_BAR)
    assert (bar.kind, bar.mobility, bar.joint_names) == ("closed_loop", 1, ("a",))
    (closure,) = bar.model.closures
    assert (closure.kind, closure.parent, closure.child) == ("revolute", "rod", "rocker")
    np.testing.assert_allclose(closure.at.translation, [0.5, 0.05, 0.0], atol=1e-15)
    np.testing.assert_allclose(closure.child_at.translation, [0.1, 0.35, 0.0], atol=1e-15)
    assert closure.damping == 0.2
    np.testing.assert_allclose(bar.model.gravity, [0.0, -9.7, 0.1])
    np.testing.assert_allclose(bar.home, np.zeros(3), atol=1e-12)
    effort = bar.inverse_dynamics(bar.home, [0.3], [1.0])
    motion = bar.forward_dynamics(bar.home, [0.3], effort)
    np.testing.assert_allclose(motion, [1.0], rtol=1e-9)


OTHERS = f"""<sdf version="1.11"><model name="others">
  <link name="base"><inertial>{INERTIAL}</inertial></link>
  <model name="hand"><pose relative_to="base">0 0 1 0 0 0</pose>
    <link name="palm"><inertial>{INERTIAL}</inertial></link>
    <link name="thumb"><inertial>{INERTIAL}</inertial></link>
    <joint name="bend" type="revolute"><parent>palm</parent><child>thumb</child>
      <axis><xyz>0 1 0</xyz><mimic joint="curl"><multiplier>2</multiplier><offset>.1</offset>
        <reference>.3</reference></mimic></axis></joint>
    <link name="finger"><inertial>{INERTIAL}</inertial></link>
    <joint name="curl" type="revolute"><parent>palm</parent><child>finger</child>
      <axis><xyz>0 1 0</xyz></axis></joint>
  </model>
  <joint name="wrist" type="universal"><parent>base</parent><child>hand::palm</child>
    <axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>
  <link name="nut"><inertial>{INERTIAL}</inertial></link>
  <joint name="screw" type="screw"><parent>base</parent><child>nut</child>
    <axis><xyz>0 0 1</xyz></axis><screw_thread_pitch>0.01</screw_thread_pitch></joint>
  <link name="bob"><pose>0 0 -1 0 0 0</pose><inertial>{INERTIAL}</inertial></link>
  <joint name="hang" type="ball"><parent>base</parent><child>bob</child>
    <pose>0 0 1 0 0 0</pose></joint>
</model></sdf>"""


def test_joints_of_several_axes_nested_models_and_followers():
    m = rd.load(OTHERS, kind="closed_loop", driven="wrist,wrist_2,hand::curl,screw")
    assert m.mobility == 7  # three of the ball joint
    assert [c.kind for c in m.model.closures] == ["spherical"]
    joints = {joint.name: joint for joint in m.model.joints}
    bend = joints["hand::bend"].mimic
    assert (bend.joint, bend.multiplier) == ("hand::curl", 2.0)
    assert bend.offset == pytest.approx(0.1 - 2.0 * 0.3)
    assert joints["screw_slide"].mimic.multiplier == pytest.approx(0.01 / (2.0 * np.pi))


def test_nested_names_are_written_as_libsdformat_takes_them(tmp_path):
    m = rd.load(OTHERS, kind="closed_loop", driven="wrist,wrist_2,hand::curl,screw")
    rd.save(m, tmp_path / "m.sdf")
    assert "::" not in (tmp_path / "m.sdf").read_text()
    again = rd.load(tmp_path / "m.sdf", kind="closed_loop")
    assert again.joint_names == m.joint_names
    assert [link.name for link in again.model.links] == [link.name for link in m.model.links]


def test_nested_models_may_stand_on_the_world():
    """As libsdformat's own multi-nested model does."""
    m = rd.load(
        """<sdf version="1.9"><model name="outer"><link name="rail"/>
      <joint name="mount" type="fixed"><parent>world</parent><child>rail</child></joint>
      <model name="mid"><pose>1 0 0 0 1.5707963267948966 0</pose><link name="post"/>
        <joint name="stand" type="fixed"><parent>world</parent><child>post</child></joint>
        <link name="arm"/><joint name="turn" type="revolute"><parent>post</parent>
        <child>arm</child><axis><xyz>0 0 1</xyz><limit><effort>1</effort></limit></axis></joint>
      </model></model></sdf>""",
        kind="closed_loop",
    )
    assert m.joint_names == ("mid::turn",)
    np.testing.assert_allclose(m.link_pose(m.home, "mid::arm")[:3], [1.0, 0.0, 0.0], atol=1e-15)


@pytest.mark.parametrize(
    ("old", "new", "reported"),
    [
        ('version="1.7"', 'version="1.2"', r"version '1.2', expected <sdf> of 1.4 to 1.12"),
        ('type="revolute"><parent>rod', 'type="gearbox"><parent>rod', "'d': type is 'gearbox'"),
        ('type="revolute"><parent>rod', 'type="screw"><parent>rod', "'d', which closes a loop"),
        ("<parent>rod<", "<parent>arm<", "joint 'd': parent is 'arm', expected the name of a l"),
        ("<static>true</static>", "<joint/>", "a <joint>|2 models with joints"),
        ("0.1 0.35 0 0 0 0", "0.1 nan 0 0 0 0", "joint 'd': pose is '0.1 nan 0 0 0 0', expected 6"),
        ('name="rod"', 'name="crank"', "expected a name that is unique in its model"),
        ("<xyz>0 0 1</xyz>", "<xyz>0 0 0</xyz>", "axis xyz is '0 0 0'"),
        ("<pose>0.3", '<pose relative_to="rod">0.3', "expected poses without a circular"),
        ("<mass>2<", "<mass>two<", "'crank': inertial: mass value is 'two', expected a f"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::robodyn.errors.LeftOutWarning")
def test_unsupported_sdf_elements_are_refused_by_name(old, new, reported):
    assert old in FOUR_BAR
    with pytest.raises(ModelError, match=reported) as caught:
        rd.load(FOUR_BAR.replace(old, new))
    assert "\n" not in str(caught.value)


def test_before_sdf_1_7_a_joint_may_have_its_links_name():
    """As in published cable robots; libsdformat calls such a joint <name>_joint, too."""
    text = f"""<sdf version="1.4"><model name="old">
      <link name="frame"/><link name="cable"><inertial>{INERTIAL}</inertial></link>
      <joint name="cable" type="prismatic"><parent>frame</parent><child>cable</child>
        <axis><xyz>0 0 1</xyz></axis></joint></model></sdf>"""
    arm = rd.load(text)
    assert arm.joint_names == ("cable_joint",)
    assert arm.frames == ("frame", "cable")
    with pytest.raises(ModelError, match="name of a <joint> is 'cable'"):
        rd.load(text.replace("1.4", "1.7"))


def test_ignored_sdf_elements_are_named():
    more = (
        "<include><uri>model://camera</uri></include><plugin name='gz::Wind'/><link name='crank'>"
    )
    text = FOUR_BAR.replace('<link name="crank">', more).replace(
        "<dynamics><damping>0.2</damping></dynamics>", "<limit><lower>-1</lower></limit>"
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_sdf(text, "m.sdf")
    reported = " ".join(str(one.message) for one in caught)
    for part in ("model://camera", "'gz::Wind'", "joint 'd': ignored limits"):
        assert part in reported
    with pytest.warns(MissingInertiaWarning, match="'crank' without <inertial>: .*1 kg"):
        read = read_sdf(FOUR_BAR.replace(f"<inertial>{INERTIAL}</inertial>", "", 1), "m.sdf")
    assert read.links["crank"].mass == 1.0


def test_a_yaml_file_completes_an_sdf(tmp_path):
    """As it does a URDF: what is driven, and how."""
    text = FOUR_BAR[: FOUR_BAR.index("<plugin")] + "</model></world></sdf>"
    (tmp_path / "bar.sdf").write_text("<!-- gz topic --echo -->" + text)
    (tmp_path / "bar.yaml").write_text(
        "type: closed_loop\nurdf: bar.sdf\nactuated_joints: [c]\nactuators: {c: {gear_ratio: 5}}\n"
    )
    bar = loaded(tmp_path / "bar.yaml")
    assert bar.joint_names == ("c",)
    assert bar.actuators[0].gear_ratio == 5.0


def test_floating_links_and_duplicate_names_survive_saving(tmp_path):
    """A joint may have a link's name in a URDF, but not in SDF; what follows it goes with it."""
    inertial = (
        '<inertial><mass value="2"/><inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" '
        'iyz="0"/></inertial>'
    )
    text = f"""<robot name="r"><link name="world"/><link name="trunk">{inertial}</link>
      <link name="arm">{inertial}</link><link name="tail">{inertial}</link>
      <joint name="free" type="floating"><parent link="world"/><child link="trunk"/>
        <origin xyz="0 0 1" rpy="0.1 0.2 0.3"/>
        <robodyn home="0.1 0 0 0 0 0.6 0.8"/></joint>
      <joint name="arm" type="continuous"><parent link="trunk"/><child link="arm"/>
        <axis xyz="0 1 0"/><robodyn armature="0.3"/></joint>
      <joint name="tail" type="continuous"><parent link="trunk"/><child link="tail"/>
        <axis xyz="1 0 0"/><mimic joint="arm" multiplier="-2" offset="0.1"/></joint>
      <robodyn type="closed_loop" actuated_joints="arm"/></robot>"""
    m = rd.load(text)
    rd.save(m, tmp_path / "m.sdf")
    again = rd.load(tmp_path / "m.sdf")
    assert again == m
    assert again.structure.joint_names == m.structure.joint_names
    np.testing.assert_allclose(again.home, m.home, atol=1e-15)
