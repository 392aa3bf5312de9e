# SPDX-License-Identifier: Apache-2.0

"""The URDF that a launch hands to robot_state_publisher and to the controller manager."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import robodyn as rd
from robodyn.loading import PLUGIN, frictionless, robot_description
from robodyn.solvers.stewart.drawing import platform_urdf

pytestmark = pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
MODELS = Path(rd.__file__).parent / "bundled"
TOPICS = {"joint_commands_topic": "/here/commands", "joint_states_topic": "/here/states"}


@pytest.fixture(params=rd.models())
def name(request):
    return request.param


def test_robot_description_reloads_as_the_same_mechanism(name, rng):
    mechanism = rd.load(name)
    again = rd.load(robot_description(name, mechanism, ros2_control=True))
    assert again.joint_names == mechanism.joint_names
    freedoms = len(mechanism.coordinates.units)
    displacement, rate, accel = 0.05 * rng.normal(size=(3, freedoms))
    configuration = mechanism.advance(mechanism.home, displacement)
    np.testing.assert_allclose(
        again.inverse_dynamics(configuration, rate, accel),
        mechanism.inverse_dynamics(configuration, rate, accel),
        rtol=1e-9,
        atol=1e-9,
    )


def systems(text):
    return ElementTree.fromstring(text).findall("ros2_control")


@pytest.mark.parametrize("kind", ["bundled", "urdf", "yaml"])
def test_every_driven_joint_has_its_interfaces(kind, tmp_path):
    mechanism = rd.load("stewart_symmetric")
    source = "stewart_symmetric"
    if kind == "urdf":
        source = tmp_path / "platform.urdf"
        source.write_text(platform_urdf(mechanism))
    elif kind == "yaml":
        source = tmp_path / "platform.yaml"
        source.write_bytes((MODELS / "stewart_symmetric.yaml").read_bytes())
    # its actuators are no hardware
    (element,) = systems(robot_description(source, mechanism))
    assert element.find("hardware") is None
    assert not element.findall("joint/command_interface")
    text = robot_description(source, mechanism, ros2_control=True, arguments=TOPICS)
    (system,) = systems(text)
    assert system.findtext("hardware/plugin") == PLUGIN
    reported = {param.get("name"): param.text for param in system.iterfind("hardware/param")}
    assert reported == TOPICS | {"trigger_joint_command_threshold": "-1"}
    assert [joint.get("name") for joint in system.iterfind("joint")] == [*mechanism.joint_names]
    lengths = mechanism.inverse_kinematics(mechanism.home)
    for joint, length in zip(system.iterfind("joint"), lengths, strict=True):
        assert [c.get("name") for c in joint.iterfind("command_interface")] == ["effort"]
        states = joint.findall("state_interface")
        assert [s.get("name") for s in states] == ["position", "velocity", "effort"]
        assert float(states[0].findtext("param")) == pytest.approx(length, abs=1e-7)


def test_hardware_of_ones_own_is_kept(tmp_path):
    mechanism = rd.load("stewart_symmetric").without_actuators()
    text = platform_urdf(mechanism)
    own = text.replace("</robot>", '<ros2_control name="mine" type="system"/></robot>')
    assert robot_description(own, mechanism, ros2_control=True) == own


def test_a_simulation_does_not_start_the_driver_of_the_real_robot():
    """The URDFs of makers come with the hardware plugin that moves the robot."""
    mechanism = rd.load("stewart_symmetric").without_actuators()
    driver = (
        '<ros2_control name="mine" type="system"><hardware><plugin>maker/Driver</plugin>'
        "</hardware></ros2_control></robot>"
    )
    text = platform_urdf(mechanism).replace("</robot>", driver)
    assert robot_description(text, mechanism, ros2_control=True) == text
    simulated = robot_description(
        text, mechanism, ros2_control=True, own_hardware=False, arguments=TOPICS
    )
    (system,) = systems(simulated)
    assert "Driver" not in simulated
    assert [joint.get("name") for joint in system.iterfind("joint")] == [*mechanism.joint_names]
    again = robot_description(simulated, mechanism, ros2_control=True, own_hardware=False)
    assert again == simulated


def test_an_arm_from_yaml_has_the_urdf_that_is_saved(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_bytes((MODELS / "puma560.yaml").read_bytes())
    arm = rd.load(path)
    assert rd.load(robot_description(path, arm)) == arm


@pytest.mark.slow
def test_urdfdom_itself_reads_it(name, tmp_path):
    """check_urdf is urdfdom's own parser; Pinocchio's wheels bring it."""
    beside = str(Path(sys.executable).parent)
    check_urdf = shutil.which("check_urdf", path=os.pathsep.join([beside, os.environ["PATH"]]))
    if check_urdf is None:
        pytest.skip("check_urdf is not installed")
    path = tmp_path / "robot.urdf"
    path.write_text(robot_description(name, rd.load(name), ros2_control=True))
    done = subprocess.run([check_urdf, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Successfully Parsed" in done.stdout
    assert "error" not in done.stderr.lower()


@pytest.mark.parametrize("name", ["stewart_dasgupta", "stewart_symmetric"])
def test_the_legs_of_the_drawn_tree_meet_the_platform(name):
    """Pinocchio places the links by the simulator's joint values of Path I."""
    pin = pytest.importorskip("pinocchio")
    platform = rd.load(name)
    text = robot_description(name, platform)
    tree = pin.buildModelFromXML(text)
    data = tree.createData()
    closures = ElementTree.fromstring(text).findall("constraint")
    assert len(closures) == 6
    path = rd.paper_path("I") if name == "stewart_dasgupta" else hover(platform)
    for t in np.linspace(0.0, path.duration, 13):
        pose, twist, _ = path.sample(t)
        names, position, _ = platform.joint_states(pose, twist)
        q = pin.neutral(tree)
        for joint, value in zip(names, position, strict=True):
            q[tree.joints[tree.getJointId(joint)].idx_q] = value
        floating = tree.joints[tree.getJointId("platform_joint")].idx_q
        # the joint's own origin stands between base and platform
        placed = pin.XYZQUATToSE3(pose)
        home = tree.jointPlacements[tree.getJointId("platform_joint")]
        q[floating : floating + 7] = pin.SE3ToXYZQUAT(home.actInv(placed))
        pin.framesForwardKinematics(tree, data, q)
        for closure in closures:
            points = [
                data.oMf[tree.getFrameId(closure.find(side).get("link"))].act(
                    np.array(closure.find(f"{side}_origin").get("xyz").split(), dtype=float)
                )
                for side in ("parent", "child")
            ]
            np.testing.assert_allclose(*points, rtol=0, atol=1e-9)


def hover(platform):
    goal = platform.advance(platform.home, [0.05, -0.03, 0.04, 0.1, -0.1, 0.2])
    return rd.plan_line(platform.home, goal, duration=2.0)


def test_a_description_without_friction_is_the_model_without(name, rng):
    mechanism = rd.load(name)
    again, without = rd.load(frictionless(robot_description(name, mechanism))), (
        mechanism.without_friction())  # fmt: skip
    velocity = rng.normal(size=len(mechanism.coordinates.units))
    state = mechanism.advance(mechanism.home, 0.02 * velocity), velocity, 0.0 * velocity
    found, expected = (each.inverse_dynamics(*state) for each in (again, without))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_only_a_description_can_be_without_friction():
    with pytest.raises(rd.ModelError):
        frictionless("no description")
