# SPDX-License-Identifier: Apache-2.0
"""xacro files as makers publish them: with arguments, and spread over packages; without ROS."""

import json

import pytest
from typer.testing import CliRunner

import robodyn as rd
from robodyn.cli import app
from robodyn.formats import xacro_text
from robodyn.loading import robot_description

MACRO = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="arm" params="mass">
    <link name="base"/>
    <link name="arm"><inertial><origin xyz="0.5 0 0"/><mass value="${mass}"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
    <joint name="shoulder" type="revolute"><parent link="base"/><child link="arm"/>
      <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="50" velocity="2"/></joint>
  </xacro:macro>
</robot>"""
ROBOT = """<robot name="$(arg name)" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="name" default=""/>
  <xacro:arg name="mass" default="2.0"/>
  <xacro:include filename="$(find maker_parts)/urdf/arm.xacro"/>
  <xacro:arm mass="$(arg mass)"/>
</robot>"""


def package(folder, name):
    (folder / "urdf").mkdir(parents=True)
    (folder / "package.xml").write_text(f"<package><name>{name}</name></package>")
    return folder


@pytest.fixture(autouse=True)
def no_ros(monkeypatch):
    for name in ("AMENT_PREFIX_PATH", "ROBODYN_PACKAGE_PATH"):
        monkeypatch.delenv(name, raising=False)
    yield
    xacro_text.use_arguments({})


@pytest.fixture
def robot(tmp_path):
    """A robot whose macro is in another package, whose folder has another name."""
    parts = package(tmp_path / "elsewhere" / "parts-of-maker", "maker_parts")
    (parts / "urdf" / "arm.xacro").write_text(MACRO)
    file = package(tmp_path / "checkout" / "maker_robot", "maker_robot") / "urdf" / "r.urdf.xacro"
    file.write_text(ROBOT)
    return file


def test_arguments_reach_the_file(robot, monkeypatch, tmp_path):
    monkeypatch.setenv("ROBODYN_PACKAGE_PATH", str(tmp_path / "elsewhere"))
    arm = rd.load(robot, xacro_args={"name": "light", "mass": "1.5"})
    # a horizontal arm of 0.5 m: its joint bears m g r
    assert arm.gravity([0.0])[0] == pytest.approx(-1.5 * 9.81 * 0.5, rel=1e-12)
    assert arm.name == "light"
    heavier = rd.load(robot, xacro_args={"name": "heavy"})
    assert heavier.gravity([0.0])[0] == pytest.approx(-2.0 * 9.81 * 0.5, rel=1e-12)


def test_a_package_of_the_same_checkout_is_found(robot, tmp_path):
    (tmp_path / "elsewhere" / "parts-of-maker").rename(tmp_path / "checkout" / "any-name")
    (tmp_path / "checkout" / ".git").mkdir()
    assert rd.load(robot, xacro_args={"name": "a"}).joint_names == ("shoulder",)


def test_a_package_beside_the_files_own_is_found_without_a_repository(robot, tmp_path):
    (tmp_path / "elsewhere" / "parts-of-maker").rename(tmp_path / "checkout" / "maker_parts")
    assert rd.load(robot, xacro_args={"name": "a"}).joint_names == ("shoulder",)


def test_a_sourced_ros_2_is_looked_in(robot, monkeypatch, tmp_path):
    (tmp_path / "prefix" / "share").mkdir(parents=True)
    parts = tmp_path / "elsewhere" / "parts-of-maker"
    parts.rename(tmp_path / "prefix" / "share" / "maker_parts")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{tmp_path / 'prefix'}")
    assert rd.load(robot, xacro_args={"name": "a"}).joint_names == ("shoulder",)


def test_a_missing_package_of_a_xacro_is_named_once_with_the_remedy(robot, monkeypatch, tmp_path):
    with pytest.raises(rd.ModelError) as refused:
        rd.load(robot, xacro_args={"name": "a"})
    text = str(refused.value)
    assert text.count("the package 'maker_parts' was not found") == 1
    assert "--package-path" in text
    assert "ROBODYN_PACKAGE_PATH" in text
    assert "class" not in text
    monkeypatch.setenv("ROBODYN_PACKAGE_PATH", str(tmp_path / "elsewhere"))
    with pytest.raises(rd.ModelError) as refused:
        rd.load(robot)
    text = str(refused.value)
    assert text.lower().count("undefined substitution argument") == 1
    assert "--xacro-arg name:=value" in text
    assert "this file declares name, mass; give" in text


def test_commands_take_arguments_and_packages(robot, tmp_path, monkeypatch):
    monkeypatch.setenv("ROBODYN_PACKAGE_PATH", "")  # restored when the test is over
    options = ["--xacro-arg", "name:=a", "--xacro-arg", "mass:=3"]
    options += ["--package-path", str(tmp_path / "elsewhere")]
    result = CliRunner().invoke(app, ["check", str(robot), "--json", *options])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["name"], found["mass"]) == ("a", 3.0)
    # viewers and controllers get the same robot
    assert 'name="a"' in robot_description(robot, rd.load(robot))


def test_an_argument_of_another_form_is_refused(robot):
    result = CliRunner().invoke(app, ["check", str(robot), "--xacro-arg", "name=a"])
    assert result.exit_code == 1
    assert "xacro argument 'name=a', expected name:=value" in result.output


ENDLESS = {
    "time": "9**9**9",
    "memory": "len([0]*10**10)",
    "loop": "sum(python.range(10**12))",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_expressions_without_end_are_refused(name, tmp_path, monkeypatch):
    monkeypatch.setattr(xacro_text, "TIME", 1)
    file = tmp_path / "endless.xacro"
    file.write_text(
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="a">'
        f'<inertial><mass value="${{{ENDLESS[name]}}}"/></inertial></link></robot>'
    )
    with pytest.raises(rd.RobodynError, match=r"endless\.xacro: xacro .*expression"):
        rd.load(file)
