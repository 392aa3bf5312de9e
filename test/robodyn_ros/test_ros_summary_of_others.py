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

"""What nodes of others report is logged, but is no warning of the run."""

from __future__ import annotations

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from local_graph import LocalGraph

pytestmark = pytest.mark.ros


def test_a_controller_managers_period_is_none_of_the_runs_faults():
    """As it says it at the end of a clean run, when the simulator no longer tells the time."""
    told = (
        ("controller_manager: Controller Manager Activity", "bad periodicity: 198 Hz"),
        ("right/inverse_dynamics: efforts", "of a run in another namespace"),
        ("inverse_dynamics: efforts", "leg1_actuator needs 3000, cut to its limit of 2000"),
    )
    message = DiagnosticArray()
    for name, text in told:
        message.status.append(
            DiagnosticStatus(level=DiagnosticStatus.ERROR, name=name, message=text)
        )
    with LocalGraph({"run_summary": {"model": "stewart_symmetric"}}) as graph:
        node = graph.nodes["run_summary"]
        diagnostics = graph.publisher(DiagnosticArray, "/diagnostics")
        diagnostics.publish(message)
        graph.until(lambda: node._warnings, "the diagnostics")
        ((_, text),) = node._warnings.values()
        assert text.startswith("ERROR inverse_dynamics: efforts")
        assert node._others == {
            "ERROR controller_manager: Controller Manager Activity: bad periodicity: 198 Hz",
            "ERROR right/inverse_dynamics: efforts: of a run in another namespace",
        }
