# SPDX-License-Identifier: Apache-2.0

"""A kind of mechanism that only an entry point makes known, executed by the nodes."""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from launch_harness import Launch

import robodyn as rd

KIND_FOLDER = Path(__file__).parents[1] / "robodyn" / "solvers" / "third_kind"
sys.path.append(str(KIND_FOLDER))

import cart_pendulum  # noqa: E402, its folder is that of other tests

pytestmark = pytest.mark.system

DESCRIPTION = "type: cart_pendulum\ncart: 2.0\nbob: 0.5\nlength: 0.4\n"
WAYPOINTS = """
v_max: 1.0
waypoints:
  - {joints: [0.0, -0.3]}
  - {joints: [0.4, 0.5]}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("third_kind")
    (folder / "crane.yaml").write_text(DESCRIPTION)
    (folder / "swing.yaml").write_text(WAYPOINTS)
    metadata = folder / "site" / "cart_pendulum-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: cart-pendulum\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[robodyn.mechanisms]\ncart_pendulum = cart_pendulum:KIND\n"
    )
    paths = [str(metadata.parent), str(KIND_FOLDER), os.environ.get("PYTHONPATH", "")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
        started = Launch(
            folder,
            {"model": folder / "crane.yaml", "path": folder / "swing.yaml"},
            "arm_sim.launch.py",
        )
    code = started.wait()
    assert code == 0, started.output
    yield started
    started.close()


def test_the_nodes_execute_its_path_as_the_library_does(run):
    crane = cart_pendulum.CartPendulum(cart_pendulum.Model(2.0, 0.5, 0.4))
    path = rd.load_path(run.output_folder.parent / "swing.yaml", crane)
    expected = rd.simulate(crane, rd.ComputedTorque(crane), path, dt=1e-3, control_dt=1e-2)
    with (run.output_folder / "history.csv").open() as file:
        rows = list(csv.DictReader(file))
    joints = np.array([[float(row[name]) for name in crane.joint_names] for row in rows])
    columns = [f"effort_{name}" for name in crane.joint_names]
    efforts = np.array([[float(row[name]) for name in columns] for row in rows])
    np.testing.assert_allclose(joints, expected.configuration, rtol=0, atol=1e-9)
    np.testing.assert_allclose(efforts[:-1], expected.effort[:-1], rtol=1e-9, atol=1e-9)


def test_the_summary_is_in_its_own_terms(run):
    summary = run.summary
    assert summary["status"] == "completed"
    assert len(summary["peak_effort"]) == len(summary["peak_error"]) == 2
    assert any("peak effort" in line for line in run.lines)
