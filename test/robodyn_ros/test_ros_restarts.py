# SPDX-License-Identifier: Apache-2.0

"""Every node of a running graph is killed and started again, and a rival comes; it carries on.

The mechanism is the paper's, an inverted pendulum in most directions: it falls within a second when
nobody holds it. All the time it must be found on the line that it is to follow.
"""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
from nav_msgs.msg import Odometry
from ros_harness import LATCHED, Process, executable, ros_arguments
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from trajectory_msgs.msg import MultiDOFJointTrajectory

import robodyn as rd
from robodyn_ros import messages

pytestmark = [
    pytest.mark.ros,
    pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning"),
]
MODEL = "stewart_dasgupta"
# On one line; slow enough to be still under way when all have been restarted.
FROM, TO, RIVAL = np.array([[0.1, 0.0, 0.4], [0.12, 0.01, 0.42], [0.14, 0.02, 0.44]])
WAYPOINTS = """
waypoints:
  - {{xyz: {}, rpy: [0, 0, 0]}}
  - {{xyz: {}, rpy: [0, 0, 0], duration: {}}}
"""
# How far [m] from its line it may be found: commands that a busy machine delays by 0.3 s are 30 ms
# late for a platform that falls freely, 4 mm. One that nobody holds falls on.
NEAR = 5e-3
FILES = {
    "slow.yaml": WAYPOINTS.format(FROM.tolist(), TO.tolist(), 120.0),
    "rival.yaml": WAYPOINTS.format(FROM.tolist(), RIVAL.tolist(), 0.5),
}
START = [*FROM.tolist(), 0.0, 0.0, 0.0, 1.0]
PARAMETERS = {
    "trajectory_planner": {"path": "slow.yaml", "sample_period": 0.05},
    "inverse_dynamics": {
        "mode": "computed_torque",
        "handover": 0.1,
        "watchdog_timeout": 1.0,
        "watchdog_hold": 0.2,
        "watchdog_ramp": 0.2,
    },
    "condition_monitor": {},
    # so slow that the delays of a busy machine do not make the closed loop unstable
    "forward_simulator": {
        "stepping": "realtime",
        "real_time_factor": 0.1,
        "brake_timeout": 0.05,
        "initial_configuration": START,
    },
}


class Graph:
    """Four processes and their output."""

    def __init__(self, peer, folder) -> None:
        self.peer, self.folder = peer, folder
        for name, text in FILES.items():
            (folder / name).write_text(text)
        self.processes: dict[str, Process] = {}
        for name, parameters in PARAMETERS.items():
            self.start(name, parameters)
        self.states = peer.listen(Odometry, "platform_state")
        self.commands = peer.listen(JointState, "joint_commands")
        self.numbers = peer.listen(Float64, "condition_number")
        self.paths = peer.listen(MultiDOFJointTrajectory, "platform_trajectory", LATCHED)

    def start(self, name: str, parameters: dict[str, object], *more: str) -> Process:
        arguments = ros_arguments({"model": MODEL} | parameters, *more)
        process = Process([executable(name), *arguments], self.peer.domain, self.folder)
        self.processes["rival" if more else name] = process
        return process

    def kill(self, name: str) -> None:
        process = self.processes.pop(name)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert "Traceback" not in process.output

    def carries_on(self) -> None:
        """Check that new states lead to commands with their stamps."""
        known = len(self.states), len(self.commands), len(self.numbers)
        self.peer.until(
            lambda: len(self.numbers) > known[2] + 5 and self.answered(*known[:2]) > 5,
            "states that are answered",
        )
        assert all(process.alive for process in self.processes.values())

    def answered(self, states: int, commands: int) -> int:
        stamps = {messages.to_nanoseconds(s.header.stamp) for s in self.states[states:]}
        reported = {messages.to_nanoseconds(c.header.stamp) for c in self.commands[commands:]}
        return len(stamps & reported)

    @property
    def position(self) -> np.ndarray:
        return messages.pose_array(self.states[-1].pose.pose)[:3]


@pytest.fixture(scope="module")
def graph(peer, tmp_path_factory):
    made = Graph(peer, tmp_path_factory.mktemp("graph"))
    yield made
    for process in made.processes.values():
        process.close()


def test_the_platform_follows_its_path(graph):
    graph.carries_on()
    assert graph.paths


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_restart_of_each_in_turn(graph, name):
    before = len(graph.paths)
    graph.kill(name)
    graph.peer.spin(0.5)
    assert all(process.alive for process in graph.processes.values())
    if name == "inverse_dynamics":
        # brakes hold it at its position
        graph.processes["forward_simulator"].wait_for_line("no command for 0.05 s: brakes closed")
    if name == "forward_simulator":
        graph.processes["inverse_dynamics"].wait_for_line("no platform_state for 1 s")
        graph.peer.until(lambda: not any(graph.commands[-1].effort), "a controller that lets go")
    process = graph.start(name, PARAMETERS[name])
    if name == "trajectory_planner":
        graph.peer.until(lambda: len(graph.paths) > before, "the path of the new planner")
    if name == "inverse_dynamics":
        # the path is latched, so a controller that starts late follows it too
        process.wait_for_line("points accepted")
    graph.carries_on()


def test_the_latest_path_of_two_planners_is_followed(graph):
    controller = graph.processes["inverse_dynamics"]
    graph.start(
        "trajectory_planner", {"path": "rival.yaml", "sample_period": 0.05}, "-r", "__node:=rival"
    )
    controller.wait_for_line("[WARN]", "platform_trajectory has 2 publishers: the latest")
    graph.peer.until(
        lambda: np.linalg.norm(graph.position - RIVAL) < 1e-3, "the end of the rival's path"
    )
    graph.kill("rival")
    graph.carries_on()
    graph.peer.until(
        lambda: np.linalg.norm(graph.position - RIVAL) < 1e-3, "the rival's path being held"
    )


def test_the_platform_stays_on_its_line_through_restarts(graph):
    poses = np.array([messages.pose_array(state.pose.pose) for state in graph.states])
    along = (RIVAL - FROM) / np.linalg.norm(RIVAL - FROM)
    off = poses[:, :3] - FROM
    covered = off @ along
    assert np.linalg.norm(off - covered[:, None] * along, axis=1).max() < NEAR
    assert covered.min() > -NEAR
    assert covered.max() < np.linalg.norm(RIVAL - FROM) + NEAR
    assert np.abs(poses[:, 3:6]).max() < 2 * NEAR


def test_efforts_were_finite_and_within_the_limits_all_the_time(graph):
    efforts = np.array([command.effort for command in graph.commands])
    assert np.isfinite(efforts).all()
    assert (np.abs(efforts) <= rd.load(MODEL).effort_limits).all()
    assert all("Traceback" not in process.output for process in graph.processes.values())
