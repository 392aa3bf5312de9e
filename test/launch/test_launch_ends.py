"""How a launch ends when it is not let finish: by a death, by Ctrl-C."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from launch_harness import NODES
from ros_harness import PATIENCE, session_of

pytestmark = pytest.mark.system


@pytest.mark.parametrize("node", ["forward_simulator", "trajectory_planner"])
def test_the_death_of_any_process_ends_the_launch_and_is_named(launch, node):
    flight = launch(path="I")
    pid = flight.pid_of(node)
    flight.process.wait_for_line("points accepted")
    os.kill(pid, signal.SIGKILL)
    assert flight.wait() != 0
    line = flight.process.wait_for_line(f"[{node}-", "process has died")
    assert "exit code -9" in line
    assert any(f"{node}-" in line and "before the run was done" in line for line in flight.lines)
    assert session_of(flight.process.pid) == {}
    assert "Traceback" not in flight.output
    assert not (flight.output_folder / "summary.json").exists()


def has_started(pid: int) -> bool:
    """Whether Python itself is up: before that, Ctrl-C meets no line of ours."""
    return "_rclpy" in Path(f"/proc/{pid}/maps").read_text()


@pytest.mark.parametrize("when", ["starting", "flying"])
def test_ctrl_c_leaves_no_process_behind(launch, when):
    flight = launch(path="I")
    pids = [flight.pid_of(node) for node in NODES]
    if when == "flying":
        flight.process.wait_for_line("points accepted")
    deadline = time.monotonic() + PATIENCE
    while not all(map(has_started, pids)):
        assert time.monotonic() < deadline, flight.output
        time.sleep(0.01)
    flight.process.signal(signal.SIGINT)
    flight.wait()
    assert session_of(flight.process.pid) == {}
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert "Traceback" not in flight.output
    # none had to be told twice
    assert "escalating" not in flight.output
