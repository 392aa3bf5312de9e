# SPDX-License-Identifier: Apache-2.0

"""forward_simulator with a real executor: what it senses, carries, and how it is stepped."""

from __future__ import annotations

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from local_graph import LocalGraph
from message_makers import joint_state
from nav_msgs.msg import Odometry
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

import robodyn as rd
from robodyn.simulation import Plant, Sensor
from robodyn_ros import messages

pytestmark = pytest.mark.ros
MODEL = "stewart_symmetric"
PERIOD, STEPS = 5_000_000, 5
REST = np.zeros(6)


class Simulator:
    """A lockstep simulator; the test plays the controller."""

    def __init__(self, **parameters: object) -> None:
        given = {"model": MODEL, "command_timeout": 600.0} | parameters
        self.graph = graph = LocalGraph({"forward_simulator": given})
        self.states = graph.listen(Odometry, "platform_state")
        self.commands = graph.publisher(JointState, "joint_commands")
        self.wrenches = graph.publisher(WrenchStamped, "external_wrench")
        self.state_at(0)

    def state_at(self, stamp: int):
        """Return pose and twist for a time."""

        def found():
            return [s for s in self.states if messages.to_nanoseconds(s.header.stamp) == stamp]

        return messages.platform_state(self.graph.until(found, f"a state at {stamp}")[-1])[1:]

    def answer(self, stamp: int, names, effort) -> None:
        self.commands.publish(joint_state(stamp, names, effort=effort))

    def execute(self, names, efforts):
        """Return the states while these efforts are applied, a row per period."""
        reported = []
        for k, effort in enumerate(efforts):
            reported.append(np.concatenate(self.state_at(k * PERIOD)))
            self.answer(k * PERIOD, names, effort)
        reported.append(np.concatenate(self.state_at(len(efforts) * PERIOD)))
        return np.array(reported)

    def call(self, service, kind=Trigger, request=None):
        return self.graph.call(kind, f"forward_simulator/{service}", request)

    def reset(self) -> None:
        assert self.call("reset").success
        self.graph.spin(0.05)
        self.states.clear()
        self.state_at(0)


@pytest.fixture(scope="module")
def platform():
    return rd.load(MODEL)


@pytest.fixture(scope="module")
def efforts(platform, random_numbers):
    rng = random_numbers("efforts of test_ros_simulated")
    hold = platform.inverse_dynamics(platform.home, REST, REST)
    return hold * (1.0 + 0.05 * rng.normal(size=(12, 6)))


def plants(mechanism, efforts, load=None):
    """True states, a row a period."""
    plant = Plant(mechanism, dt=1e-3)
    rows = [(plant.configuration, plant.velocity)]
    for effort in efforts:
        plant.hold(effort, STEPS, None if load is None else load(plant.configuration))
        rows.append((plant.configuration, plant.velocity))
    return rows


def measured(mechanism, rows, *sensor):
    sensor = Sensor(mechanism, *sensor)
    return np.array([np.concatenate(sensor.measure(*row)) for row in rows])


