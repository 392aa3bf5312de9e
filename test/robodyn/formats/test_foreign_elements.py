# SPDX-License-Identifier: Apache-2.0

"""Elements for Gazebo, ros2_control and Drake: read, or named in a warning."""

from __future__ import annotations

import math
import re
import warnings

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import LeftOutWarning

INERTIAL = (
    '<inertial><origin xyz="{}"/><mass value="1"/>'
    '<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>'
)


def hinge(name, parent, child, xyz, limit=""):
    kind = "revolute" if limit else "continuous"
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="0 1 0"/>{limit}</joint>'
    )


LIMIT = '<limit lower="-1" upper="1" effort="20" velocity="5"/>'
# a planar four-bar, cut open between coupler and rocker; `pin` stands where they meet
LINKS = "".join(
    f'<link name="{name}">{INERTIAL.format(com)}</link>'
    for name, com in (("crank", "0 0 0.1"), ("coupler", "0.25 0 0"), ("rocker", "0 0 0.1"))
)
TREE = (
    '<link name="world"/>'
    + LINKS
    + hinge("j1", "world", "crank", "0 0 0.5", LIMIT)
    + hinge("j2", "crank", "coupler", "0 0 0.2")
    + hinge("j3", "world", "rocker", "0.5 0 0.5")
)
PIN = (
    '<link name="pin"><inertial><mass value="0"/>'
    '<inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
PIN += hinge("j4", "coupler", "pin", "0.5 0 0")
CLOSED = (
    '<constraint name="loop" type="revolute"><parent link="coupler"/>'
    '<parent_origin xyz="0.5 0 0"/><parent_axis xyz="0 1 0"/><child link="rocker"/>'
    '<child_origin xyz="0 0 0.2"/><child_axis xyz="0 1 0"/></constraint>'
)
PLUGIN = '<gazebo><plugin name="{}" filename="{}">{}</plugin></gazebo>'
JOINT = (
    '<gazebo><joint name="loop" type="revolute"><pose>{}</pose><parent>{}</parent>'
    "<child>rocker</child><axis><xyz>0 1 0</xyz></axis></joint></gazebo>"
)
CLOSINGS = {
    "joint": JOINT.format("0 0 0.2 0 0 0", "coupler"),
    "joint with its axis turned": JOINT.format("0 0 0.2 0 1.5 0", "bar4::coupler"),
    "detachable joint": PIN
    + PLUGIN.format(
        "gz::sim::systems::DetachableJoint",
        "gz-sim-detachable-joint-system",
        "<parent_link>pin</parent_link><child_model>bar4</child_model><child_link>rocker</child_link>",
    ),
    "links attached": PIN
    + PLUGIN.format(
        "attach_links::AttachLinks",
        "attach_links",
        "<joint><parent>pin</parent><child>rocker</child></joint>",
    ),
}


def robot(inside, attributes=""):
    return f'<robot name="bar4" {attributes}>{TREE}{inside}</robot>'


def loaded(text, **options):
    """A mechanism, and the texts of its warnings."""
    with warnings.catch_warnings(record=True) as reported:
        warnings.simplefilter("always")
        mechanism = rd.load(text, **options)
    return mechanism, [str(each.message) for each in reported if each.category is LeftOutWarning]


@pytest.mark.parametrize("way", CLOSINGS)
def test_a_loop_closed_for_gazebo_is_the_same_four_bar(way):
    expected = rd.load(robot(CLOSED))
    made, reported = loaded(robot(CLOSINGS[way]))
    assert made.mobility == expected.mobility == 1
    assert not reported
    for angle in (-0.4, 0.0, 0.3):
        ours, theirs = made.assemble([angle]), expected.assemble([angle])
        assert made.mass_matrix(ours) == pytest.approx(expected.mass_matrix(theirs), rel=1e-9)
        rocker = made.link_pose(ours, "rocker"), expected.link_pose(theirs, "rocker")
        assert rocker[0] == pytest.approx(rocker[1], abs=1e-9)


def test_a_base_fixed_to_the_world_for_gazebo_closes_nothing():
    stand = (
        '<link name="stand"/><joint name="f" type="fixed"><parent link="world"/>'
        '<child link="stand"/></joint><gazebo><joint name="w" type="fixed"><parent>world</parent>'
        "<child>stand</child></joint></gazebo>"
    )
    made, reported = loaded(robot(CLOSED + stand))
    assert (made.mobility, len(made.model.closures), reported) == (1, 1, [])


MIMICS = {
    "plugin": PLUGIN.format(
        "m", "libroboticsgroup_upatras_gazebo_mimic_joint_plugin.so",
        "<joint>j1</joint><mimicJoint>j3</mimicJoint><multiplier>-0.5</multiplier>"
        "<offset>0.1</offset>",
    ),
    "ros2_control": '<ros2_control name="s" type="system"><joint name="j3"><param name="mimic">j1'
    '</param><param name="multiplier">-0.5</param><param name="offset">0.1</param></joint>'
    "</ros2_control>",
}  # fmt: skip


@pytest.mark.parametrize("way", MIMICS)
def test_joints_follow_others_as_simulators_have_it(way):
    made, reported = loaded(robot(MIMICS[way]), kind="closed_loop")
    assert (made.mobility, reported) == (2, [])
    follower = next(joint for joint in made.model.joints if joint.name == "j3")
    assert (follower.mimic.joint, follower.mimic.multiplier, follower.mimic.offset) == (
        "j1", -0.5, 0.1,
    )  # fmt: skip


LEFT_OUT = {
    "drake:ball_constraint": '<drake:ball_constraint><drake:ball_constraint_body_A name="coupler"/>'
    '<drake:ball_constraint_body_B name="rocker"/></drake:ball_constraint>',
    "drake:linear_bushing_rpy": "<drake:linear_bushing_rpy/>",
    "loop_joint": '<loop_joint name="l" type="revolute"><link1 link="coupler"/></loop_joint>',
    "gearbox": '<gearbox name="g"/>',
    "WindEffects": PLUGIN.format("gz::sim::systems::WindEffects", "gz-sim-wind-effects-system", ""),
    "turnGravityOff": '<gazebo reference="crank"><turnGravityOff>true</turnGravityOff></gazebo>',
    "static": "<gazebo><static>true</static></gazebo>",
    "kinematic": '<gazebo reference="crank"><kinematic>1</kinematic></gazebo>',
    "velocity_decay": '<gazebo reference="crank"><velocity_decay><linear>0.2</linear>'
    "</velocity_decay></gazebo>",
    "include": "<gazebo><include><uri>model://box</uri></include></gazebo>",
    "other": PLUGIN.format(
        "DetachableJoint", "gz-sim-detachable-joint-system",
        "<parent_link>crank</parent_link><child_model>other</child_model><child_link>x</child_link>",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", LEFT_OUT)
def test_ignored_elements_that_may_change_the_motion_are_named(what):
    _, reported = loaded(robot(LEFT_OUT[what]), kind="closed_loop")
    assert len(reported) == 1
    assert what in reported[0]


def test_elements_that_change_no_motion_are_passed_over():
    harmless = (
        PLUGIN.format("gz_ros2_control::GazeboSimROS2ControlPlugin", "gz_ros2_control-system", "")
        + '<gazebo reference="crank"><material>Gazebo/Red</material><mu1>0.2</mu1></gazebo>'
        '<material name="red"><color rgba="1 0 0 1"/></material>'
    )
    assert loaded(robot(harmless), kind="closed_loop")[1] == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (robot('<drake:joint name="d" type="planar"/>'), ["drake:joint", "'planar'", "prismatic"]),
        (robot("").replace('"j3" type="continuous"', '"j3" type="spherical"'),
         ["'j3'", "spherical", "three revolute joints", "<constraint"]),
    ],
)  # fmt: skip
def test_joints_that_urdf_does_not_have_are_refused_with_what_to_write(text, words):
    with pytest.raises(rd.ModelError) as refused:
        rd.load(text)
    assert all(word in str(refused.value) for word in words)


def test_without_a_driven_joint_the_option_that_names_them_is_reported():
    text = robot(CLOSED).replace('effort="20"', 'effort="0"')
    with pytest.raises(rd.ModelError, match="driven='j1'"):
        rd.load(text)


# joints j1, j2, j3 in line, each of 20 N m by `<limit>` and with a rotor
def arm(extra="", version=""):
    joints = hinge("j1", "world", "crank", "0 0 0.5", LIMIT)
    joints += hinge("j2", "crank", "coupler", "0 0 0.2", LIMIT)
    joints += hinge("j3", "coupler", "rocker", "0.5 0 0", LIMIT)
    return f'<robot name="arm" {version}><link name="world"/>{LINKS}{joints}{extra}</robot>'


def transmission(number, inside, of_joint=""):
    return (
        f'<transmission name="t{number}"><type>transmission_interface/SimpleTransmission</type>'
        f'<joint name="j{number}">{of_joint}</joint><actuator name="m{number}">{inside}</actuator>'
        "</transmission>"
    )


ROTOR = "<motorInertia>1e-4</motorInertia>"
ROTORS = {
    "URDF": (ROTOR + "<mechanicalReduction>-100</mechanicalReduction>", ""),
    "Drake": ('<drake:rotor_inertia value="1e-4"/><drake:gear_ratio value="100"/>', ""),
    "of the joint": (ROTOR, "<mechanicalReduction>100</mechanicalReduction>"),
    "ros2_control": (ROTOR, "<mechanical_reduction>100</mechanical_reduction>"),
}


@pytest.mark.parametrize("way", ROTORS)
def test_rotors_of_transmissions_are_reflected_to_their_joints(way):
    """J G^2 = 1 kg m^2 on the diagonal of the mass matrix, and what its Coriolis terms leave."""
    text = "".join(transmission(number, *ROTORS[way]) for number in (1, 2, 3))
    q = np.array([0.3, 0.7, -0.4])
    bare, made = rd.load(arm()), rd.load(arm(text))
    assert made.mass_matrix(q) - bare.mass_matrix(q) == pytest.approx(np.eye(3), abs=1e-12)
    assert made.actuators[1].rotor_inertia == 1e-4


@pytest.mark.parametrize(
    "inside",
    [
        "<motorInertia>-1</motorInertia>",
        "<motorInertia>nan</motorInertia>",
        "<mechanicalReduction>0</mechanicalReduction>",
        "<mechanicalReduction>2</mechanicalReduction><drake:gear_ratio value='3'/>",
    ],
)
def test_numbers_of_a_transmission_that_are_not_right_are_refused_by_its_name(inside):
    with pytest.raises(rd.ModelError, match="'t2'"):
        rd.load(arm(transmission(2, inside)))


def test_a_differential_names_the_rotors_that_it_leaves_out():
    two = '<joint name="j1"/><joint name="j2"/><actuator name="a"/><actuator name="b">'
    text = f'<transmission name="both">{two}{ROTOR}</actuator></transmission>'
    made, reported = loaded(arm(text), driven="j1,j2,j3")
    assert all(actuator.rotor_inertia == 0.0 for actuator in made.actuators)
    assert any("'both'" in line and "rotor_inertia" in line for line in reported)


def test_a_rotor_in_an_sdf_as_drake_has_it_is_reflected():
    text = (
        '<sdf version="1.9"><model name="a"><link name="l"/><joint name="j" type="revolute">'
        "<parent>world</parent><child>l</child>{}<axis><xyz>0 1 0</xyz></axis></joint>"
        "</model></sdf>"
    )
    rotor = (
        "<drake:rotor_inertia>1e-4</drake:rotor_inertia><drake:gear_ratio>100</drake:gear_ratio>"
    )
    bare, made = (loaded(text.format(inside))[0] for inside in ("", rotor))
    assert made.mass_matrix([0.2]) - bare.mass_matrix([0.2]) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("own", ["", '<robodyn spring_stiffness="5" spring_rest="0.1"/>'])
def test_springs_that_gazebo_adds_to_joints_pull_on_them(own):
    """As those of our own attributes do, which win."""
    spring = "<springStiffness>3</springStiffness><springReference>0.2</springReference>"
    text = arm(f'<gazebo reference="j2">{spring}</gazebo>')
    made, reported = loaded(text.replace('<joint name="j2" type="revolute">',
                                         f'<joint name="j2" type="revolute">{own}'))  # fmt: skip
    q = np.array([0.1, 0.6, -0.2])
    effort = made.gravity(q) - rd.load(arm()).gravity(q)
    stiffness, rest = (5.0, 0.1) if own else (3.0, 0.2)
    assert effort == pytest.approx([0.0, stiffness * (0.6 - rest), 0.0], abs=1e-12)
    assert reported == []
    with pytest.raises(rd.ModelError, match=r"reference='j2'>: springStiffness is '-3'"):
        rd.load(text.replace(">3<", ">-3<"))


DAMPER = {"body_A": "world", "p_AP": "0.3 0 1.1", "body_B": "l", "p_BQ": "0.1 0 0.4",
          "free_length": "0.2", "stiffness": "50", "damping": "4"}  # fmt: skip
# a link that turns about y, in both formats
SWING = {
    "urdf": f'<robot name="a"><link name="world"/><link name="l">{INERTIAL.format("0 0 0.1")}'
    f"</link>{hinge('j', 'world', 'l', '0 0 0.5')}{{}}</robot>",
    "sdf": '<sdf version="1.9"><model name="a"><link name="l"><pose>0 0 0.5 0 0 0</pose>'
    "<inertial><mass>1</mass></inertial></link>"
    '<joint name="j" type="revolute"><parent>world</parent><child>l</child>'
    "<axis><xyz>0 1 0</xyz></axis></joint>{}</model></sdf>",
}


def damper(suffix, **changes):
    """Write Drake's spring and damper between points of two links."""
    tag, parts = "drake:linear_spring_damper", (DAMPER | changes).items()
    form = '<{0}_{1} {3}="{2}"/>' if suffix == "urdf" else "<{0}_{1}>{2}</{0}_{1}>"
    inside = (form.format(tag, key, text, "name" if "body" in key else "value")
              for key, text in parts)  # fmt: skip
    return SWING[suffix].format(f"<{tag}>{''.join(inside)}</{tag}>")


@pytest.mark.parametrize("suffix", SWING)
def test_springs_between_points_as_drake_has_them_do_virtual_work(suffix):
    (made, reported), bare = loaded(damper(suffix)), rd.load(SWING[suffix].format(""))
    assert reported == []
    q, v = np.array([0.3]), np.array([0.7])

    def length(angle):
        c, s = math.cos(angle), math.sin(angle)
        end = np.array([0.1 * c + 0.4 * s, 0.0, 0.5 + 0.4 * c - 0.1 * s])
        return float(np.linalg.norm(end - [0.3, 0.0, 1.1]))

    slope = (length(0.3 + 1e-5) - length(0.3 - 1e-5)) / 2e-5
    tension = 50.0 * (length(0.3) - 0.2) + 4.0 * slope * 0.7
    added = made.inverse_dynamics(q, v, [0.0]) - bare.inverse_dynamics(q, v, [0.0])
    assert added == pytest.approx(tension * slope, rel=1e-8)


@pytest.mark.parametrize("suffix", SWING)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"body_B": "m"}, "'m'"),
        ({"p_AP": "1 2"}, "<drake:linear_spring_damper> 1: p_AP is '1 2'"),
        ({"stiffness": ""}, "<drake:linear_spring_damper> 1: stiffness is ''"),
        ({"damping": "-1"}, "<drake:linear_spring_damper> 1: damping is '-1'"),
    ],
)
def test_wrong_springs_of_drake_are_refused_by_number(suffix, changes, message):
    with pytest.raises(rd.ModelError, match=message):
        rd.load(damper(suffix, **changes))


