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
# a rig of 100 kg: its limits are what the motions need
REQUIRED = """
payload: {mass: 100 kg, com: [0, 0, 0.1]}
motions:
  - {name: heave, heave: 60 mm, frequency: 0.8 Hz}
  - {name: roll, roll: 6 deg, frequency: 0.8 Hz}
margins: {force: 1.2, speed: 1.1, stroke: 2 mm}
"""


def test_a_tripod_makes_the_motions_it_was_designed_for(tmp_path):
    required, model = tmp_path / "rig.yaml", tmp_path / "machine.yaml"
    required.write_text(REQUIRED)
    words = ["design", "3-rps", str(required), "--evaluations", "20", "--output", str(model)]
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
        # [m] of legs that move by 60 mm
        assert launch.summary["tracking"]["joints"] < 1e-3
    finally:
        launch.close()
