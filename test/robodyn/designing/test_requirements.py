# SPDX-License-Identifier: Apache-2.0

"""Requirements from files: units, what sines mean, and errors that lead to the line."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

import robodyn as rd
from robodyn.cli import app
from robodyn.designing import rows_of
from robodyn.poses import pose_difference, pose_from_rpy

SCHEMA = Path(rd.__file__).parent / "schemas" / "requirements.schema.json"
HOME = pose_from_rpy([0.1, -0.2, 0.7], [0.1, 0.2, -0.4])


def read(**document):
    return rd.load_requirements({"motions": [{"heave": 0.1, "frequency": 1.0}]} | document)


@pytest.mark.slow
def test_the_new_file_is_read_as_it_is_and_keeps_to_the_schema(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["new", "requirements", "cockpit.yaml"])
    assert (result.exit_code, result.stderr) == (0, "")
    found = rd.load_requirements("cockpit.yaml")
    assert found.payload.mass == 250.0
    assert [motion.name for motion in found.motions] == ["heave", "brake", "climb"]
    assert found.motions[0].sines[0].amplitude == pytest.approx(0.15)
    assert found.margins.stroke == pytest.approx(0.01)
    assert found.accuracy.geometry == pytest.approx(1e-4)
    assert len(found.poses) == 4
    text = Path("cockpit.yaml").read_text()
    schema = json.loads(SCHEMA.read_text())
    jsonschema.validate(yaml.safe_load(text), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(text) | {"tyop": 1}, schema)
    assert CliRunner().invoke(app, ["new", "requirements", "cockpit.yaml"]).exit_code == 1


@pytest.mark.parametrize(
    ("heave", "amplitude"),
    [
        (0.15, 0.15),
        ("150 mm", 0.15),
        ("0.5 m/s", 0.5 / (4.0 * np.pi)),
        ("0.5 g", 0.5 * 9.80665 / (4.0 * np.pi) ** 2),
        ({"velocity": "500 mm/s"}, 0.5 / (4.0 * np.pi)),
        ({"acceleration": 4.9}, 4.9 / (4.0 * np.pi) ** 2),
        ({"acceleration": 4.9, "frequency": "1 Hz"}, 4.9 / (2.0 * np.pi) ** 2),
    ],
)
def test_a_sine_has_the_amplitude_that_is_stated_of_it_or_of_its_derivatives(heave, amplitude):
    found = read(motions=[{"heave": heave, "frequency": 2.0}])
    assert found.motions[0].sines[0].amplitude == pytest.approx(amplitude, rel=1e-12)


def test_sines_of_several_frequencies_repeat_after_their_common_period():
    sines = {"heave": {"amplitude": 0.1, "frequency": 1.0},
             "surge": {"amplitude": 0.05, "frequency": 1.5, "phase": "90 deg"},
             "pitch": {"amplitude": "20 deg", "frequency": 0.25}}  # fmt: skip
    motion = read(motions=[sines]).motions[0]
    assert motion.duration == pytest.approx(4.0)
    first, last = (motion.displacement(np.array([t]))[0][0] for t in (0.3, 4.3))
    np.testing.assert_allclose(first, last, atol=1e-12)
    x = motion.displacement(np.zeros(1))[0][0]
    assert x == pytest.approx([0.05, 0.0, 0.0, 0.0, 0.0, 0.0], abs=1e-15)


def test_twists_and_accelerations_of_the_body_are_derivatives_of_its_poses():
    pitch, yaw = ({"amplitude": size, "phase": phase} for size, phase in ((0.4, 1.0), (0.5, 2.0)))
    sines = {"surge": 0.1, "roll": 0.3, "pitch": pitch, "yaw": yaw, "frequency": 0.5}
    motion = read(motions=[sines]).motions[0]
    times, dt = np.linspace(0.1, 1.7, 9), 1e-5
    before, here, after = (rows_of(motion, times + s * dt, HOME) for s in (-1.0, 0.0, 1.0))
    moved = pose_difference(before.poses, after.poses) / (2.0 * dt)
    np.testing.assert_allclose(here.twists, moved, atol=1e-7)
    changed = (after.twists - before.twists) / (2.0 * dt)
    np.testing.assert_allclose(here.accels, changed, atol=1e-7)


def test_roll_is_about_the_axis_of_the_base_however_the_body_stands_at_home():
    motion = read(motions=[{"roll": 0.3, "frequency": 1.0}]).motions[0]
    row = rows_of(motion, np.zeros(1), HOME)
    assert row.twists[0] == pytest.approx([0.0, 0.0, 0.0, 0.6 * np.pi, 0.0, 0.0])
    np.testing.assert_allclose(row.poses[0], HOME, atol=1e-15)


def test_a_recorded_motion_begins_at_home_whatever_its_first_pose(tmp_path):
    time = np.linspace(0.0, 2.0, 201)
    lift = 0.05 * (1.0 - np.cos(np.pi * time))
    columns = np.column_stack([time, 0.0 * time + 3.0, 0.0 * time, 1.2 + lift,
                               np.zeros((201, 2)), 0.4 + 0.0 * time])  # fmt: skip
    header = "time,pose_x,pose_y,pose_z,roll,pitch,yaw"
    np.savetxt(tmp_path / "lap.csv", columns, delimiter=",", header=header, comments="")
    (tmp_path / "req.yaml").write_text("motions:\n  - {name: lap, file: lap.csv}\n")
    motion = rd.load_requirements(tmp_path / "req.yaml").motions[0]
    assert (motion.repeats, motion.duration) == (False, 2.0)
    rows = rows_of(motion, np.array([0.0, 1.0]), HOME)
    np.testing.assert_allclose(rows.poses[0], HOME, atol=1e-12)
    np.testing.assert_allclose(rows.poses[1] - HOME, [0, 0, 0.1, 0, 0, 0, 0], atol=1e-9)
    assert rows.accels[1, 2] == pytest.approx(-0.05 * np.pi**2, rel=1e-3)


def test_all_corners_of_ranges_are_poses():
    found = read(poses=[{"heave": [-0.1, "100 mm"], "pitch": ["-10 deg", "10 deg"]}, {"yaw": 0.2}])
    ten = np.radians(10.0)
    expected = [[0, 0, h, 0, p, 0] for h in (-0.1, 0.1) for p in (-ten, ten)]
    np.testing.assert_allclose(found.poses, [*expected, [0, 0, 0, 0, 0, 0.2]])


def test_continuous_ratings_follow_from_losses():
    rating = read(rating={"duty": "50 %", "ambient": 40, "rated_ambient": 40}).rating
    assert rating.factor == pytest.approx(np.sqrt(0.5))
    # half of the rise in temperature is half of the losses
    warm = read(rating={"ambient": 97.5, "rated_ambient": 40, "winding": 155}).rating
    assert warm.factor == pytest.approx(np.sqrt(2.0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("motions:\n  - heave: 0.1\n    frequency: 5 mm\n",
         "line 3: motions[0].frequency is '5 mm', expected a number above 0 [Hz]; units are Hz"),
        ("motions:\n  - {heave: 0.1, frequency: 1}\nmargins:\n  force: 0.5\n",
         "line 4: margins.force is 0.5, expected a number of at least 1"),
        ("motions:\n  - {heave: 0.1, frequency: 1}\nlimits:\n  joint_angle: 20 mm\n",
         "line 4: limits.joint_angle is '20 mm', expected a number such as 0.35 or 20 deg above 0 "
         "[rad]; units are rad, mrad, deg, °"),
        ("motions:\n  - {heave: 0.1, frequency: 1}\nlimits:\n  joint_angel: 0.2\n",
         "line 4: unknown field limits.joint_angel; did you mean 'joint_angle'?"),
        ("payload:\n  com: [0, 0, 1]\nmotions: []\nposes: [{yaw: 1}]\n",
         "line 1: payload.mass is missing, expected a number of at least 0 [kg]"),
        ("motions:\n  - {name: up, frequency: 1}\n", "line 2: motions[0].name is 'up', expected a"),
        ("motions:\n  - {heave: 0.1, frequency: 1}\n  - {name: lap, file: no.csv}\n",
         "line 3: motions[1].file is 'no.csv', expected a recorded motion"),
        ("poses:\n  - heave: [1, 2, 3]\n",
         "line 2: poses[0].heave is [1, 2, 3], expected a list of 2 numbers [m]"),
        ("motions:\n  - {heave: 0.1, frequency: 1}\n  - {heave: 0.1}\n",
         "line 3: motions[1].frequency is missing"),
        ("motions:\n  - {heave: 0.1, frequency: 1, surge: {amplitude: 1, frequency: 77.77}}\n",
         "line 2: motions[0].frequency is 1, expected frequencies with a common period"),
        ("margins: {stroke: 0.1}\n", "line 1: motions is [], expected at least one motion"),
    ],
)  # fmt: skip
def test_errors_lead_to_the_line_the_field_the_value_and_the_unit(tmp_path, text, message):
    file = tmp_path / "req.yaml"
    file.write_text(text)
    with pytest.raises(rd.InvalidInput) as caught:
        rd.load_requirements(file)
    assert str(caught.value).startswith(f"{file}, {message}")