def commanded(name, params, switch="", joint="j2"):
    parts = "".join(f'<param name="{key}">{value}</param>' for key, value in params.items())
    inside = "".join(
        f'<joint name="j{n}"><command_interface name="effort"/></joint>' for n in (1, 3)
    )
    return (
        f'<ros2_control name="s" type="system">{inside}<joint name="{joint}">{switch}'
        f'<command_interface name="{name}">{parts}</command_interface>'
        '<command_interface name="effort"/></joint></ros2_control>'
    )


def test_limits_of_command_interfaces_narrow_those_of_the_joint():
    made = rd.load(arm(commanded("effort", {"min": -12, "max": 12})))
    assert made.effort_limits.tolist() == [20.0, 12.0, 20.0]
    made = rd.load(arm(commanded("velocity", {"min": -2, "max": 2})))
    assert made.velocity_limits.tolist() == [5.0, 2.0, 5.0]
    made = rd.load(arm(commanded("position", {"min": -0.5, "max": 7})))
    assert made.position_limits.tolist() == [[-1, 1], [-0.5, 1], [-1, 1]]
    made = rd.load(arm(commanded("effort", {"min": -3, "max": 12})))
    assert made.effort_limits.tolist() == [20.0, 12.0, 20.0]
    assert made.actuators[1].least_effort == -3.0


