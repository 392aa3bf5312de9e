# SPDX-License-Identifier: Apache-2.0

"""Nodes on a moving base with an IMU."""

from __future__ import annotations

import numpy as np
import pytest
from geometry_msgs.msg import Vector3
from local_graph import LocalGraph
from message_makers import joint_state
from sensor_msgs.msg import Imu, JointState

import robodyn as rd
from robodyn_ros import messages

pytestmark = [
    pytest.mark.ros,
    pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning"),
]
PERIOD = 5_000_000


def imu(stamp, force, rate=(0.0, 0.0, 0.0), frame="base_link"):
    message = Imu(linear_acceleration=Vector3(), angular_velocity=Vector3())
    message.header.stamp, message.header.frame_id = messages.to_stamp(stamp), frame
    for vector, values in ((message.linear_acceleration, force), (message.angular_velocity, rate)):
        vector.x, vector.y, vector.z = (float(value) for value in values)
    return message


@pytest.fixture(scope="module")
def arm():
    return rd.load("puma560")


def test_efforts_are_those_on_the_base_until_it_is_silent(arm):
    given = {"model": "puma560", "mode": "gravity_compensation", "watchdog_timeout": 0.0}
    with LocalGraph({"inverse_dynamics": given}) as graph:
        states = graph.publisher(JointState, "joint_states")
        unit = graph.publisher(Imu, "base_imu")
        received = graph.listen(JointState, "joint_commands")
        still = np.zeros(6)

        def efforts(stamp):
            states.publish(joint_state(stamp, arm.joint_names, arm.home, still))
            due = messages.to_stamp(stamp)
            return np.array(graph.until(
                lambda: next((m for m in received if m.header.stamp == due), None), "a command"
            ).effort)  # fmt: skip

        def reported(stamp, message, expected):
            """Until it has come: efforts asked for again and again, at times of their own."""

            def answered():
                nonlocal stamp
                stamp += 1
                return np.allclose(efforts(stamp), expected, rtol=0.0, atol=1e-9)

            unit.publish(message)
            graph.until(answered, "the efforts on this base")

        leaning = rd.BaseMotion([1.0, -2.0, 9.0], [0.2, 0.1, 0.3])
        expected = arm.gravity(arm.home, base=leaning)
        assert np.abs(expected - arm.gravity(arm.home)).max() > 1.0
        np.testing.assert_allclose(efforts(PERIOD), arm.gravity(arm.home), atol=1e-12)
        reported(2 * PERIOD, imu(2 * PERIOD, *np.split(leaning.rows[:6], 2)), expected)
        # what cannot be leaves the last one
        for wrong, words in (
            (imu(3 * PERIOD, [np.nan, 0.0, 9.81]), "nan"),
            (imu(3 * PERIOD, [0.0, 0.0, 1e9]), "imu"),
            (imu(PERIOD, [0.0, 0.0, 9.81]), "after the previous sample"),
            (imu(3 * PERIOD, [0.0, 0.0, 9.81], frame="elsewhere"), "'elsewhere'"),
        ):
            # not rejected while TF may still get its frame
            while not any("base_imu refused" in line and words in line for line in graph.lines):
                unit.publish(wrong)
                graph.spin(1.1)
            np.testing.assert_allclose(efforts(4 * PERIOD), expected, atol=1e-9)
        np.testing.assert_allclose(efforts(10**9), arm.gravity(arm.home), atol=1e-12)
        graph.line("base_imu is", "older than the state", "at rest")


def test_a_simulator_moves_as_a_plant_on_that_base(arm):
    with LocalGraph({"forward_simulator": {"model": "puma560", "command_timeout": 600.0}}) as graph:
        received = graph.listen(JointState, "joint_states")
        commands = graph.publisher(JointState, "joint_commands")
        unit = graph.publisher(Imu, "base_imu")
        # enough that dry friction does not hold it
        push, effort = [9.0, 1.0, 8.0], arm.gravity(arm.home) + np.diag([60.0] * 6)[0]

        def state(stamp):
            reference = messages.to_stamp(stamp)
            found = graph.until(
                lambda: next((m for m in received if m.header.stamp == reference), None), "a state"
            )
            return np.array(found.position)

        plant, still = rd.Plant(arm, dt=1e-3), rd.Plant(arm, dt=1e-3)
        state(0)
        unit.publish(imu(0, push))
        graph.spin(0.3)
        for k in range(1, 4):
            commands.publish(joint_state((k - 1) * PERIOD, arm.joint_names, effort=effort))
            plant.hold(effort, 5, base=rd.BaseMotion(push))
            still.hold(effort, 5)
            np.testing.assert_allclose(state(k * PERIOD), plant.configuration, atol=1e-12)
        assert np.abs(plant.configuration - still.configuration).max() > 1e-6
