# SPDX-License-Identifier: Apache-2.0

"""Exports reject invalid input before anything is written."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

import robodyn as rd
from robodyn.exporting import TARGETS, c_name, header, package_texts, target_of


@pytest.mark.parametrize("name", ["2nd", "a-b", "while", "_x", "a__b", "naïve", "a b"])
def test_names_that_c_does_not_allow(tmp_path, name):
    with pytest.raises(rd.InvalidInput, match="cannot be the name of a C library"):
        rd.export(rd.load("fivebar"), tmp_path / "out", name=name)
    assert not (tmp_path / "out").exists()


def test_the_name_is_made_of_the_mechanisms():
    assert c_name(rd.load("fivebar")) == "fivebar"


def test_a_folder_that_is_not_empty(tmp_path):
    tmp_path.joinpath("mine.txt").write_text("x")
    with pytest.raises(rd.RobodynError, match="--force"):
        rd.export(rd.load("fivebar"), tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


def test_redundant_motors_are_refused_by_name(tmp_path):
    m = rd.load("fivebar")
    many = rd.load(m.model.source, driven=(*m.passive_joint_names, *m.joint_names))
    with pytest.raises(rd.ModelError, match="fivebar cannot be exported: its driven joints"):
        rd.export(many, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_targets():
    assert target_of("", "").is_native
    assert target_of("aarch64", "").triple == "aarch64-linux-gnu"
    assert target_of("aarch64-linux-musl", "").triple == "aarch64-linux-musl"
    assert target_of("", "v3").cpu == "x86-64-v3" or "x86_64" not in TARGETS
    with pytest.raises(rd.InvalidInput, match="expected one of"):
        target_of("pdp11", "")


def test_the_header_says_shapes_units_and_frames():
    text = header("fivebar", rd.load("fivebar"))
    assert "#define FIVEBAR_NV 2" in text
    assert "int fivebar_inverse_dynamics(const double *configuration" in text
    wrench = "wrench (6): on the body: force [N], moment [N m] about its origin, base frame"
    assert f"{wrench}; may be NULL" in text


def test_the_ros2_control_package_is_complete():
    m = rd.load("stewart_symmetric")
    files = dict(package_texts("stewart_symmetric", m))
    assert not [file for file, text in files.items() if re.search("@[A-Z_]+@", text)]
    root = ElementTree.fromstring(files["urdf/stewart_symmetric.urdf"])
    assert root.findtext("ros2_control/hardware/plugin").endswith("/SimulatedMechanism")
    driven = [joint.get("name") for joint in root.findall("ros2_control/joint")]
    assert tuple(driven) == m.joint_names
    control = yaml.safe_load(files["config/controllers.yaml"])
    chained = control["joint_trajectory_controller"]["ros__parameters"]
    assert chained["joints"] == driven
    assert chained["command_joints"] == [f"model_based_controller/{joint}" for joint in driven]
    for file, text in files.items():
        if file.endswith(".py"):
            compile(text, file, "exec")
        if file.endswith(".xml"):
            ElementTree.fromstring(text)


def test_hardware_with_elastic_drives_takes_efforts_and_steps_faster_than_they_vibrate():
    rigid = rd.load("puma560")
    m = rigid.with_drive_stiffness(1e6)
    files = [dict(package_texts("puma560", each)) for each in (m, rigid)]
    root = ElementTree.fromstring(files[0]["urdf/puma560.urdf"])
    commands = {each.get("name") for each in root.iterfind("ros2_control/joint/command_interface")}
    assert commands == {"effort"}
    texts = [each["src/mechanism.hpp"] for each in files]
    assert "state.motor_rates.data(), efforts.data()" in texts[0]
    assert "state.velocity.data(), efforts.data()" in texts[1]
    steps = [float(re.search(r"LONGEST_STEP = (\S+);", text)[1]) for text in texts]
    # no drive swings slower between its rotor and its joint than its rotor alone
    least = min(actuator.reflected_inertia for actuator in m.actuators)
    assert steps[0] < np.sqrt(least / 1e6) < steps[1] == 1e-3
    # the motors lead by what gravity winds them up
    motors = re.search(r"HOME_MOTORS\{(.*)\};", texts[0])[1].split(",")
    lead = np.array(motors, dtype=float) - m.joint_positions(m.home)
    np.testing.assert_allclose(1e6 * lead, m.without_dry_friction().gravity(m.home), atol=1e-6)


def test_versions_of_fmi(tmp_path):
    with pytest.raises(rd.InvalidInput, match=r"expected 2\.0 or 3\.0"):
        rd.export(rd.load("fivebar"), tmp_path / "out", fmu=True, fmi="1.0")


def test_an_fmu_for_another_processor_is_refused(tmp_path):
    pytest.importorskip("ziglang", reason="the extra `export` brings other targets")
    with pytest.raises(rd.InvalidInput, match="an FMU is for x86_64"):
        rd.export(rd.load("fivebar"), tmp_path / "out", target="aarch64", fmu=True)
    assert not (tmp_path / "out").exists()