@pytest.mark.parametrize(
    ("params", "right", "count"),
    [
        ({"min": -1, "max": 2}, 1.0, 1),
        ({"min": -3, "max": 2}, 2.0, 1),
        ({"max": 2}, 2.0, 0),
        ({"min": 0, "max": 2}, 2.0, 1),
    ],
)
def test_neither_direction_is_faster_than_its_velocity_command_allows(params, right, count):
    made, reported = loaded(arm(commanded("velocity", params)))
    assert made.velocity_limits.tolist() == [5.0, right, 5.0]
    assert sum("'j2': velocity" in each for each in reported) == count


def test_elements_for_mujoco_that_are_not_read_are_named():
    known = '<mujoco><compiler fusestatic="false"/><option timestep="0.001"/></mujoco>'
    assert not loaded(arm(known))[1]
    parts = '<option gravity="0 0 0"/><equality><connect body1="a" body2="b"/></equality>'
    reported = " ".join(loaded(arm(f"<mujoco>{parts}</mujoco>"))[1])
    assert "<equality>" in reported
    assert "gravity" in reported


def test_limits_of_command_interfaces_that_are_off_or_no_numbers_change_nothing():
    text = arm(commanded("effort", {"min": -12, "max": 12}, '<limits enable="false"/>'))
    assert loaded(text)[0].effort_limits.tolist() == [20.0, 20.0, 20.0]
    made, reported = loaded(arm(commanded("velocity", {"min": "{-2*pi}", "max": "{2*pi}"})))
    assert made.velocity_limits.tolist() == [5.0, 5.0, 5.0]
    assert len(reported) == 1
    assert "'j2'" in reported[0]


