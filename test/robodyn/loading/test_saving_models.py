# SPDX-License-Identifier: Apache-2.0

"""Models written as YAML or URDF load to equal ones, names and readings of joints included."""

import json
import warnings
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml
from six_legs import JointReading, six_legs, with_legs

import robodyn as rd
from robodyn.algorithms import comparison
from robodyn.errors import OutputError, UnphysicalInertiaWarning

pytestmark = pytest.mark.filterwarnings(f"ignore::{UnphysicalInertiaWarning.__module__}."
                                        f"{UnphysicalInertiaWarning.__name__}")  # fmt: skip


def bundled(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)
        return rd.load(name)


def tilted_arm():
    """The PUMA with joints whose frames and axes no Denavit-Hartenberg table has."""
    model = bundled("puma560").model
    turned = rd.pose_from_rpy([0.0] * 3, [0.3, np.pi / 2.0, -0.2])
    from robodyn.model import Placement
    from robodyn.poses import rotation_matrix

    second = replace(
        model.joints[1],
        at=Placement(rotation_matrix(turned), np.array([0.1, -0.2, 0.3])),
        axis=np.array([1.0, 2.0, -1.0]),
        velocity=np.inf,
        kind="continuous",
        position=np.array([-np.inf, np.inf]),
    )
    return rd.SerialArm(replace(model, joints=(model.joints[0], second, *model.joints[2:])))


def measured_backwards():
    """A platform whose third actuator counts from elsewhere, against its length."""
    platform = bundled("stewart_symmetric")
    legs = list(six_legs(platform).legs)
    leg = legs[2]
    reading = JointReading("left_jack", -1.0, 1.25)
    legs[2] = replace(leg, reading=reading)
    return with_legs(platform, legs)


MOTOR = rd.Actuator(
    rotor_inertia=1.3e-5,
    gear_ratio=-51.3,
    coulomb=0.21,
    coulomb_backward=0.17,
    static=0.35,
    stribeck_velocity=0.013,
    efficiency=0.83,
    torque_limit=1.1,
    velocity_limit=311.0,
    torque_speed=((0.0, 1.3), (100.0, 1.2), (300.0, 0.1)),
    torque_constant=0.07,
)


def with_motors(m):
    """The mechanism with every parameter of an actuator on each driven joint."""
    model = m.model
    if m.kind == "stewart":
        screw = replace(MOTOR, lead=0.0051, handed="left")
        return with_legs(m, [replace(leg, actuator=screw) for leg in six_legs(m).legs])
    return type(m)(model.driven_by(dict.fromkeys(m.joint_names, MOTOR)))


def armatures(m):
    """The mechanism whose driven joints have an armature and friction in one direction."""
    joints = tuple(
        replace(joint, armature=0.3, friction=np.array([0.4, 0.7]))
        if joint.name in m.joint_names
        else joint
        for joint in m.model.joints
    )
    return type(m)(replace(m.model, joints=joints))


MODELS = {
    "puma560": lambda: bundled("puma560"),
    "stewart_dasgupta": lambda: bundled("stewart_dasgupta"),
    "tilted": tilted_arm,
    "backwards": measured_backwards,
    "arm's motors": lambda: with_motors(bundled("puma560")),
    "platform's motors": lambda: with_motors(bundled("stewart_symmetric")),
    "delta's motors": lambda: with_motors(bundled("delta")),
    "delta's armatures": lambda: armatures(bundled("delta")),
    "passive": lambda: rd.load("stanford_arm", driven=["joint1", "joint3"]),
    "tree of an arm": lambda: rd.load("stanford_arm", kind="closed_loop"),
    "tree of a platform": lambda: rd.load("stewart_dasgupta", kind="closed_loop"),
}


@pytest.mark.parametrize("ending", [".yaml", ".urdf", ".sdf"])
@pytest.mark.parametrize("name", MODELS)
def test_a_saved_model_loads_to_an_equal_one(name, ending, tmp_path):
    m = MODELS[name]()
    file = tmp_path / f"m{ending}"
    rd.save(m, file)
    again = rd.load(file)
    assert comparison.differences(m, again) == []
    assert again == m
    assert again.actuators == m.actuators
    assert again.kind == m.kind
    assert again.joint_names == m.joint_names
    if m.kind != "closed_loop":
        np.testing.assert_array_equal(again.drives.signs, m.drives.signs)
        np.testing.assert_allclose(again.drives.offsets, m.drives.offsets, atol=1e-12)
    np.testing.assert_allclose(again.home, m.home, atol=1e-12)
    if ending == ".yaml":
        schema = Path(rd.__file__).with_name("schemas") / f"{m.kind}.schema.json"
        document = yaml.safe_load(file.read_text())
        jsonschema.validate(document, json.loads(schema.read_text()))


def test_saving_refuses_models_that_the_format_cannot_express(tmp_path):
    platform = bundled("stewart_symmetric").without_actuators()
    spheres = rd.StewartPlatform(platform.model, base_joint="spherical")
    with pytest.raises(OutputError, match="which a model file cannot store"):
        rd.save(spheres, tmp_path / "m.urdf")
    arm = tilted_arm()
    first = replace(arm.model.joints[0], position=np.zeros(2))
    held = rd.SerialArm(replace(arm.model, joints=(first, *arm.model.joints[1:])))
    with pytest.raises(OutputError, match=r"limits \[0, 0\]; write a \.yaml file"):
        rd.save(held, tmp_path / "m.urdf")
    rd.save(held, tmp_path / "m.yaml")
    assert rd.load(tmp_path / "m.yaml") == held


def test_a_new_yaml_file_does_not_take_the_place_of_another_urdf(tmp_path):
    (tmp_path / "m.urdf").write_text("somebody's")
    with pytest.raises(OutputError, match="choose another name"):
        rd.save(bundled("delta"), tmp_path / "m.yaml")
    assert (tmp_path / "m.urdf").read_text() == "somebody's"
