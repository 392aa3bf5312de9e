# SPDX-License-Identifier: Apache-2.0
"""A designed machine is launched as it was written, and makes its motions within its limits."""

import numpy as np
import pytest
import yaml
from launch_harness import Launch
from typer.testing import CliRunner

import robodyn as rd
from robodyn.cli import app

pytestmark = pytest.mark.system
# rigs of 100 kg and of 0.5 kg: their limits are what the motions need
LARGE = """
payload: {mass: 100 kg, com: [0, 0, 0.1]}
motions:
  - {name: heave, heave: 60 mm, frequency: 0.8 Hz}
  - {name: roll, roll: 6 deg, frequency: 0.8 Hz}
margins: {force: 1.2, speed: 1.1, stroke: 2 mm}
"""
SMALL = """
payload: {mass: 0.5 kg}
motions:
  - {name: heave, heave: 10 mm, frequency: 0.8 Hz}
  - {name: surge, surge: 10 mm, frequency: 0.8 Hz}
margins: {force: 1.2, speed: 1.1, stroke: 0.04}
limits: {condition_number: 20}
"""
FAMILIES = {"hexapod": LARGE, "3-rps": LARGE,
            "servo-hexapod": SMALL, "delta": SMALL, "linear-delta": SMALL}  # fmt: skip


@pytest.mark.parametrize("family", list(FAMILIES))
def test_a_designed_machine_makes_its_motions(family, tmp_path):
    required, model = tmp_path / "rig.yaml", tmp_path / "machine.yaml"
    required.write_text(FAMILIES[family])
    words = ["design", family, str(required), "--evaluations", "40", "--output", str(model)]
    assert CliRunner().invoke(app, words).exit_code == 0
    loaded = tmp_path / "machine_loaded.yaml"
    m = rd.load(loaded)
    home = m.body_pose(m.home)[:3]
    points = [{"xyz": home.tolist(), "rpy": [0.0, 0.0, 0.0]}]
    for motion in rd.load_requirements(required).motions:
        (sine,) = motion.sines
        for amplitude in (sine.amplitude, -sine.amplitude, 0.0):
            moved = np.zeros(6)
            moved[sine.axis] = amplitude
            # from one end to the other with at most the sine's speed and acceleration
            points.append({"xyz": (home + moved[:3]).tolist(), "rpy": moved[3:].tolist(),
                           "duration": 0.6 / sine.frequency, "profile": "quintic"})  # fmt: skip
    path = tmp_path / "path.yaml"
    path.write_text(yaml.safe_dump({"waypoints": points}))
    launch = Launch(tmp_path, {"model": loaded, "path": path}, "mechanism_sim.launch.py")
    try:
        assert launch.wait() == 0, launch.output
        assert launch.summary["status"] == "completed"
        assert launch.summary["warnings"] == []
        assert "limits                 all hold" in launch.output
        # of the body [m] or the drives [m or rad]
        error = next(iter(launch.summary["tracking"].values()))
        assert error < rd.load_requirements(required).margins.stroke
    finally:
        launch.close()