def test_limits_of_command_interfaces_that_contradict_the_joint_are_refused():
    with pytest.raises(rd.ModelError, match="'j2'"):
        rd.load(arm(commanded("position", {"min": 2, "max": 3})))


# a turn of 0.5 rad about the axis of j2
TURN = f'quat_xyzw="0 {math.sin(0.25)!r} 0 {math.cos(0.25)!r}"'


@pytest.mark.parametrize("version", ["1.1", "1.2"])
def test_quaternions_of_urdf_are_read_from_version_1_1_on(version):
    text = arm(version=f'version="{version}"').replace('xyz="0 0 0.2"', f'xyz="0 0 0.2" {TURN}')
    made, plain = rd.load(text), rd.load(arm())
    shifted = plain.gravity([0.3, 0.6, -0.4])
    assert made.gravity([0.3, 0.1, -0.4]) == pytest.approx(shifted, abs=1e-12)


def test_a_quaternion_without_a_version_is_left_out_by_name():
    made, reported = loaded(arm().replace('xyz="0 0 0.2"', f'xyz="0 0 0.2" {TURN}'))
    q = [0.3, 0.1, -0.4]
    assert made.gravity(q) == pytest.approx(rd.load(arm()).gravity(q), abs=0.0)
    assert len(reported) == 1
    assert "'j2'" in reported[0]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('xyz="0 0 0.2"', 'xyz="0 0 0.2" quat_xyzw="0 0 0 2"'),
        ('xyz="0 0 0.2"', 'xyz="0 0 0.2" quat_xyzw="0 0 0 0"'),
        ('xyz="0 0 0.2"', f'xyz="0 0 0.2" rpy="0 0 0" {TURN}'),
        ('effort="20"', 'effort="-20"'),
        ('velocity="5"', 'velocity="-5"'),
        ('mass value="1"', 'mass value="1e308"'),
        ('mass value="1"', 'mass value="\u0661"'),
        ('xyz="0 0 0.2"', 'xyz="0 0 1e308"'),
        ('xyz="0 0 0.2"', 'xyz="0 0 0.2" rpy="1e308 0 0"'),
        ('axis xyz="0 1 0"', 'axis xyz="1e308 1e308 0"'),
    ],
)  # fmt: skip
def test_numbers_that_no_joint_can_have_are_refused(before, after):
    with pytest.raises(rd.ModelError):
        rd.load(arm(version='version="1.1"').replace(before, after, 1))


