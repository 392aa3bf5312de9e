# SPDX-License-Identifier: Apache-2.0
"""Mechanisms with closed loops through the nodes: on their paths."""

import csv

import numpy as np
import pytest
from launch_harness import Launch

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.poses import pose_difference

pytestmark = pytest.mark.system
MODELS = ("delta", "hexapod_rotary")
FLOWN = 1.0  # of its path [s]
TYPOS = """
/**/inverse_dynamics:
  ros__parameters:
    kpp: 3.0
/**/forward_simulatr:
  ros__parameters:
    dt: 0.001
"""


@pytest.fixture(scope="module", params=MODELS)
def run(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "typos.yaml").write_text(TYPOS)
    given = {"model": request.param, "path": "demo", "params_file": folder / "typos.yaml"}
    launch = Launch(folder, given | {"duration": FLOWN}, "mechanism_sim.launch.py")
    code = launch.wait()
    assert code == 0, launch.output
    yield request.param, launch
    launch.close()


def motion(launch, mechanism):
    """Times, independent joints and efforts that a run's history has."""
    with (launch.output_folder / "history.csv").open() as file:
        rows = list(csv.DictReader(file))

    def table(names):
        return np.array([[float(row[name] or "nan") for name in names] for row in rows])

    efforts = [f"effort_{name}" for name in mechanism.joint_names]
    return table(["time"])[:, 0], table(mechanism.independent_joints), table(efforts)


def test_the_tip_stays_on_its_path(run):
    model, launch = run
    assert launch.summary["status"] == "completed"
    mechanism = rd.load(model)
    path = rd.load_path("demo", mechanism)
    times, joints, _ = motion(launch, mechanism)
    assert times[-1] == pytest.approx(FLOWN, abs=0.01)
    # in a run of its own, so as not to be found from configurations of the one under test
    expected = mechanism.body_pose(path.sample(times).configuration)
    moved = motions.motion_of_independent(mechanism, joints, np.zeros_like(joints)).configuration
    difference = pose_difference(expected, mechanism.body_pose(moved))
    assert np.linalg.norm(difference[:, :3], axis=1).max() < 1e-3
    assert np.linalg.norm(difference[:, 3:], axis=1).max() < 2e-3
    assert np.ptp(expected[:, :3], axis=0).max() > 0.01


def test_misspelt_names_in_a_parameter_file_are_reported(run):
    """Each by whom it concerns, and as a warning."""
    _, launch = run
    assert "did you mean 'kp'?" in launch.output
    misspelt = "did you mean 'forward_simulator'?"
    (line,) = [line for line in launch.lines if misspelt in line]
    assert "[WARNING] [launch.user]" in line
    (line,) = [line for line in launch.lines if "'kpp'" in line]
    assert "[inverse_dynamics-" in line
    assert "[WARN]" in line
