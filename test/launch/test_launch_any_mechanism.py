# SPDX-License-Identifier: Apache-2.0

"""Launches of any mechanism: default paths, faults in parameter files."""

import pytest
from launch_harness import Launch

pytestmark = pytest.mark.system
TYPOS = """
/**/inverse_dynamics:
  ros__parameters:
    kpp: 3.0
/**/forward_simulatr:
  ros__parameters:
    dt: 0.001
"""


def test_another_platform_flies_its_demonstration_and_names_what_was_misspelt(tmp_path):
    file = tmp_path / "typos.yaml"
    file.write_text(TYPOS + "/**/trajectory_planner:\n  ros__parameters: {limits: warn}\n")
    flight = Launch(tmp_path, {"model": "stewart_symmetric", "params_file": file, "duration": 0.5})
    assert flight.wait() == 0, flight.output
    assert flight.summary["path"] == "demo"
    assert flight.summary["status"] == "completed"
    assert "did you mean 'kp'?" in flight.output
    # each by whom it concerns, and as a warning
    misspelt = "did you mean 'forward_simulator'?"
    (line,) = [line for line in flight.lines if misspelt in line]
    assert "[WARNING] [launch.user]" in line
    (line,) = [line for line in flight.lines if "'kpp'" in line]
    assert "[inverse_dynamics-" in line
    assert "[WARN]" in line
    flight.close()