@pytest.mark.parametrize("key", ["velocity", "effort"])
def test_a_limit_of_zero_on_a_driven_joint_is_named_and_counts_for_none(key):
    text = re.sub(f'{key}="[^"]*"', f'{key}="0"', arm(), count=1)
    made, reported = loaded(text, driven="j1,j2,j3")
    assert getattr(made, f"{key}_limits")[0] == np.inf
    assert len(reported) == 1
    assert "'j1'" in reported[0]
    assert key in reported[0]


@pytest.mark.parametrize("key", ["velocity", "effort"])
def test_a_limit_of_minus_one_is_none_as_makers_and_converters_from_sdf_write_it(key):
    made, reported = loaded(re.sub(f'{key}="[^"]*"', f'{key}="-1.0"', arm()), driven="j1,j2,j3")
    assert (getattr(made, f"{key}_limits") == np.inf).all()
    assert reported == [
        f"URDF text: ignored the {key} limit of -1, which means no limit: joint 'j1', joint "
        "'j2', joint 'j3'"
    ]


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ('velocity="5"', 'velocity="5" acceleration="9"', "acceleration=... of <limit>"),
        ("</joint>", '<dynamics damping="0" K="7000"/></joint>', "K=... of <dynamics>"),
        ('<mass value="1"', '<mass density="7800" value="1"', "density=... of <mass>"),
    ],
)
def test_attributes_that_urdf_does_not_have_are_named(before, after, word):
    _, reported = loaded(robot("").replace(before, after, 1), kind="closed_loop")
    assert len(reported) == 1
    assert word in reported[0]


