# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

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

    def start(**arguments: object) -> Launch:
        started.append(Launch(tmp_path_factory.mktemp("launch"), arguments))
        return started[-1]

    yield start
    for each in started:
        each.close()


@pytest.fixture(scope="session")
def mechanism():
    """The mechanism that is flown where nothing else is said."""
    import robodyn as rd
    import robodyn.errors

    with warnings.catch_warnings():
        # the paper's tensors are those of no rigid body
        warnings.simplefilter("ignore", rd.errors.UnphysicalInertiaWarning)
        return rd.load("stewart_dasgupta")
