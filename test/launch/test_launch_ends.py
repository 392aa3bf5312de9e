# SPDX-License-Identifier: Apache-2.0

"""End of a launch that does not complete: by a dead process, by Ctrl-C."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from launch.actions import RegisterEventHandler
from launch_harness import FLIGHT, NODES
from launch_ros.actions import Node
from ros_harness import session_of

from launch import LaunchContext
from robodyn_ros.launch_helpers.description import description_nodes
from robodyn_ros.launch_helpers.simulation import simulation_arguments, simulation_nodes

if TYPE_CHECKING:
    from launch_harness import Launch

pytestmark = pytest.mark.system


def has_started(pid: int) -> bool:
    """Whether Python itself is up: before that, Ctrl-C meets no line of ours."""
    return "_rclpy" in Path(f"/proc/{pid}/maps").read_text()


def when_all_have_started(flight: Launch) -> dict[str, int]:
    """The process ids of the nodes, as soon as their Python is up."""
    pids = {node: flight.pid_of(node) for node in NODES}
    deadline = time.monotonic() + FLIGHT
    while not all(map(has_started, pids.values())):
        assert time.monotonic() < deadline, flight.output
        time.sleep(0.01)
    return pids


# Each has a handler of its own kind: one of several nodes alike, and the one whose end otherwise is
# the end of the run. The latter dies while it starts.
DEATHS = {"forward_simulator": "points accepted", "run_summary": ""}


@pytest.fixture(scope="module")
def deaths(launch):
    """A launch for each node, over since that node was killed, with its exit code."""

    def end_of(node: str) -> tuple[Launch, int, dict[int, str]]:
        flight = launch(path="I")
        pids = when_all_have_started(flight)
        if DEATHS[node]:
            flight.process.wait_for_line(DEATHS[node], timeout=FLIGHT)
        os.kill(pids[node], signal.SIGKILL)
        code = flight.wait()
        return flight, code, session_of(flight.process.pid)

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(DEATHS, pool.map(end_of, DEATHS), strict=True))


def test_every_node_has_a_handler_of_its_end():
    context = LaunchContext()
    for argument in simulation_arguments("stewart_dasgupta", "stewart_sim.yaml"):
        argument.execute(context)
    context.launch_configurations["record"] = "true"
    parts = simulation_nodes(context, "stewart_sim.yaml", "")
    handlers = [part for part in parts if isinstance(part, RegisterEventHandler)]
    nodes = [part for part in parts if isinstance(part, Node)]
    # robot_state_publisher, if installed, is for display: a run continues without it
    shown = [part for part in description_nodes(context) if isinstance(part, Node)]
    assert len(handlers) == len(nodes) - len(shown) > len(NODES)


@pytest.mark.parametrize("node", DEATHS)
def test_the_death_of_any_process_ends_the_launch_and_is_named(deaths, node):
    flight, code, left = deaths[node]
    assert code != 0
    died = [line for line in flight.lines if "process has died" in line]
    assert len([line for line in died if f"[{node}-" in line and "exit code -9" in line]) == 1
    named = [line for line in flight.lines if "before the run was done" in line]
    assert len(named) == 1, flight.output
    assert f"{node}-" in named[0]
    assert left == {}
    assert "Traceback" not in flight.output
    assert not (flight.output_folder / "summary.json").exists()


@pytest.mark.parametrize("when", ["starting", "flying"])
def test_ctrl_c_leaves_no_process_behind(launch, when):
    flight = launch(path="I")
    pids = when_all_have_started(flight)
    if when == "flying":
        flight.process.wait_for_line("points accepted", timeout=FLIGHT)
    flight.process.signal(signal.SIGINT)
    flight.wait()
    assert session_of(flight.process.pid) == {}
    for pid in pids.values():
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert "Traceback" not in flight.output
