# SPDX-License-Identifier: Apache-2.0

"""Whole flights in lockstep: what they leave behind is what the library computes."""

from __future__ import annotations

from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from launch_harness import NODES
from ros_harness import Process, executable, free_domain, ros_arguments

import robodyn as rd

pytestmark = pytest.mark.system
SINGULAR = 3.670504110
FALLEN = 0.4  # path II without feedback [s]
FLOWN = 1.0  # of path I [s]


def equal(ours, theirs, relative=1e-9):
    """To 1e-9 of the largest value of each column; of 1 mm, 1 mm/s where a column stays at zero."""
    scale = np.maximum(np.abs(theirs).max(axis=0), 1e-3)
    np.testing.assert_allclose(ours / scale, theirs / scale, rtol=0, atol=relative)


def flown(started):
    """A completed flight; its exit code states whether the run was completed."""
    code = started.wait()
    assert (started.output_folder / "summary.json").exists(), started.output
    assert (code == 0) == (started.summary["status"] == "completed"), started.output
    return started


@pytest.fixture(scope="module")
def path_i_twice(launch):
    """Two flights at the same time, so that each disturbs the other's timing.

    The second is watched by a `web_viewer`, where there can be one.
    """
    with ExitStack() as closing:
        domain = free_domain()
        if find_spec("viser") is not None:
            words = ros_arguments({"port": 0, "model": "stewart_dasgupta"})
            viewer = Process([executable("web_viewer"), *words], domain)
            closing.callback(viewer.close)
            viewer.wait_for_line("showing stewart_dasgupta at")
        flights = [launch(each, path="I", duration=FLOWN) for each in (None, domain)]
        over = [flown(each) for each in flights]
        if find_spec("viser") is not None:
            assert viewer.alive, viewer.output
    return over


@pytest.fixture(scope="module")
def path_i(path_i_twice):
    return path_i_twice[0]


@pytest.fixture(scope="module")
def from_files(launch, files):
    """Path II in feedforward, the mechanism and the path from files."""
    given = {"model": files / "hexapod.urdf", "path": files / "two.yaml"}
    return flown(launch(**given, mode="feedforward"))


@pytest.fixture(scope="module")
def path_iii(launch):
    return flown(launch(path="III", duration=SINGULAR + 0.5))


SUMMARY = {
    "status": str,
    "model": str,
    "path": str,
    "mode": str,
    "peak_force": list,
    "peak_dynamic_fraction": list,
    "condition_number": dict,
    "tracking": dict,
    "real_time_factor": float,
    "warnings": list,
}


def test_path_i_is_completed_and_summarised(path_i):
    summary = path_i.summary
    for key, kind in SUMMARY.items():
        assert isinstance(summary[key], kind), key
    assert summary["status"] == "completed"
    assert (summary["model"], summary["path"]) == ("stewart_dasgupta", "I")
    assert summary["mode"] == "computed_torque"
    assert len(summary["peak_force"]) == len(summary["peak_dynamic_fraction"]) == 6
    assert set(summary["condition_number"]) == {"min", "max", "time_of_max"}
    assert summary["real_time_factor"] > 0.0
    assert summary["warnings"] == []


def test_path_i_stays_on_its_path(path_i):
    tracking = path_i.summary["tracking"]
    assert 0.0 < tracking["position"] < 1e-3
    assert 0.0 < tracking["orientation"] < 2e-3


def test_path_i_is_reported_on_the_screen(path_i):
    for text in ("completed", "peak force", "peak dynamic fraction", "condition number",
                 "mm", "mrad", "real-time factor", "warnings"):  # fmt: skip
        assert any("run_summary" in line and text in line for line in path_i.lines), text
    assert "Traceback" not in path_i.output
    for node in NODES:
        assert any(f"[{node}-" in line and "finished cleanly" in line for line in path_i.lines)


def test_path_i_equals_the_librarys_simulation(path_i, mechanism):
    path = rd.paper_path("I")
    control = rd.ComputedTorque(mechanism)
    result = rd.simulate(mechanism, control, path, dt=1e-3, control_dt=5e-3, duration=FLOWN)
    history = path_i.history
    np.testing.assert_allclose(history.time, result.time, rtol=0, atol=1e-12)
    for ours, theirs in (
        (history.pose, result.configuration),
        (history.twist, result.velocity),
        (history.effort[:-1], result.effort[:-1]),
        (history.planned, path.sample(result.time).configuration),
        (history.condition_number, mechanism.condition_number(result.configuration)),
    ):
        equal(ours, theirs)
    summary = path_i.summary
    peak = np.abs(result.effort[:-1]).max(axis=0)
    np.testing.assert_allclose(summary["peak_force"], peak, rtol=1e-9)
    error = mechanism.difference(path.sample(result.time).configuration, result.configuration)
    for name, part in (("position", error[:, :3]), ("orientation", error[:, 3:])):
        largest = np.linalg.norm(part, axis=1).max()
        assert summary["tracking"][name] == pytest.approx(largest, rel=1e-6, abs=1e-12)
    numbers = mechanism.condition_number(result.configuration)
    assert summary["condition_number"]["min"] == pytest.approx(numbers.min(), rel=1e-9)
    assert summary["condition_number"]["max"] == pytest.approx(numbers.max(), rel=1e-9)


