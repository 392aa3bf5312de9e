# SPDX-License-Identifier: Apache-2.0

"""Fixtures of the system tests: launches of their own, each in a domain and a folder of its own."""

from __future__ import annotations

import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if find_spec("rclpy") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    # the harness lies with the tests of the nodes
    sys.path.append(str(Path(__file__).parents[1] / "robodyn_ros"))
    from launch_harness import Launch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(scope="module")
def launch(tmp_path_factory) -> Iterator[Callable[..., Launch]]:
    """Start a launch: launch(path="II", mode="feedforward")."""
    started: list[Launch] = []
    tmp_path_factory.getbasetemp()  # launches are started by threads, which would race to make it

    def start(domain: int | None = None, **arguments: object) -> Launch:
        folder = tmp_path_factory.mktemp("launch")
        started.append(Launch(folder, arguments, domain=domain))
        return started[-1]

    yield start
    for each in started:
        each.close()


@pytest.fixture(scope="session")
def mechanism():
    """Mechanism of flights by default."""
    import robodyn as rd
    import robodyn.errors

    with warnings.catch_warnings():
        # the paper's tensors are those of no rigid body
        warnings.simplefilter("ignore", rd.errors.UnphysicalInertiaWarning)
        return rd.load("stewart_dasgupta")
