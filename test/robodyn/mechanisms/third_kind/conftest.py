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

"""The third kind, registered for a test, and found by its entry point in other processes."""

from __future__ import annotations

import os
from pathlib import Path

import cart_pendulum
import pytest

import robodyn as rd
from robodyn.mechanisms.registry import unregister_kind

HERE = Path(cart_pendulum.__file__).resolve().parent


@pytest.fixture
def registered():
    """The kind, for as long as a test runs."""
    yield rd.register_kind(cart_pendulum.KIND)
    unregister_kind(cart_pendulum.KIND.name)


@pytest.fixture
def description(tmp_path):
    """A YAML description of the kind."""
    file = tmp_path / "crane.yaml"
    file.write_text("type: cart_pendulum\ncart: 2.0\nbob: 0.5\nlength: 0.4\n")
    return file


@pytest.fixture
def installed(tmp_path):
    """Environment of a process in which a package with the kind's entry point is installed."""
    metadata = tmp_path / "site" / "cart_pendulum-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: cart-pendulum\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[robodyn.mechanisms]\ncart_pendulum = cart_pendulum:KIND\n"
    )
    folders = [str(metadata.parent), str(HERE), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))}
