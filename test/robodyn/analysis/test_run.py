# SPDX-License-Identifier: Apache-2.0

"""Runs: the content of their summaries, on screen and in files."""

import csv
import dataclasses
import json

import numpy as np
import pytest

import robodyn as rd
from robodyn.analysis import (
    RunHistory,
    as_json,
    dynamic_fraction,
    execute,
    peak_dynamic_fraction,
    summary_text,
)
from robodyn.control import TrajectoryFollower
from robodyn.errors import InvalidInput, OutputError


@pytest.fixture(scope="module")
def flown(dasgupta):
    return execute(dasgupta, rd.paper_path("I"), "I", clock=lambda: 2.0)


@pytest.mark.parametrize("mode", ["computed_torque", "feedforward", "gravity_compensation"])
def test_a_flight_is_what_the_follower_of_the_nodes_makes_of_it(dasgupta, mode):
    """If the controller is known, the flight is computed without the follower."""
    path = rd.paper_path("II")
    follower = TrajectoryFollower(dasgupta, mode, 90.0, 19.0, preview=0.0013)
    follower.follow(path, 0)

    def control(time, configuration, velocity, _):
        return follower.command(round(time * 1e9), configuration, velocity).required

    run = execute(dasgupta, path, "II", mode, kp=90.0, kv=19.0, preview=0.0013, control_dt=0.002)
    expected = rd.simulate(dasgupta, control, path, 1e-3, 0.002)
    for name in ("configuration", "velocity", "effort"):
        np.testing.assert_allclose(
            getattr(run, name), getattr(expected, name), rtol=1e-9, atol=1e-9
        )


def test_path_one_is_completed_within_bounds(flown, dasgupta):
    summary = flown.summary()
    assert summary["status"] == "completed"
    assert (summary["model"], summary["path"]) == ("stewart_dasgupta", "I")
    assert summary["mode"] == "computed_torque"
    assert summary["tracking"]["position"] < 1e-3
    assert summary["tracking"]["orientation"] < 2e-3
    assert summary["real_time_factor"] == pytest.approx(3.0)
    assert summary["warnings"] == []
    study = rd.analyze(dasgupta, rd.paper_path("I"), 0.005)
    np.testing.assert_allclose(summary["peak_force"], np.abs(study.forces).max(axis=0), rtol=0.01)
    planned = [row["peak_dynamic_fraction"] for row in study.extremes()[:5]]
    np.testing.assert_allclose(summary["peak_dynamic_fraction"][:5], planned, rtol=0.01)
    assert summary["condition_number"]["max"] == pytest.approx(47.19, abs=0.02)
    assert summary["condition_number"]["time_of_max"] == pytest.approx(6.0, abs=0.01)


def test_the_summary_on_the_screen(flown):
    lines = summary_text(flown.summary()).splitlines()
    assert lines[0] == "stewart_dasgupta, path I, computed_torque: completed"
    assert lines[2].split()[-6:] == [f"{force:.1f}" for force in flown.summary()["peak_force"]]
    assert "mm" in lines[4]
    assert lines[-1].split() == ["warnings", "raised", "0"]


def test_the_files_hold_the_histories(flown, tmp_path):
    written = flown.write(tmp_path / "new" / "folder")
    assert json.loads(written.read_text()) == json.loads(as_json(flown.summary()))
    with (written.parent / "history.csv").open() as file:
        header, *rows = csv.reader(file)
    table = dict(zip(header, np.array(rows, dtype=float).T, strict=True))
    np.testing.assert_array_equal(table["time"], flown.time)
    np.testing.assert_array_equal(table["x"], flown.configuration[:, 0])
    np.testing.assert_array_equal(table["planned_qw"], flown.desired.configuration[:, 6])
    np.testing.assert_array_equal(table["effort_leg6_actuator"], flown.effort[:, 5])
    np.testing.assert_array_equal(table["massless_leg1_actuator"], flown.massless[:, 0])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_effort_beyond_all_measure_is_summed_up_with_the_rest(flown):
    """The effort at that instant is infinite, so its results are NaN; all else is as before."""
    effort = flown.effort.copy()
    effort[7, 2] = 1.7e308
    odd = dataclasses.replace(flown, effort=effort)
    assert np.isnan(odd.massless[7]).all()
    others = np.arange(len(effort)) != 7
    np.testing.assert_array_equal(odd.massless[others], flown.massless[others])
    assert json.loads(as_json(odd.summary()))["status"] == "completed"


