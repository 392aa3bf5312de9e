# SPDX-License-Identifier: Apache-2.0

"""The third kind, registered for a test, and found by its entry point in other processes."""

from __future__ import annotations

import os
from pathlib import Path

import cart_pendulum
import pytest

import robodyn as rd
from robodyn.loading import unregister_kind

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
