# SPDX-License-Identifier: Apache-2.0

"""Files to start from load strictly and stand well; the schemas take what the readers take."""

import copy
import json
import subprocess
import sys
from importlib import resources
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml

import robodyn as rd
from robodyn.loading import templates
from robodyn.trajectories import FourierSeries, FourierTrajectory

HEXAPOD, ARM = (templates()[name][1] for name in ("hexapod", "arm"))
PACKAGE = resources.files("robodyn")
WAYPOINTS = Path(__file__).parents[2] / "launch" / "there_and_back.yaml"


@pytest.mark.slow
def test_schemas_say_of_actuators_what_the_class_does():
    script = Path(__file__).parents[3] / "docs" / "make_schemas.py"
    run = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def schema(name):
    return jsonschema.Draft202012Validator(
        json.loads((PACKAGE / "schemas" / f"{name}.schema.json").read_text())
    )


def load_text(text, tmp_path):
    file = tmp_path / "model.yaml"
    file.write_text(text)
    return rd.load(file, strict=True)


@pytest.mark.parametrize(
    "sizes",
    [
        {},
        {"base_radius": 1.2, "platform_radius": 0.8, "height": 0.9, "stroke": 0.4, "payload": 500},
        {
            "base_radius": 0.05,
            "platform_radius": 0.04,
            "height": 0.1,
            "stroke": 0.02,
            "payload": 0.2,
        },
    ],
)
def test_a_hexapod_of_any_size_stands_within_its_limits(sizes, tmp_path):
    platform = load_text(HEXAPOD.write(**sizes), tmp_path)
    radius = sizes.get("platform_radius", 0.2)
    assert platform.condition_number(platform.home, radius) < 5.0
    lengths = platform.inverse_kinematics(platform.home)
    lower, upper = platform.position_limits.T
    assert np.abs((lengths - lower) / (upper - lower) - 0.5).max() < 0.05
    weight = platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))
    assert np.abs(weight).max() < 0.5 * platform.effort_limits.min()


def test_a_stroke_that_the_legs_have_no_room_for_is_refused():
    with pytest.raises(rd.InvalidInput, match="stroke is"):
        HEXAPOD.write(height=0.35, stroke=0.4)


def test_the_arm_can_hold_itself_everywhere(tmp_path, rng):
    arm = load_text(ARM.write(), tmp_path)
    lower, upper = arm.position_limits.T
    holding = arm.gravity(rng.uniform(lower, upper, (200, 6)))
    assert (np.abs(holding) < arm.effort_limits).all()
    assert arm.condition_number(arm.home) < 100.0


def documents():
    models = {item.name: item.read_text() for item in (PACKAGE / "bundled").glob("*.*")}
    texts = [text for name, text in sorted(models.items()) if name.endswith(".yaml")]
    read = [yaml.safe_load(text) for text in (*texts, HEXAPOD.write(), ARM.write())]
    # closed loops are described by a URDF, beside which their YAML is little
    return [document for document in read if document["type"] != "closed_loop"]


@pytest.mark.slow
@pytest.mark.parametrize("document", documents(), ids=lambda document: document["name"])
def test_the_schema_takes_what_the_reader_takes_and_refuses_what_it_refuses(document, tmp_path):
    validator = schema(document["type"])
    validator.validate(document)
    parts = [document, *(document.get("legs") or document["links"])]
    for part in parts[:2]:
        for field in list(part):
            wrong = copy.deepcopy(document)
            target = wrong if part is document else (wrong.get("legs") or wrong["links"])[0]
            target[field + "x"] = target.pop(field)
            assert not validator.is_valid(wrong), field
            with pytest.raises(rd.ModelError, match=field):
                load_text(yaml.safe_dump(wrong), tmp_path)


def test_the_schema_of_waypoints_takes_both_kinds():
    validator = schema("waypoints")
    validator.validate(yaml.safe_load(WAYPOINTS.read_text()))
    validator.validate({"waypoints": [{"joints": [0.0]}, {"joints": [1.0], "duration": 2.0}]})
    assert not validator.is_valid({"waypoints": [{"joints": [0.0]}]})
    assert not validator.is_valid({"waypoints": [{"joints": [0.0]}, {"xyz": [0, 0]}]})


def test_the_schema_of_waypoints_takes_an_exciting_motion(tmp_path):
    arm = rd.load("stanford_arm")
    series = FourierSeries(4.0, 1.0, np.zeros(6), *np.full((2, 3, 6), 0.01))
    FourierTrajectory(arm, series).save(tmp_path / "exciting.yaml")
    document = yaml.safe_load((tmp_path / "exciting.yaml").read_text())
    schema("waypoints").validate(document)
    assert not schema("waypoints").is_valid(document | {"ramps": 1.0})
