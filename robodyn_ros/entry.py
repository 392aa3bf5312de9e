# SPDX-License-Identifier: Apache-2.0

"""Entry points of the executables: one function per node.

Importing a node takes a second; until it runs, Ctrl-C ends the process without output.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from types import FrameType

# Exit code of run_summary for a run whose status is not "completed".
NOT_COMPLETED = 3


def _quit(_signal: int, _frame: FrameType | None) -> None:
    os._exit(130)


def start(name: str) -> None:
    """Run a node, by its name, until it ends; then end the process."""
    {node.__name__: node for node in _NODES}[name]()


def _start(name: str, node_class: str) -> None:
    signal.signal(signal.SIGINT, _quit)
    # Matrices of nodes are small. A library of linear algebra that shares even those between
    # threads (OpenBLAS of NumPy 1.26) waits for them to be woken: milliseconds on a busy machine.
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    try:
        runner = importlib.import_module("robodyn_ros.runner")
        make_node = getattr(importlib.import_module(f"robodyn_ros.{name}"), node_class)
    except ModuleNotFoundError as missing:
        # not ours, and not a name that ours lacks: what a ROS 2 installation brings
        if (missing.name or "").split(".")[0] in ("robodyn", "robodyn_ros", ""):
            raise
        sys.exit(
            f"{name}: no Python package {missing.name!r}: nodes need ROS 2. Source its setup.bash "
            "(and use the Python that it was made for), or run `make setup` in a checkout of "
            "robodyn, which brings rclpy without ROS 2"
        )
    sys.exit(runner.run(make_node, name))


def condition_monitor() -> None:
    """Distance from singularities, now and along the trajectory."""
    _start("condition_monitor", "ConditionMonitor")


def force_markers() -> None:
    """The legs' forces as arrows, for RViz and Foxglove."""
    _start("force_markers", "ForceMarkers")


def forward_simulator() -> None:
    """Simulation of the mechanism; publishes the clock."""
    _start("forward_simulator", "ForwardSimulator")


def inverse_dynamics() -> None:
    """Efforts for a trajectory and the measured state."""
    _start("inverse_dynamics", "InverseDynamics")


def pose_sliders() -> None:
    """A platform moved by six sliders."""
    _start("pose_sliders", "PoseSliders")


def recorder() -> None:
    """Records the topics of a run to a rosbag2 folder."""
    _start("recorder", "Recorder")


def run_summary() -> None:
    """Follows a run to its end and writes a summary."""
    _start("run_summary", "RunSummary")


def state_estimator() -> None:
    """Estimates a mechanism's state from its joints' encoders."""
    _start("state_estimator", "StateEstimator")


def trajectory_planner() -> None:
    """Plans trajectories from goals and named paths."""
    _start("trajectory_planner", "TrajectoryPlanner")


def web_viewer() -> None:
    """A page on localhost that shows the mechanism moving."""
    _start("web_viewer", "WebViewer")


_NODES = (
    condition_monitor,
    force_markers,
    forward_simulator,
    inverse_dynamics,
    pose_sliders,
    recorder,
    run_summary,
    state_estimator,
    trajectory_planner,
    web_viewer,
)
NODES = tuple(node.__name__ for node in _NODES)
