# SPDX-License-Identifier: Apache-2.0

"""A crank of a closed loop that turns without end, by a driver whose encoder wraps at pi."""

import numpy as np
import pytest
from local_graph import LocalGraph
from message_makers import joint_state
from ros_harness import LATCHED
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

import robodyn as rd
from robodyn_ros import messages

pytestmark = pytest.mark.ros
LINK = """<link name="{name}"><inertial><origin xyz="{half} 0 0"/><mass value="0.5"/>
  <inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>"""
JOINT = """<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="{x} 0 0"/><axis xyz="0 1 0"/><dynamics damping="0.01"/></joint>"""
# A crank-rocker: the shortest and the longest link are no longer than the other two (Grashof).
CRANK_ROCKER = f"""<robot name="crank_rocker"><link name="base"/>
  {LINK.format(name="wheel", half=0.05)}{LINK.format(name="coupler", half=0.15)}
  {LINK.format(name="rocker", half=0.12)}
  {JOINT.format(name="crank", parent="base", child="wheel", x=0)}
  {JOINT.format(name="pin", parent="wheel", child="coupler", x=0.1)}
  {JOINT.format(name="pivot", parent="base", child="rocker", x=0.3)}
  <constraint name="end" type="spherical"><parent link="coupler"/><parent_origin xyz="0.3 0 0"/>
  <child link="rocker"/><child_origin xyz="0.25 0 0"/></constraint>
  <ros2_control name="drives" type="system"><joint name="crank"><command_interface name="effort"/>
  </joint></ros2_control></robot>"""
PERIOD, TURNS = 10_000_000, 3.0


def test_a_crank_turns_on_past_pi(tmp_path):
    model = tmp_path / "crank_rocker.urdf"
    model.write_text(CRANK_ROCKER)
    m = rd.load(str(model))
    assert (m.joint_names, m.mobility) == (("crank",), 1)
    plant = rd.Plant(m, dt=1e-3)
    first = m.joint_positions(m.home)
    line = rd.plan_joints(first, first + 2.0 * np.pi * TURNS, duration=3.0)
    times = np.linspace(0.0, line.duration, 301)
    message = messages.joint_trajectory(m.joint_names, times, line.sample(times))
    message.header.stamp = messages.to_stamp(PERIOD)
    given = {"model": str(model), "watchdog_timeout": 0.0, "handover": 0.0}
    given |= {"kp": 400.0, "kv": 40.0}
    turned, errors, wraps = float(first[0]), [], 0
    with LocalGraph({"inverse_dynamics": given}) as graph:
        states = graph.publisher(JointState, "joint_states")
        trajectories = graph.publisher(JointTrajectory, "joint_trajectory", LATCHED)
        commands = graph.listen(JointState, "joint_commands")
        trajectories.publish(message)
        graph.line("points accepted")
        for k in range(1, len(times)):
            position, rate = m.joint_positions(plant.configuration), plant.velocity
            measured = np.remainder(position + np.pi, 2.0 * np.pi) - np.pi
            wraps += bool(np.abs(measured - position).max() > 1.0)
            known = len(commands)
            states.publish(joint_state(PERIOD * k, m.joint_names, measured, rate))
            graph.until(lambda known=known: len(commands) > known, "a command")
            before = plant.velocity[0]
            plant.hold(np.array(commands[-1].effort), round(1e-6 * PERIOD))
            turned += 0.5e-9 * PERIOD * (before + plant.velocity[0])
            desired = line.sample(1e-9 * PERIOD * k)
            errors.append(abs(turned - desired.configuration[0]))
        assert not any("aborted" in each or "deviat" in each for each in graph.lines)
    assert turned - first[0] > 2.0 * np.pi * (TURNS - 0.01)
    assert max(errors) < 0.05
    assert wraps > 50