def test_a_folder_that_cannot_be_is_refused(flown, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"file/below: cannot be written"):
        flown.write(tmp_path / "file" / "below")


@pytest.mark.slow
def test_path_three_says_what_happened(dasgupta):
    run = execute(dasgupta, rd.paper_path("III"), "III")
    summary = run.summary()
    assert summary["status"] != "completed"
    assert summary["warnings"][0].startswith("ERROR ahead: singular at t = 3.6705 s")
    assert any("at its effort limit of" in text for text in summary["warnings"])
    assert np.isfinite(run.effort).all()
    assert (np.abs(run.effort) <= dasgupta.effort_limits).all()


def shifted(flown, displacement, **changes):
    """The run again, but elsewhere from its middle on."""
    configuration = flown.configuration.copy()
    half = len(configuration) // 2
    configuration[half:] = flown.mechanism.advance(configuration[half:], displacement)
    given = {name: getattr(flown, name) for name in RunHistory.__dataclass_fields__}
    return RunHistory(**(given | {"configuration": configuration} | changes))


@pytest.mark.parametrize("displacement", [[0.06, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0.11, 0]])
def test_a_path_that_was_left_is_not_completed(flown, displacement):
    run = shifted(flown, displacement)
    assert run.status == "left the path at t = 3.000 s: more than 0.05 m or 0.1 rad off"


def test_status_of_a_run_is_the_reason_that_stopped_it(flown):
    assert shifted(flown, np.zeros(6), stopped="the power failed").status == "the power failed"
    assert shifted(flown, [0.01, 0, 0, 0, 0, 0]).status == "completed"


def test_an_arm_has_torques_and_joints(puma, tmp_path):
    path = rd.plan_joints(np.zeros(6), np.full(6, 0.5), duration=1.0, profile="quintic")
    run = execute(puma.without_friction(), path, "half", control_dt=0.01)
    summary = run.summary()
    assert summary["status"] == "completed"
    assert set(summary["tracking"]) == {"joints"}
    assert summary["tracking"]["joints"] < 2e-3
    assert len(summary["peak_torque"]) == 6
    assert "peak torque [N m]" in summary_text(summary)
    header = (run.write(tmp_path).parent / "history.csv").read_text().splitlines()[0]
    assert "planned_joint1" in header
    assert "massless" not in header


def test_unknown_modes_are_refused(dasgupta):
    with pytest.raises(InvalidInput, match="mode is 'open', expected one of"):
        execute(dasgupta, rd.paper_path("I"), "I", "open")


def test_a_dynamic_fraction_is_that_of_forces_that_are_not_near_zero():
    total = np.array([[100.0, 4.0], [-50.0, 100.0], [1e-3, 0.0], [80.0, np.nan]])
    massless = np.array([[90.0, 0.0], [-75.0, 98.0], [50.0, 1.0], [80.0, 1.0]])
    np.testing.assert_allclose(dynamic_fraction(total, massless)[:2], [[0.1, 1.0], [-0.5, 0.02]])
    np.testing.assert_allclose(peak_dynamic_fraction(total, massless), [0.5, 0.02])
    nothing = np.full((3, 2), np.nan)
    np.testing.assert_array_equal(peak_dynamic_fraction(nothing, nothing), [0.0, 0.0])


def test_json_is_strict():
    value = {"a": np.array([1.0, np.inf]), "b": (np.float64("nan"), np.int64(3)), 4: [True, None]}
    text = as_json(value)
    assert json.loads(text) == {"a": [1.0, None], "b": [None, 3], "4": [True, None]}
