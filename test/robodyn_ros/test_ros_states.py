# SPDX-License-Identifier: Apache-2.0

"""States as drivers publish them: what nodes make up for, and what they report of it."""

from __future__ import annotations

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.qos import qos_profile_sensor_data
from ros_harness import Peer, Process, executable, free_domain, ros_arguments
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

import robodyn as rd
from robodyn_ros import messages

pytestmark = pytest.mark.ros
HOLD = {"model": "puma560", "idle": "hold", "watchdog_timeout": 0.5}
OK, WARN, ERROR = b"\0", b"\1", b"\2"


@pytest.fixture
def peer():
    """A node in a domain of this test alone: drivers of others would be rivals."""
    made = Peer(free_domain())
    yield made
    made.close()


@pytest.fixture
def start(peer):
    """Start a node in the peer's domain: start(name, {parameter: value})."""
    started = []

    def start_node(name, parameters):
        process = Process([executable(name), *ros_arguments(parameters)], peer.domain)
        started.append(process)
        peer.partners.append(process)
        return process

    yield start_node
    for process in started:
        process.close()


@pytest.fixture(scope="module")
def arm():
    return rd.load("puma560").without_friction()


class Driver:
    """Publishes what `make` returns for a stamp [ns] and a count, 100 times a second."""

    def __init__(self, peer, make, qos=10, publishers=1):
        self.peer, self.make, self.count = peer, make, 0
        node = peer.node
        self.publishers = [
            node.create_publisher(JointState, "joint_states", qos) for _ in range(publishers)
        ]
        self.statuses: dict[str, list] = {}
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self.timer = node.create_timer(0.01, self._tick)

    def _tick(self):
        self.count += 1
        stamp = self.peer.node.get_clock().now().nanoseconds
        for publisher, message in zip(self.publishers, self.make(stamp, self.count), strict=True):
            if message is not None:
                publisher.publish(message)

    def _on_diagnostics(self, message):
        for status in message.status:
            self.statuses.setdefault(status.name, []).append(status)

    def status(self, name, level, *texts):
        """The first status of this level with these texts."""

        def found():
            return next(
                (
                    status
                    for status in self.statuses.get(name, [])
                    if status.level == level and all(text in status.message for text in texts)
                ),
                None,
            )

        return self.peer.until(found, f"{name} at {level} with {texts}")


def state(names, q, v=None, stamp=0):
    message = JointState(name=list(names), position=[float(x) for x in q])
    if v is not None:
        message.velocity = [float(x) for x in v]
    message.header.stamp = messages.to_stamp(stamp)
    return message


def holds(peer, commands, arm, q, count=20):
    """Commands that hold the arm where it is."""
    expected = arm.gravity(q)

    def held():
        last = commands[-count:]
        return len(last) == count and all(
            np.allclose(message.effort, expected, atol=1e-6 * np.abs(expected).max() + 1e-3)
            for message in last
        )

    peer.until(held, "efforts that hold the arm")


Q = np.array([0.1, -0.5, 0.3, 0.2, -0.1, 0.4])
STILL = np.zeros(6)


def whole(stamp, names):
    return [state(names, Q, STILL, stamp)]


