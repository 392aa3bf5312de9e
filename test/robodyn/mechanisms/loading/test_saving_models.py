# SPDX-License-Identifier: Apache-2.0

"""Models written as YAML load to equal mechanisms, names and readings of their joints included."""

import json
import warnings
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml

import robodyn as rd
from robodyn.errors import UnphysicalInertiaWarning
from robodyn.mechanisms.load import load
from robodyn.mechanisms.save import save
from robodyn.mechanisms.serial.arm import SerialArm
from robodyn.mechanisms.stewart.model import JointReading
from robodyn.mechanisms.stewart.platform import StewartPlatform

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
    from robodyn.poses import rotation_matrix

    second = replace(
        model.joints[1],
        rotation=rotation_matrix(turned),
        translation=np.array([0.1, -0.2, 0.3]),
        axis=np.array([1.0, 2.0, -1.0]),
        velocity=np.inf,
        kind="continuous",
        position=np.array([-np.inf, np.inf]),
    )
    return SerialArm(replace(model, joints=(model.joints[0], second, *model.joints[2:])))


def measured_backwards():
    """A platform whose third actuator counts from elsewhere, against its length."""
    model = bundled("stewart_symmetric").model
    leg = model.legs[2]
    reading = JointReading("left_jack", -1.0, 1.25)
    legs = list(model.legs)
    legs[2] = replace(leg, joints=replace(leg.joints, actuator=reading))
    return StewartPlatform(replace(model, legs=tuple(legs)))


MODELS = {
    "puma560": lambda: bundled("puma560"),
    "stewart_dasgupta": lambda: bundled("stewart_dasgupta"),
    "tilted": tilted_arm,
    "backwards": measured_backwards,
}


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_model_loads_to_an_equal_one(name, tmp_path):
    m = MODELS[name]()
    save(m, tmp_path / "m.yaml")
    again = load(tmp_path / "m.yaml")
    assert m.differences(again) == []
    assert again.joint_names == m.joint_names
    np.testing.assert_array_equal(again.joint_signs, m.joint_signs)
    np.testing.assert_array_equal(again.joint_offsets, m.joint_offsets)
    np.testing.assert_allclose(again.home, m.home, atol=1e-15)
    schema = Path(rd.__file__).with_name("schemas") / f"{m.kind}.schema.json"
    document = yaml.safe_load((tmp_path / "m.yaml").read_text())
    jsonschema.validate(document, json.loads(schema.read_text()))


def test_a_reading_from_elsewhere_survives_the_urdf(tmp_path):
    from robodyn.mechanisms.registry import kind_of

    m = measured_backwards()
    (tmp_path / "m.urdf").write_text(kind_of(m).to_urdf(m))
    again = load(tmp_path / "m.urdf")
    assert m.differences(again) == []
    np.testing.assert_allclose(again.joint_signs, m.joint_signs)
    np.testing.assert_allclose(again.joint_offsets, m.joint_offsets, atol=1e-12)