def test_two_runs_are_identical(path_i_twice):
    first, second = path_i_twice
    assert first.history_bytes == second.history_bytes
    summaries = [first.summary, second.summary]
    for summary in summaries:
        assert summary.pop("real_time_factor") > 0.0
    assert summaries[0] == summaries[1]
    assert summaries[0]["status"] == "completed"


def test_path_iii_is_called_singular_before_it_is_flown(path_iii):
    def first(*texts):
        return next(
            k for k, line in enumerate(path_iii.lines) if all(text in line for text in texts)
        )

    for node in ("trajectory_planner", "condition_monitor"):
        before = first(f"[{node}-", "[ERROR]", "singular at t = 3.67")
        assert before < first("[run_summary-", "path III")
    assert first("[trajectory_planner-", "singular") < first("points accepted")


def test_path_iii_is_called_singular_while_it_is_flown(path_iii):
    warnings = path_iii.summary["warnings"]
    ahead = [text for text in warnings if "ahead" in text and "3.67" in text]
    assert ahead
    assert ahead[0].startswith("ERROR")
    now = [text for text in warnings if "condition_monitor: condition number" in text]
    assert any(text.startswith("ERROR") for text in now), warnings
    assert any("condition_monitor" in line and "[ERROR]" in line and "condition number" in line
               for line in path_iii.lines)  # fmt: skip


def test_path_iii_keeps_efforts_finite_and_within_the_limits(path_iii, mechanism):
    history = path_iii.history
    for values in (history.effort, history.pose, history.twist):
        assert np.isfinite(values).all()
    assert (np.abs(history.effort) <= mechanism.effort_limits).all()
    assert (np.array(path_iii.summary["peak_force"]) <= mechanism.effort_limits).all()


def test_path_iii_is_summed_up_as_what_it_was(path_iii):
    """It is flown to a status that is not `completed`, or right through the singularity."""
    summary = path_iii.summary
    highest = summary["condition_number"]["max"]
    assert highest > 1000.0
    assert summary["status"]
    if summary["status"] == "completed":
        assert summary["tracking"]["position"] < 0.05
        assert summary["condition_number"]["time_of_max"] == pytest.approx(SINGULAR, abs=0.1)
    else:
        assert "t = " in summary["status"]
    assert "Traceback" not in path_iii.output
    assert any("path III" in line and summary["status"] in line for line in path_iii.lines)


WAYPOINTS = """
name: path_two_from_a_file
v_max: 0.8
w_max: 0.8
waypoints:
  - {xyz: [0.1, 0.0, 0.4], rpy: [0.0, 0.0, -0.2]}
  - {xyz: [0.3, 0.0, 0.6], rpy: [0.0, 0.0, 0.2], duration: 0.6}
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The bundled mechanism and path II once more, from files."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "two.yaml").write_text(WAYPOINTS)
    xacro = pytest.importorskip("xacro")
    source = Path(__file__).parents[2] / "urdf" / "stewart_dasgupta.urdf.xacro"
    (folder / "hexapod.urdf").write_text(xacro.process_file(str(source)).toxml())
    return folder


def test_a_model_and_a_path_from_files_fly_as_the_bundled_ones_do(from_files, files, mechanism):
    """Without feedback the platform falls: what differed at all would soon be far off."""
    path = rd.paper_path("II")
    control = rd.Feedforward(mechanism)
    expected = rd.simulate(mechanism, control, path, dt=1e-3, control_dt=5e-3, duration=FALLEN)
    history = from_files.history
    before = history.time <= FALLEN + 1e-9
    for ours, theirs in (
        (history.pose, expected.configuration),
        (history.twist, expected.velocity),
        (history.planned, path.sample(expected.time).configuration),
        (history.condition_number[:, None],
         mechanism.condition_number(expected.configuration)[:, None]),
    ):  # fmt: skip
        equal(ours[before], theirs)
    assert from_files.summary["path"] == str(files / "two.yaml")


def test_feedforward_efforts_are_the_inverse_dynamics_of_the_plan(from_files, mechanism):
    history = from_files.history
    assert history.time[-1] >= FALLEN
    expected = mechanism.inverse_dynamics(*rd.paper_path("II").sample(history.time))
    equal(history.effort[:-1], expected[:-1])
    assert from_files.summary["mode"] == "feedforward"
    assert from_files.summary["status"]


def test_realtime_ends_by_the_clock(launch):
    """In a namespace too: all names are relative."""
    flight = flown(launch(path="I", stepping="realtime", duration=1.0, namespace="left_hand"))
    history, summary = flight.history, flight.summary
    # the clock does not wait: the summary may have received it a few states late
    periods = history.time / 5e-3
    np.testing.assert_allclose(periods, periods.round(), atol=1e-6)
    assert (np.diff(history.time) > 0.0).all()
    assert 0.0 <= history.time[0] < 0.9
    assert history.time[-1] == pytest.approx(1.0, abs=0.006)
    assert summary["status"]
    assert summary["real_time_factor"] > 0.0
    assert np.isfinite(history.effort).all()
    assert "Traceback" not in flight.output
