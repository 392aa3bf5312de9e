"""Entry points of the executables: one function a node.

Importing a node takes a second; until it runs, Ctrl-C ends the process without a word.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from types import FrameType


def _quit(_signal: int, _frame: FrameType | None) -> None:
    os._exit(130)


def _start(name: str, node_class: str) -> None:
    signal.signal(signal.SIGINT, _quit)
    runner = importlib.import_module("robodyn_ros.runner")
    make_node = getattr(importlib.import_module(f"robodyn_ros.{name}"), node_class)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(runner.run(make_node, name))


def condition_monitor() -> None:
    """How far the mechanism is from a singularity, now and ahead."""
    _start("condition_monitor", "ConditionMonitor")


def forward_simulator() -> None:
    """The mechanism that efforts move, and the owner of time."""
    _start("forward_simulator", "ForwardSimulator")


def inverse_dynamics() -> None:
    """A trajectory and the measured state in, efforts out."""
    _start("inverse_dynamics", "InverseDynamics")


def run_summary() -> None:
    """Watches a run to its end and writes what came of it."""
    _start("run_summary", "RunSummary")


def trajectory_planner() -> None:
    """Goals and named paths in, trajectories out."""
    _start("trajectory_planner", "TrajectoryPlanner")
