# SPDX-License-Identifier: Apache-2.0

"""Fixtures of the node tests: one domain, one peer and shared processes for each test module."""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if find_spec("rclpy") is None:
    # the library is tested without ROS too
    collect_ignore_glob = ["test_*.py"]
else:
    from ros_harness import Peer, Process, executable, free_domain, ros_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from recorder_run import LocalRun, Run

MODEL = "stewart_dasgupta"


@pytest.fixture(scope="module")
def peer() -> Iterator[Peer]:
    """A node of ours in a domain that only this module's processes are in."""
    made = Peer(free_domain())
    yield made
    made.close()


@pytest.fixture(scope="module")
def start(peer: Peer) -> Iterator[Callable[..., Process]]:
    """Start a node in the peer's domain: start(name, {parameter: value}, *ROS arguments)."""
    started: list[Process] = []

    def start_node(name: str, parameters: dict[str, object] | None = None, *more: str) -> Process:
        given = {"model": MODEL} | (parameters or {})
        process = Process([executable(name), *ros_arguments(given, *more)], peer.domain)
        started.append(process)
        peer.partners.append(process)
        return process

    yield start_node
    for process in started:
        process.close()


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    """Start a recorder in a domain of its own: record({parameter: value}, *ROS arguments)."""
    from recorder_run import Run

    runs: list[Run] = []

    def begin(parameters: dict[str, object] | None = None, *more: str) -> Run:
        runs.append(Run(tmp_path, parameters or {}, *more))
        return runs[-1]

    yield begin
    for run in runs:
        run.close()


@pytest.fixture
def record_here(tmp_path: Path) -> Iterator[Callable[..., LocalRun]]:
    """Run the recorder in this process, as most tests of it need no other."""
    from recorder_run import LocalRun

    with ExitStack() as runs:
        yield lambda given=None, *more: runs.enter_context(LocalRun(tmp_path, given or {}, *more))


@pytest.fixture(scope="session")
def mechanism():
    """The mechanism that all nodes under test have."""
    import robodyn as rd
    import robodyn.errors

    with warnings.catch_warnings():
        # the paper's tensors are those of no rigid body
        warnings.simplefilter("ignore", rd.errors.UnphysicalInertiaWarning)
        return rd.load(MODEL)
