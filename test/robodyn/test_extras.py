# SPDX-License-Identifier: Apache-2.0
"""Installation of a feature's packages: a command for the running Python."""

import sys
import sysconfig

import numba
import numpy
import pytest
import scipy

from robodyn import extras


def test_the_command_names_the_packages_and_the_python_that_runs(monkeypatch):
    monkeypatch.setattr(extras, "_belongs_to_the_system", lambda: False)
    monkeypatch.setattr(extras, "_KEPT", ())
    command = extras.how_to_install("record")
    assert command == f"{sys.executable} -m pip install 'rosbags>=0.11'"


@pytest.mark.parametrize("virtual", [False, True])
def test_a_python_of_the_system_gets_an_environment_first(monkeypatch, tmp_path, virtual):
    (tmp_path / "EXTERNALLY-MANAGED").touch()
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(sys, "base_prefix", "/elsewhere" if virtual else sys.prefix)
    command = extras.how_to_install("sweep")
    assert command.startswith("python3 -m venv --system-site-packages ") != virtual
    assert ("PEP 668" in command) != virtual
    assert "'zarr>=2.13'" in command


@pytest.mark.parametrize("where", ["the system's", "an environment that sees the system's"])
def test_the_systems_numpy_and_numba_stay_as_they_are(monkeypatch, tmp_path, where):
    """A NumPy of pip's beside the SciPy and the Numba of the system: no node starts."""
    (tmp_path / "EXTERNALLY-MANAGED").touch()
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(sys, "base_prefix", sys.prefix if where == "the system's" else "/elsewhere")
    if where != "the system's":
        monkeypatch.setattr(sys, "prefix", str(tmp_path))  # where no package is
    words = extras.how_to_install("report").replace(",", "").split()
    for package in (numpy, scipy, numba):
        assert f"{package.__name__}=={package.__version__}" in words
