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

"""Launches of any mechanism: default paths, a bringup that stays, faults in parameter files."""

import signal

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


def test_a_parameter_file_that_is_not_there_is_named(tmp_path):
    flight = Launch(tmp_path, {"params_file": tmp_path / "nowhere.yaml"})
    assert flight.wait() != 0
    assert "nowhere.yaml' does not exist" in flight.output
    assert "process started" not in flight.output
    flight.close()


def test_another_platform_flies_its_demonstration_and_names_what_was_misspelt(tmp_path):
    file = tmp_path / "typos.yaml"
    file.write_text(TYPOS + "/**/trajectory_planner:\n  ros__parameters: {limits: warn}\n")
    flight = Launch(tmp_path, {"model": "stewart_symmetric", "params_file": file, "duration": 0.5})
    assert flight.wait() == 0, flight.output
    assert flight.summary["path"] == "demo"
    assert flight.summary["status"] == "completed"
    assert "'kpp'" in flight.output
    assert "did you mean 'kp'?" in flight.output
    assert "did you mean 'forward_simulator'?" in flight.output
    flight.close()


def test_a_bringup_runs_until_it_is_stopped(tmp_path):
    flight = Launch(tmp_path, {"path": "none"}, "mechanism_sim.launch.py")
    flight.process.wait_for_line("[forward_simulator", "realtime simulation of stewart_symmetric")
    flight.process.wait_for_line("[inverse_dynamics", "ready")
    assert "run_summary" not in flight.output
    assert flight.process.alive
    flight.process.signal(signal.SIGINT)
    flight.wait()
    assert "before the run was done" not in flight.output
    flight.close()


def test_the_puma_experiment_says_that_friction_is_off(tmp_path):
    flight = Launch(tmp_path, {"duration": 0.2}, "arm_sim.launch.py")
    assert flight.wait() == 0, flight.output
    assert "friction: off" in flight.output
    assert flight.summary["friction"] is False
    # it starts in a singularity, which is nothing to a motion of joints
    assert "[ERROR]" not in flight.output
    assert flight.summary["warnings"] == []
    flight.close()
