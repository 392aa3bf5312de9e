# SPDX-License-Identifier: Apache-2.0

"""Actuators in YAML and URDF: equal models whichever way they are described, wrong ones refused."""

import copy
import json
import warnings
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pytest
import yaml

import robodyn as rd
from robodyn.errors import UnphysicalInertiaWarning
from robodyn.loading import describe, frictionless, read, robot_description
from robodyn.report import parameter_tables

PACKAGE = Path(rd.__file__).parent
REFERENCE = Path(__file__).parents[2] / "reference" / "closed_loops"
SCREW = {
    "rotor_inertia": 1.0e-4,
    "lead": 0.005,
    "handed": "right",
    "coulomb": 150.0,
    "coulomb_backward": 140.0,
    "static": 200.0,
    "stribeck_velocity": 0.01,
    "efficiency": 0.9,
    "torque_limit": 3.2,
    "velocity_limit": 400.0,
    "torque_speed": [[0.0, 3.5], [300.0, 3.0], [500.0, 1.0]],
    "torque_constant": 0.4,
}
GEAR = {"rotor_inertia": 2.0e-4, "gear_ratio": -62.5, "coulomb": 6.0, "torque_limit": 1.6}


def bundled(name):
    return yaml.safe_load((PACKAGE / "bundled" / f"{name}.yaml").read_text())


def bare(name):
    """A bundled platform without what drives it."""
    return rd.load(name).without_actuators()


@pytest.fixture
def hexapod():
    document = bundled("stewart_symmetric")
    document["leg_defaults"]["actuator"] = dict(SCREW)
    document["legs"][2]["actuator"] = {"handed": "left", "lead": 0.01}
    return document


@pytest.fixture
def arm():
    document = bundled("puma560")
    for name in ("armature", "friction"):
        document["links"][1].pop(name, None)
    document["links"][1]["actuator"] = dict(GEAR)
    return document


def test_the_legs_share_defaults_and_override_them(hexapod, yaml_file):
    platform = rd.load(yaml_file(hexapod))
    first, third = platform.actuators[0], platform.actuators[2]
    assert (first.handed, first.lead, third.handed, third.lead) == ("right", 0.005, "left", 0.01)
    assert third.coulomb == first.coulomb == 150.0
    assert first.reflected_inertia == pytest.approx(157.9, abs=0.1)
    # the motor's 3.2 N m push with 3.6 kN, and its 400 rad/s move a leg by 0.32 m/s
    assert platform.effort_limits[0] == pytest.approx(3.2 * 0.9 * 2.0 * np.pi / 0.005)
    assert platform.velocity_limits[0] == pytest.approx(400.0 * 0.005 / (2.0 * np.pi))
    assert platform.without_actuators() == bare("stewart_symmetric")


@pytest.mark.slow
def test_yaml_to_urdf_and_back(hexapod, yaml_file):
    file = yaml_file(hexapod)
    platform = rd.load(file)
    for control in (False, True):
        text = robot_description(file, platform, ros2_control=control)
        again = rd.load(text)
        assert again == platform
        assert again.actuators == platform.actuators
    system = ElementTree.fromstring(text).findall("ros2_control")
    assert len(system) == 1
    assert system[0].find("hardware/plugin") is not None
    assert len(system[0].findall("joint/command_interface")) == 6
    assert rd.load(frictionless(text)) == platform.without_friction()


def test_friction_of_an_actuator_joint_is_coulomb_friction(tmp_path):
    text = (REFERENCE / "ups_ballscrew.urdf").read_text()
    plain = rd.load(text)
    root = ElementTree.fromstring(text)
    for joint in root.iterfind("joint"):
        if joint.get("type") == "prismatic":
            joint.find("dynamics").set("friction", "150")
    rough = rd.load(ElementTree.tostring(root, encoding="unicode"))
    assert [actuator.coulomb for actuator in rough.actuators] == [150.0] * 6
    twist = np.array([0.1, -0.2, 0.1, 0.05, 0.1, -0.2])
    pose = rd.load("stewart_symmetric").home
    more = rough.inverse_dynamics(pose, twist, np.zeros(6))
    less = plain.inverse_dynamics(pose, twist, np.zeros(6))
    rate = plain.joint_velocities(pose, twist)
    assert more - less == pytest.approx(150.0 * np.sign(rate))


