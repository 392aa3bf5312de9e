# SPDX-License-Identifier: Apache-2.0

"""The PUMA experiment through the nodes: the library's numbers, to the last digits."""

import csv

import numpy as np
import pytest
from launch_harness import Launch

import robodyn as rd

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def flight(tmp_path_factory):
    pytest.importorskip("rosbags", reason="the extra `record` is not installed")
    started = Launch(tmp_path_factory.mktemp("arm"), {"record": "true"}, "arm_sim.launch.py")
    code = started.wait()
    assert code == 0, started.output
    yield started
    started.close()


@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
def test_the_puma_flies_as_in_the_library(flight):
    arm = rd.load("puma560").without_friction()
    path = rd.load_path("puma", arm)
    expected = rd.simulate(arm, rd.ComputedTorque(arm), path, dt=1e-3, control_dt=1e-2)
    with (flight.output_folder / "history.csv").open() as file:
        rows = list(csv.DictReader(file))
    joints = np.array([[float(row[name]) for name in arm.joint_names] for row in rows])
    torques = np.array([[float(row[f"effort_{name}"]) for name in arm.joint_names] for row in rows])
    np.testing.assert_allclose(joints, expected.configuration, rtol=0, atol=1e-9)
    np.testing.assert_allclose(torques[:-1], expected.effort[:-1], rtol=1e-9, atol=1e-9)
    summary = flight.summary
    assert summary["status"] == "completed"
    assert summary["tracking"]["joints"] == pytest.approx(np.abs(expected.error).max(), rel=1e-9)
    assert summary["tracking"]["joints"] == pytest.approx(3.3e-4, rel=0.05)
    assert len(summary["peak_torque"]) == len(summary["peak_error"]) == 6


def test_the_peak_errors_are_printed(flight):
    assert any("peak error" in line for line in flight.lines)


def test_simulator_logs_that_friction_is_off(flight):
    assert "friction: off" in flight.output
    assert flight.summary["friction"] is False


def test_the_singularity_in_which_it_starts_is_nothing_to_a_motion_of_joints(flight):
    assert "[ERROR]" not in flight.output
    assert flight.summary["warnings"] == []


def test_bag_ends_where_the_path_ends(flight):
    """The simulator stands still while the summary and the recorder catch up."""
    from rosbags.highlevel import AnyReader

    (metadata,) = flight.output_folder.rglob("metadata.yaml")
    with AnyReader([metadata.parent]) as bag:
        topics = {connection.topic for connection in bag.connections}
        recorded = [stamp for _, stamp, _ in bag.messages()]
    assert {"/joint_states", "/joint_commands"} <= topics
    duration = rd.load_path("puma", rd.load("puma560")).duration
    assert max(recorded) * 1e-9 == pytest.approx(duration, abs=0.02)  # two periods of control