def same(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_noise_is_seeded(platform, efforts):
    """Equal seeds give equal states, in another run and after a reset; another does not."""
    names, noise = platform.joint_names, {"position_noise": 1e-3, "velocity_noise": 1e-2}
    rows = plants(platform, efforts)
    for seed in (5, 6):
        simulator = Simulator(seed=seed, **noise)
        expected = measured(platform, rows, 1e-3, 1e-2, 0, seed)
        with simulator.graph:
            reported = simulator.execute(names, efforts)
            same(reported, expected)
            simulator.reset()
            assert (simulator.execute(names, efforts) == reported).all()
        true = np.array([np.concatenate(row) for row in rows])
        assert 1e-4 < np.abs(reported[:, :3] - true[:, :3]).std() < 1e-2
    other = measured(platform, rows, 1e-3, 1e-2, 0, 5)
    assert np.abs(other - reported).max() > 1e-4


def test_measurements_are_delayed_by_the_latency(platform, efforts):
    simulator = Simulator(latency=3)
    with simulator.graph:
        reported = simulator.execute(platform.joint_names, efforts)
    true = np.array([np.concatenate(row) for row in plants(platform, efforts)])
    same(reported[3:], true[:-3])
    same(reported[:3], true[[0, 0, 0]])


def test_a_payload_unknown_to_the_controller(platform, efforts):
    simulator = Simulator(payload_mass=100.0, payload_com=[0.0, 0.2, 0.3])
    loaded = platform.with_payload(100.0, [0.0, 0.2, 0.3], np.zeros((3, 3)))
    names = platform.joint_names
    with simulator.graph:
        reported = simulator.execute(names, efforts)
        same(reported, measured(loaded, plants(loaded, efforts)))
        # put down at run time, it is the bare platform again
        assert simulator.graph.set("forward_simulator", payload_mass=0.0) == []
        assert simulator.graph.set("forward_simulator", payload_com=[0.0, float("nan"), 0.0])
        simulator.reset()
        bare = simulator.execute(names, efforts)
        same(bare, measured(platform, plants(platform, efforts)))
    assert np.abs(bare - reported).max() > 1e-3


def test_a_wrench_in_the_platforms_frame_turns_with_it(platform, efforts):
    simulator = Simulator()
    reported = np.array([300.0, 0.0, 200.0, 40.0, 0.0, 80.0])

    def load(pose):
        return Rotation.from_quat(pose[3:]).apply(reported.reshape(2, 3)).reshape(6)

    message = WrenchStamped()
    message.header.frame_id = "platform_link"
    part = message.wrench
    part.force.x, part.force.z, part.torque.x, part.torque.z = 300.0, 200.0, 40.0, 80.0
    with simulator.graph:
        simulator.wrenches.publish(message)
        simulator.graph.spin(0.1)
        same(
            simulator.execute(platform.joint_names, efforts),
            measured(platform, plants(platform, efforts, load)),
        )


def test_single_steps_while_paused(platform, efforts):
    simulator = Simulator()
    names = platform.joint_names
    with simulator.graph:
        answer = simulator.call("step")
        assert not answer.success
        assert "paused" in answer.message
        assert simulator.call("pause", SetBool, SetBool.Request(data=True)).success
        plant = Plant(platform, dt=1e-3)
        for k in range(4):
            # a command while paused moves nothing by itself
            simulator.answer(k * PERIOD, names, efforts[k])
            simulator.graph.spin(0.05)
            assert simulator.call("step").success
            plant.hold(efforts[k], STEPS)
            pose, twist = simulator.state_at((k + 1) * PERIOD)
            same(pose, plant.configuration)
            same(twist, plant.velocity)
        assert max(messages.to_nanoseconds(s.header.stamp) for s in simulator.states) == 4 * PERIOD


def test_after_a_failure_no_step_is_taken_until_a_reset(platform, efforts):
    """The mechanism keeps its last good state, and the response states the failure."""
    simulator = Simulator()
    with simulator.graph:
        assert simulator.call("pause", SetBool, SetBool.Request(data=True)).success
        blow = WrenchStamped()
        blow.wrench.force.x = 1e12
        simulator.wrenches.publish(blow)
        simulator.graph.spin(0.05)

        def stopped():
            simulator.call("step")
            return any("simulation stopped" in line for line in simulator.graph.lines)

        simulator.graph.until(stopped, "a failure")
        reported = len(simulator.states)
        answer = simulator.call("step")
        assert not answer.success
        assert "simulation stopped" in answer.message
        simulator.graph.spin(0.05)
        assert simulator.states[reported:] == []
        assert simulator.call("reset").success
        simulator.graph.until(lambda: simulator.states[reported:], "the initial state")
        assert messages.to_nanoseconds(simulator.states[-1].header.stamp) == 0
        simulator.wrenches.publish(WrenchStamped())
        simulator.graph.spin(0.05)
        assert simulator.call("step").success
        simulator.state_at(PERIOD)


def test_efforts_for_joints_in_another_order_with_some_unknown(platform, efforts, scrambled):
    simulator = Simulator()
    order = scrambled(6)
    names = [platform.joint_names[i] for i in order]
    with simulator.graph:
        simulator.answer(0, names[1:], efforts[0][order][1:])
        simulator.graph.line("joint_commands ignored", names[0])
        simulator.answer(0, ["elbow", *names], np.append(1e9, efforts[0][order]))
        pose, _ = simulator.state_at(PERIOD)
    same(pose, plants(platform, efforts[:1])[-1][0])


def test_no_command_yet_is_no_bad_command(platform, efforts):
    """ros2_control sends NaN once a period until the first effort is commanded."""
    names, nothing = platform.joint_names, np.full(6, np.nan)
    simulator = Simulator()
    with simulator.graph as graph:
        node = graph.nodes["forward_simulator"]
        for _ in range(3):
            simulator.answer(0, names, nothing)
        simulator.execute(names, efforts[:2])
        assert node._ignored == 0
        assert not [line for line in graph.lines if "ignored" in line]
        simulator.answer(2 * PERIOD, names, nothing)
        graph.line("joint_commands ignored (1 so far)", "effort[0] is nan")


def test_late_commands_are_counted_where_time_goes_on(platform, efforts):
    given = {"model": MODEL, "stepping": "realtime", "control_rate": 200.0}
    with LocalGraph({"forward_simulator": given}) as graph:
        node = graph.nodes["forward_simulator"]
        for _ in range(20):  # brakes hold it
            node._take_period()
        assert node._real_time().text == "kept"
        node._command = efforts[0]
        node._note_command(efforts[0])
        for _ in range(8):
            node._take_period()
        status = node._real_time()
        assert status.level == 1
        assert status.text == "3 periods with a command at least 5 periods old, the oldest 0.035 s"