def with_params(text, joint, params):
    system = "".join(f'<param name="{name}">{value}</param>' for name, value in params.items())
    block = f'<ros2_control name="c" type="system"><joint name="{joint}">{system}</joint>'
    return text.replace("</robot>", block + "</ros2_control></robot>")


ARM = """<robot name="one"><link name="base"/><link name="tip"><inertial><mass value="2"/>
<origin xyz="0.3 0 0"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
</link><joint name="hinge" type="revolute"><parent link="base"/><child link="tip"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="200" velocity="5"/>
<dynamics damping="0.5" friction="2"/></joint></robot>"""


@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
def test_an_arms_parameters_are_its_armature_and_friction(yaml_file, arm):
    params = {"rotor_inertia": "2e-4", "gear_ratio": "100", "torque_limit": "1.5", "other": "x"}
    one = rd.load(with_params(ARM, "hinge", params))
    assert one.mass_matrix([0.0])[0, 0] - rd.load(ARM).mass_matrix([0.0])[0, 0] == pytest.approx(2)
    assert one.actuators[0].coulomb == 2.0
    assert one.effort_limits == pytest.approx([150.0])
    assert one.motor_torques([100.0]) == pytest.approx([1.0])
    six = rd.load(yaml_file(arm))
    assert six.model.joints[1].armature == pytest.approx(2.0e-4 * 62.5**2)
    assert six.actuators[1].rotor_inertia == pytest.approx(2.0e-4)
    assert six.actuators[0].rotor_inertia == six.model.joints[0].armature
    assert not any(joint.armature for joint in six.without_actuators().model.joints)


def test_an_arms_friction_falls_with_the_rate(rng):
    slow = {"static": 5.0, "stribeck_velocity": 0.1}
    arm, plain = rd.load(with_params(ARM, "hinge", slow)), rd.load(ARM)
    rates = np.array([[-1.0], [-0.1], [0.0], [0.1], [1e3]])
    q, qdd = np.zeros((5, 1)), np.ones((5, 1))
    more = arm.inverse_dynamics(q, rates, qdd) - plain.inverse_dynamics(q, rates, qdd)
    assert more[:, 0] == pytest.approx([-3.0 / 101.0, -1.5, 3.0, 1.5, 0.0], abs=1e-6)
    tau = arm.inverse_dynamics(q[1], rates[1], qdd[1])
    assert arm.forward_dynamics(q[1], rates[1], tau) == pytest.approx(qdd[1])
    friction = arm.actuators[0].dry_friction(rates[:4, 0])
    assert friction == pytest.approx(more[:4, 0] + [-2.0, -2.0, -3.0, 2.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rotor_inertia": -1.0}, r"rotor_inertia is -1"),
        ({"lead": 0.0}, r"lead is 0"),
        ({"handed": "both"}, r"actuator.handed is 'both', expected one of right, left"),
        ({"gear_ratio": 0.0}, r"gear_ratio is 0"),
        ({"efficiency": 1.2}, r"efficiency is 1.2"),
        ({"static": 100.0}, r"static is 100, expected at least the Coulomb friction, which is 150"),
        ({"torque_limit": 0.0}, r"torque_limit is 0"),
        ({"torque_speed": [[0.0, 1.0], [1.0, 2.0]]}, r"torque_speed is"),
        ({"torque_constant": "0.4 Nm"}, r"actuator.torque_constant is '0.4 Nm'"),
        ({"rotor_inertai": 1.0}, r"did you mean 'rotor_inertia'"),
    ],
)
def test_an_invalid_actuator_field_is_refused_by_name(hexapod, yaml_file, change, message):
    hexapod["leg_defaults"]["actuator"].update(change)
    with pytest.raises(rd.ModelError, match=message):
        rd.load(yaml_file(hexapod))


