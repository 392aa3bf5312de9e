# SPDX-License-Identifier: Apache-2.0

"""Commands in motor torques, from inverse_dynamics to forward_simulator, and units that differ."""

from __future__ import annotations

import numpy as np
import pytest
from local_graph import LocalGraph
from message_makers import joint_state
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

import robodyn as rd
from robodyn_ros import messages

pytestmark = pytest.mark.ros
UNIT = {"model": "motion_platform", "command_unit": "torque"}


def by_stamp(received, names):
    return {
        messages.to_nanoseconds(m.header.stamp): messages.joint_values(m, names, "effort")
        for m in received
    }


def test_torques_on_the_topic_are_efforts_at_the_joints():
    machine = rd.load("motion_platform")
    nodes = {"inverse_dynamics": {"idle": "hold"} | UNIT, "forward_simulator": UNIT}
    with LocalGraph(nodes) as graph:
        commands = graph.listen(JointState, "joint_commands")
        forces = graph.listen(JointState, "inverse_dynamics/forces")
        joints = graph.listen(JointState, "joint_states")
        arrays = graph.listen(Float64MultiArray, "effort_controller/commands")
        graph.until(lambda: len(joints) > 8 and len(commands) > 8 and forces, "a run")
        assert {message.header.frame_id for message in commands} == {"torque"}
        graph.until(lambda: arrays, "an array")
        assert arrays[0].layout.dim[0].label == "torque"
        torque, force, borne = (
            by_stamp(received, machine.joint_names) for received in (commands, forces, joints)
        )
        after = {stamp: borne[stamp + 5_000_000] for stamp in force if stamp + 5_000_000 in borne}
        shared = sorted(set(torque) & set(after))
        assert len(shared) > 3
        for stamp in shared:
            # the effort in the next state is the commanded one, given as a torque
            assert after[stamp] == pytest.approx(force[stamp], rel=1e-9)
            about = np.abs(machine.motor_torques(force[stamp]))
            assert (np.abs(torque[stamp]) <= about * (1.0 + 1e-9)).all()
            assert (np.abs(torque[stamp]) >= about * (0.9**2 - 1e-9)).all()
        stray = joint_state(0, machine.joint_names, effort=np.zeros(6))
        stray.header.frame_id = "current"
        others = graph.publisher(JointState, "joint_commands")

        def ignored() -> bool:
            # only commands for the present state are used
            stray.header.stamp = joints[-1].header.stamp
            others.publish(stray)
            return any("joint_commands ignored" in line for line in graph.lines)

        graph.until(ignored, "a line about the command in another unit")
        assert "in units of current, expected torque" in graph.line("joint_commands ignored")
