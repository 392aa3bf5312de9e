# SPDX-License-Identifier: Apache-2.0

"""Reports of other nodes are logged, but are no warnings of the run."""

from __future__ import annotations

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from local_graph import LocalGraph

pytestmark = pytest.mark.ros
WARN, ERROR = DiagnosticStatus.WARN, DiagnosticStatus.ERROR
ACTIVITY = "controller_manager: Activity"


def test_a_controller_managers_period_is_none_of_the_runs_faults():
    """As it reports at the end of a clean run, when the simulator has stopped its clock."""
    reported = (
        ("controller_manager: Controller Manager Activity", "bad periodicity: 198 Hz"),
        ("right/inverse_dynamics: efforts", "of a run in another namespace"),
        ("inverse_dynamics: efforts", "leg1_actuator needs 3000, its limit is 2000"),
    )
    message = DiagnosticArray()
    for name, text in reported:
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
        assert set(node._others.values()) == {
            "ERROR controller_manager: Controller Manager Activity: bad periodicity: 198 Hz",
            "ERROR right/inverse_dynamics: efforts: of a run in another namespace",
        }


def test_the_summary_repeats_a_diagnostic_once_and_the_last_count_of_a_counter():
    with LocalGraph({"run_summary": {"model": "stewart_symmetric"}}) as graph:
        node = graph.nodes["run_summary"]
        diagnostics = graph.publisher(DiagnosticArray, "/diagnostics")
        for second in range(1, 4):
            message = DiagnosticArray()
            message.header.stamp.sec = second
            for name, level, text in (
                (ACTIVITY, ERROR, f"bad periodicity: {190 + second} Hz"),
                ("inverse_dynamics: states", WARN, f"{second} of 200 states lost"),
                ("inverse_dynamics: efforts", WARN, "cut, as the wall clock had it"),
            ):
                message.status.append(DiagnosticStatus(level=level, name=name, message=text))
            diagnostics.publish(message)
        graph.until(lambda: "3 of 200" in str(node._warnings), "the last of them")
        graph.until(lambda: any(ACTIVITY in line for line in graph.lines), "the first")
        found = [line for line in graph.lines if ACTIVITY in line]
        (line,) = found
        assert "191 Hz" in line
        # the first time, and the last count
        ((stamp, text),) = node._warnings.values()
        assert (stamp, text) == (10**9, "WARN inverse_dynamics: states: 3 of 200 states lost")