@pytest.mark.parametrize("stated", ['lower="0" upper="0.0"', ""])
def test_limits_of_position_that_are_both_zero_or_missing_are_named(stated):
    text = robot("").replace('lower="-1" upper="1"', stated)
    made, reported = loaded(text, kind="closed_loop")
    assert made.position_limits.tolist() == [[-np.inf, np.inf]]
    assert len(reported) == 1
    assert "position limits that are both 0" in reported[0]


def test_a_missing_limit_which_urdf_requires_is_named():
    made, reported = loaded(arm().replace(LIMIT, "", 2), driven="j1,j2,j3")
    assert np.isinf(made.effort_limits).tolist() == [True, True, False]
    assert len(reported) == 1
    assert "the missing <limit>" in reported[0]
    assert reported[0].endswith("joint 'j1', joint 'j2'")


@pytest.mark.parametrize(
    ("soft", "named"),
    [
        ('soft_lower_limit="-0.9" soft_upper_limit="1"', True),
        ('soft_lower_limit="-1" soft_upper_limit="0.5" k_position="9"', True),
        ('soft_lower_limit="-1" soft_upper_limit="1"', False),
        ('k_velocity="10"', False),
    ],
)
def test_a_safety_controller_within_the_limits_is_named(soft, named):
    text = arm().replace(LIMIT, f"{LIMIT}<safety_controller {soft}/>", 1)
    made, reported = loaded(text, driven="j1,j2,j3")
    assert made.position_limits[0].tolist() == [-1.0, 1.0]
    assert [("<safety_controller>" in each, "'j1'" in each) for each in reported] == [
        (True, True)
    ] * named


