"""Every node of a running graph is killed and started again; the others carry on."""

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

pytestmark = pytest.mark.ros
MODEL = "stewart_symmetric"
# slow enough to be still under way when all have been restarted
WAYPOINTS = """
waypoints:
  - {xyz: [0, 0, 0.82], rpy: [0, 0, 0]}
  - {xyz: [0.1, 0, 0.9], rpy: [0, 0, 0.1], duration: 120.0}
"""
PARAMETERS = {
    "trajectory_planner": {"path": "slow.yaml"},
    "inverse_dynamics": {"mode": "computed_torque"},
    "condition_monitor": {},
    "forward_simulator": {"stepping": "realtime"},
}


class Graph:
    """Four processes, and what they say."""

    def __init__(self, peer, folder) -> None:
        self.peer, self.folder = peer, folder
        (folder / "slow.yaml").write_text(WAYPOINTS)
        self.processes: dict[str, Process] = {}
        for name in PARAMETERS:
            self.start(name)
        self.states = peer.listen(Odometry, "platform_state")
        self.commands = peer.listen(JointState, "joint_commands")
        self.numbers = peer.listen(Float64, "condition_number")
        self.paths = peer.listen(MultiDOFJointTrajectory, "platform_trajectory", LATCHED)

    def start(self, name: str) -> None:
        arguments = ros_arguments({"model": MODEL} | PARAMETERS[name])
        self.processes[name] = Process(
            [executable(name), *arguments], self.peer.domain, self.folder
        )

    def kill(self, name: str) -> None:
        process = self.processes[name]
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL

    def carries_on(self) -> None:
        """New states are answered with commands of their stamps, and are judged."""
        known = len(self.states), len(self.commands), len(self.numbers)
        self.peer.until(
            lambda: len(self.numbers) > known[2] + 5 and self.answered(*known[:2]) > 5,
            "states that are answered",
        )
        assert all(process.alive for process in self.processes.values())

    def answered(self, states: int, commands: int) -> int:
        stamps = {messages.to_nanoseconds(s.header.stamp) for s in self.states[states:]}
        told = {messages.to_nanoseconds(c.header.stamp) for c in self.commands[commands:]}
        return len(stamps & told)


@pytest.fixture(scope="module")
def graph(peer, tmp_path_factory):
    made = Graph(peer, tmp_path_factory.mktemp("graph"))
    yield made
    for process in made.processes.values():
        process.close()


def test_it_flies(graph):
    graph.carries_on()
    assert graph.paths


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_restart_of_each_in_turn(graph, name):
    before = len(graph.paths)
    graph.kill(name)
    graph.peer.spin(0.5)
    others = [process for other, process in graph.processes.items() if other != name]
    assert all(process.alive for process in others)
    if name == "forward_simulator":
        # the controller notices: a second later it lets go
        graph.processes["inverse_dynamics"].wait_for_line("no platform_state for 0.5 s")
    graph.start(name)
    if name == "trajectory_planner":
        graph.peer.until(lambda: len(graph.paths) > before, "the path of the new planner")
    if name == "inverse_dynamics":
        # the path is latched, so a controller that comes late flies it too
        graph.processes[name].wait_for_line("points accepted")
    graph.carries_on()
    assert all("Traceback" not in process.output for process in graph.processes.values())


def test_efforts_were_finite_and_within_the_limits_all_the_time(graph):
    efforts = np.array([command.effort for command in graph.commands])
    assert np.isfinite(efforts).all()
    assert (np.abs(efforts) <= rd.load(MODEL).effort_limits).all()


def test_it_is_on_its_path_again_in_the_end(graph):
    """After the simulator's restart its time began anew; the path begins at home."""

    def on_path() -> bool:
        pose = messages.pose_array(graph.states[-1].pose.pose)
        home = rd.load(MODEL).home
        return bool(np.linalg.norm(pose[:3] - home[:3]) < 0.02)

    graph.peer.until(on_path, "the platform near the beginning of its path", timeout=20.0)