def test_two_words_for_the_same_are_refused(arm, yaml_file):
    arm["links"][1]["friction"] = 3.0
    with pytest.raises(rd.ModelError, match=r"links\[1\].friction is .* remove one"):
        rd.load(yaml_file(arm))
    with pytest.raises(rd.ModelError, match="remove one of the two"):
        rd.load(with_params(ARM, "hinge", {"coulomb": "3"}))
    with pytest.raises(rd.ModelError, match="gear_ratio instead"):
        rd.load(with_params(ARM, "hinge", {"lead": "0.01"}))


def test_without_a_lead_no_torque_is_known():
    with pytest.raises(rd.InvalidInput, match="lead"):
        bare("stewart_symmetric").motor_torques(np.zeros(6))


def test_losses_burden_who_drives(hexapod, yaml_file):
    platform = rd.load(yaml_file(hexapod))
    force = np.full(6, 100.0)
    ideal = force * np.array([actuator.hand * actuator.lead for actuator in platform.actuators])
    ideal /= 2.0 * np.pi
    assert platform.motor_torques(force) == pytest.approx(ideal / 0.9)
    sinking = platform.motor_torques(force, np.full(6, -0.1))
    assert sinking == pytest.approx(ideal * 0.9)
    assert platform.efforts_of(sinking, np.full(6, -0.1)) == pytest.approx(force)
    assert platform.drives.currents(force) == pytest.approx(ideal / 0.9 / 0.4)


def test_a_rotor_that_the_lower_part_cannot_hold_is_unphysical(hexapod, yaml_file):
    hexapod["leg_defaults"]["actuator"]["rotor_inertia"] = 0.05
    with pytest.raises(rd.RobodynError, match="lower without its actuator's rotor"):
        rd.load(yaml_file(hexapod), strict=True)


@pytest.mark.parametrize("kind", ["hexapod", "arm"])
def test_the_schema_takes_what_the_reader_takes(kind, request):
    document = request.getfixturevalue(kind)
    schema = json.loads((PACKAGE / "schemas" / f"{document['type']}.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(document)
    for change in ({"leed": 1.0}, {"efficiency": 2.0}, {"gear_ratio": 0}):
        wrong = copy.deepcopy(document)
        block = wrong["leg_defaults"] if kind == "hexapod" else wrong["links"][1]
        block["actuator"].update(change)
        assert not validator.is_valid(wrong), change
    if kind == "arm":
        document["links"][1]["friction"] = 3.0
        assert not validator.is_valid(document)


def test_check_shows_what_each_actuator_adds(hexapod, yaml_file):
    file = str(yaml_file(hexapod))
    rows = describe(*read(file, False), file)["actuators"]
    platform = bare("stewart_symmetric")
    weight = np.abs(platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6)))
    assert [row["name"] for row in rows] == list(platform.joint_names)
    assert rows[0]["reflected_inertia"] == pytest.approx(157.9, abs=0.1)
    assert [row["friction_share"] for row in rows] == pytest.approx(150.0 / weight)
    # effective mass of the platform at a leg: the force for 1 m/s^2 there, the others held
    H = platform.jacobian(platform.home)
    accel = np.linalg.solve(H.T, np.eye(6)[0])
    felt = np.linalg.solve(H, platform.mass_matrix(platform.home) @ accel)[0]
    assert rows[0]["inertia"] == pytest.approx(felt)
    assert describe(*read("stewart_dasgupta", False), "stewart_dasgupta")["actuators"] == []
    assert len(describe(*read("puma560", False), "puma560")["actuators"]) == 6


def test_the_report_lists_actuators_that_are_described(hexapod, arm, yaml_file):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)
        for document, name in ((hexapod, "machine.yaml"), (arm, "arm.yaml")):
            mechanism = rd.load(yaml_file(document, name))
            table = parameter_tables(mechanism)[-1]
            assert table.title == "Actuators"
            assert len(table.rows) == len(mechanism.joint_names)
            assert all(len(row) == len(table.head) for row in table.rows)
        titles = [table.title for table in parameter_tables(rd.load("puma560"))]
    assert "Actuators" not in titles