def test_a_safety_controller_that_is_no_number_is_refused():
    text = arm().replace(LIMIT, f'{LIMIT}<safety_controller soft_lower_limit="x"/>', 1)
    with pytest.raises(rd.ModelError, match=r"'j1': safety_controller.*'x'"):
        rd.load(text)


def test_attributes_of_zeros_change_nothing():
    text = robot("").replace('<axis xyz="0 1 0"', '<axis rpy="0 0 0" xyz="0 1 0"')
    assert loaded(text, kind="closed_loop")[1] == []


@pytest.mark.parametrize(
    ("before", "after", "remedy"),
    [
        ('<parent link="coupler"', '<parent link="coupler" xyz="0.5 0 0"', "<parent_origin>"),
        ("</constraint>", '<axis xyz="0 1 0"/></constraint>', "<parent_axis>"),
        ("</constraint>", '<origin xyz="0 1 0"/></constraint>', "<child_origin>"),
        ('name="loop"', 'name="loop" spring="3"', "stiffness"),
    ],
)
def test_a_constraint_takes_nothing_that_it_does_not_have(before, after, remedy):
    """What is said at the wrong place would otherwise be a pin at the origin of the link."""
    with pytest.raises(rd.ModelError, match=re.escape(remedy)):
        rd.load(robot(CLOSED.replace(before, after)))


SDF = """<sdf version="1.9"><model name="m">{model}<link name="base"/>
  <joint name="f" type="fixed"><parent>world</parent><child>base</child></joint>
  <link name="a">{link}<inertial><mass>1</mass></inertial></link>
  <joint name="j" type="revolute">{joint}<parent>base</parent><child>a</child>
  <axis><xyz>0 1 0</xyz>{axis}<limit><effort>5</effort></limit></axis></joint></model></sdf>"""


@pytest.mark.parametrize(
    ("place", "text", "words"),
    [
        ("model", "<static>true</static>", "model 'm': ignored <static>"),
        ("link", "<kinematic>1</kinematic>", "link 'a': ignored <kinematic>"),
        ("link", "<velocity_decay><linear>0.1</linear></velocity_decay>", "<velocity_decay>"),
        ("link", "<enable_wind>true</enable_wind>", "link 'a': ignored <enable_wind>"),
        ("joint", '<drake:controller_gains p="1" d="2"/>', "<drake:controller_gains>"),
        ("axis", "<drake:rotor_inertia>1e-4</drake:rotor_inertia>", "<drake:rotor_inertia>"),
        ("link", "<kinematic>false</kinematic><velocity_decay/>", ""),
        ("joint", "<physics><ode><limit><cfm>0.1</cfm></limit></ode></physics>", ""),
    ],
)
def test_elements_of_an_sdf_that_are_not_read_are_named(place, text, words):
    parts = dict.fromkeys(("model", "link", "joint", "axis"), "") | {place: text}
    _, reported = loaded(SDF.format(**parts))
    assert [words in each for each in reported] == ([True] if words else [])
