# SPDX-License-Identifier: Apache-2.0

"""`robodyn identify-payload --apply` sets the payload of a node that runs, over DDS."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from rcl_interfaces.srv import GetParameters
from typer.testing import CliRunner

import robodyn as rd
from robodyn.cli import app

pytestmark = pytest.mark.ros
MASS, COM = 1.5, np.array([0.02, -0.03, 0.08])
NAMES = ("payload_mass", "payload_com", "payload_inertia")


@pytest.fixture
def apply(tmp_path, monkeypatch, peer):
    """Run the command on a recording of an arm that carries the payload: apply(node)."""
    arm = rd.load("puma560")
    path = rd.exciting_trajectory(arm, 10.0, trials=2)
    times = np.arange(0.0, 10.0, 0.02)
    motion = path.sample(times)
    efforts = arm.with_payload(MASS, COM).inverse_dynamics(*motion)
    file = tmp_path / "carried.csv"
    rd.Recording.from_arrays(arm, times, motion.configuration, efforts).to_csv(file)
    monkeypatch.setenv("ROS_DOMAIN_ID", str(peer.domain))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    words = ["identify-payload", "puma560", str(file), "--apply", "--node"]
    return lambda node: CliRunner().invoke(app, [*words, node])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_identified_payload_is_that_of_the_node_from_then_on(start, peer, apply):
    start("inverse_dynamics", {"model": "puma560"}).wait_for_line("ready")
    ask = GetParameters.Request(names=list(NAMES))
    before = peer.call(GetParameters, "inverse_dynamics/get_parameters", ask).values
    assert before[0].double_value == 0.0
    done = apply("/inverse_dynamics")
    assert done.exit_code == 0, done.output
    assert "/inverse_dynamics: payload set" in done.output
    mass, com, inertia = peer.call(GetParameters, "inverse_dynamics/get_parameters", ask).values
    assert mass.double_value == pytest.approx(MASS, abs=1e-3)
    np.testing.assert_allclose(com.double_array_value, COM, atol=1e-3)
    np.testing.assert_allclose(inertia.double_array_value, 0.0, atol=1e-3)


def test_a_node_without_a_response_is_named(apply, tmp_path, monkeypatch):
    """`ros2 param set` waits for ever where the response is lost."""
    (tmp_path / "ros2").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "ros2").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(
        importlib.import_module("robodyn.cli.identify_payload"), "RESPONSE_TIMEOUT", 0.2
    )
    done = apply("/inverse_dynamics")
    assert done.exit_code == 1
    assert "/inverse_dynamics" in done.output
    assert "payload_com" in done.output