CASES = {
    "best effort": (lambda t, k, n: whole(t, n), qos_profile_sensor_data, 1, ""),
    "no stamps": (lambda t, k, n: whole(0, n), 10, 1, "stamps"),
    "one stamp": (lambda t, k, n: whole(100 * 10**9 + 7, n), 10, 1, "stamps"),
    "whole seconds": (lambda t, k, n: whole(t - t % 10**9, n), 10, 1, "stamps"),
    "no velocities": (lambda t, k, n: [state(n, Q, None, t)], 10, 1, "joint1"),
    "NaN velocities": (lambda t, k, n: [state(n, Q, STILL + np.nan, t)], 10, 1, "joint1"),
    "a gripper without velocity": (
        lambda t, k, n: [state([*n, "finger"], [*Q, 0.0], STILL, t)],
        *(10, 1, "joint1"),
    ),
    "two messages": (
        lambda t, k, n: [state(n[:2], Q[:2], STILL[:2], t), state(n[2:], Q[2:], STILL[2:], t)],
        *(10, 2, ""),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_states_of_all_kinds_of_drivers_are_answered(peer, start, arm, case):
    make, qos, publishers, expected = CASES[case]
    start("inverse_dynamics", HOLD | {"friction": False})
    commands = peer.listen(JointState, "joint_commands")
    driver = Driver(peer, lambda t, k: make(t, k, arm.joint_names), qos, publishers)
    holds(peer, commands, arm, Q)

    def advance():
        stamps = [messages.to_nanoseconds(message.header.stamp) for message in commands[-20:]]
        return all(later > earlier for earlier, later in zip(stamps, stamps[1:], strict=False))

    peer.until(advance, "commands whose times advance")
    if expected:
        driver.status("inverse_dynamics: states", WARN, expected)


def test_differentiate_may_be_switched_off(peer, start, arm):
    start("inverse_dynamics", HOLD | {"differentiate": False})
    driver = Driver(peer, lambda t, k: [state(arm.joint_names, Q, None, t)])
    driver.status("inverse_dynamics: efforts", ERROR, "joint_states", "differentiate")


def test_a_wrong_prefix_is_named(peer, start, arm):
    start("inverse_dynamics", HOLD | {"watchdog_timeout": 5.0})
    names = [f"left_{name}" for name in arm.joint_names]
    driver = Driver(peer, lambda t, k: [state(names, Q, STILL, t)])
    driver.status("inverse_dynamics: efforts", WARN, "'left_'")
    driver.status("inverse_dynamics: efforts", ERROR, "'left_'")


def test_a_stale_publisher_is_named_and_outvoted(peer, start, arm):
    start("inverse_dynamics", HOLD | {"friction": False})
    commands = peer.listen(JointState, "joint_commands")

    def make(stamp, count):
        stale = state(arm.joint_names, STILL, STILL, stamp) if count % 10 == 0 else None
        return [state(arm.joint_names, Q, STILL, stamp), stale]

    driver = Driver(peer, make, publishers=2)
    driver.status("inverse_dynamics: states", ERROR, "2 publishers", "peer")
    begun = len(commands)
    holds(peer, commands, arm, Q, count=100)
    at_zero = arm.gravity(STILL)
    assert not any(np.allclose(each.effort, at_zero) for each in commands[begun:])


@pytest.mark.parametrize(
    ("node", "model", "name"),
    [
        ("inverse_dynamics", "puma560", "inverse_dynamics: efforts"),
        ("condition_monitor", "puma560", "condition_monitor: states"),
        ("trajectory_planner", "puma560", "trajectory_planner: states"),
        ("trajectory_planner", "stewart_symmetric", "trajectory_planner: states"),
        ("state_estimator", "stewart_symmetric", "state_estimator: states"),
        ("joint_commander", "stewart_symmetric", "joint_commander: states"),
    ],
)
def test_nodes_that_wait_report_it_from_the_first_period_on(peer, start, node, model, name):
    parameters = {"model": model}
    if node == "joint_commander":
        parameters |= {"homing": "absolute", "feedback_timeout": 5.0}
    if node == "inverse_dynamics":
        parameters["watchdog_timeout"] = 5.0
    if node == "state_estimator":
        parameters["timeout"] = 5.0
    start(node, parameters)
    driver = Driver(peer, lambda t, k: [None])
    first = driver.status(name, WARN, "waiting for", "_state")
    assert any(value.key == "waiting" for value in first.values)
    driver.status(name, ERROR, "waiting for")


def test_a_publisher_of_another_type_is_named(peer, start):
    start("inverse_dynamics", HOLD | {"watchdog_timeout": 5.0})
    driver = Driver(peer, lambda t, k: [], publishers=0)
    peer.node.create_publisher(Float64MultiArray, "joint_states", 10)
    types = "peer publishes std_msgs/msg/Float64MultiArray, not sensor_msgs/msg/JointState"
    driver.status("inverse_dynamics: states", WARN, types)


def test_drives_that_compensate_gravity_get_none(peer, start, arm):
    start("inverse_dynamics", HOLD | {"friction": False, "gravity": [0.0, 0.0, 0.0]})
    commands = peer.listen(JointState, "joint_commands")
    Driver(peer, lambda t, k: whole(t, arm.joint_names))
    peer.until(lambda: len(commands) > 5, "commands")
    np.testing.assert_allclose(commands[-1].effort, 0.0, atol=1e-9)
    assert np.abs(arm.gravity(Q)).max() > 10.0
