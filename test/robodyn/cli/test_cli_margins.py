# SPDX-License-Identifier: Apache-2.0

"""Motions held against limits: analyze, simulate, their exit code on request, their reports."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import robodyn as rd
from robodyn.analysis import execute
from robodyn.cli import app
from robodyn.loading import templates
from robodyn.report import study_charts, study_page

pytestmark = pytest.mark.slow


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hexapod.yaml").write_text(templates()["hexapod"][1].write())
    (tmp_path / "up.yaml").write_text(
        "waypoints:\n"
        "  - {xyz: [0, 0, 0.35], rpy: [0, 0, 0]}\n"
        "  - {xyz: [0, 0, 0.37], rpy: [0, 0, 0], duration: 1.0}\n"
    )
    (tmp_path / "too_far.yaml").write_text(
        "waypoints:\n"
        "  - {xyz: [0, 0, 0.35], rpy: [0, 0, 0]}\n"
        "  - {xyz: [0, 0, 0.45], rpy: [0, 0, 0], duration: 2.0}\n"
    )

    def run(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run


def test_a_motion_within_limits_says_so_and_passes(run):
    result = run("analyze", "hexapod.yaml", "--path", "up.yaml", "--strict")
    assert result.exit_code == 0
    assert "all hold; nearest: position of leg" in result.stdout


def test_the_first_violation_is_reported_and_fails_only_when_asked(run):
    arguments = "analyze", "hexapod.yaml", "--path", "too_far.yaml", "--dt", "0.01"
    assert run(*arguments).exit_code == 0
    result = run(*arguments, "--strict", "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)["margins"]
    assert not found["hold"]
    assert found["first"]["quantity"] == "position"
    # by hand: when the longest leg, from the file's own numbers, is fully out
    mechanism = rd.load("hexapod.yaml")
    path = rd.load_path("too_far.yaml", mechanism)
    time = np.arange(0.0, 2.0, 0.001)
    lengths = mechanism.joint_positions(path.sample(time).configuration)
    out = time[(lengths > mechanism.position_limits[:, 1]).any(axis=1)][0]
    assert found["first"]["time"] == pytest.approx(out, abs=0.011)
    text = run(*arguments).stdout
    assert (
        f"first position of {found['first']['joint']} at t = {found['first']['time']:.3f}" in text
    )


def test_an_effort_that_was_cut_is_beyond_its_limit(run):
    arguments = "simulate", "hexapod.yaml", "--path", "up.yaml"
    assert run(*arguments, "--strict").exit_code == 0
    text = Path("hexapod.yaml").read_text()
    assert "effort: 63}" in text
    Path("hexapod.yaml").write_text(text.replace("effort: 63}", "effort: 8}"))  # falls
    result = run(*arguments, "--strict", "--json")
    assert result.exit_code == 1
    summary = json.loads(result.stdout)
    effort = [r for r in summary["margins"]["rows"] if r["quantity"] == "effort" and r["broken"]]
    assert effort
    assert all(r["used"] is None for r in effort)
    assert summary["margins"]["first"] is not None


def test_the_condition_number_is_held_against_a_limit_that_may_be_chosen(run):
    arguments = "analyze", "stewart_dasgupta", "--path", "I", "--dt", "0.05", "--strict"
    assert run(*arguments).exit_code == 0
    result = run(*arguments, "--max-condition", "40")
    assert result.exit_code == 1
    assert "first condition number at t = " in result.stdout
    # path III of the paper passes through a singularity
    assert run("analyze", "stewart_dasgupta", "--path", "III", "--strict").exit_code == 1


def test_a_summary_keeps_its_keys_and_holds_margins(puma, tmp_path):
    start = puma.home
    path = rd.plan_joints(start, start + 0.2, duration=2.0)
    run = execute(puma, path, "there", dt=0.005)
    run.write(tmp_path)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert {"status", "peak_torque", "tracking", "condition_number", "warnings"} <= set(summary)
    rows = summary["margins"]["rows"]
    speed = {r["joint"]: r["highest"] for r in rows if r["quantity"] == "velocity"}
    assert speed[puma.joint_names[0]] == pytest.approx(np.abs(run.velocity[:, 0]).max(), rel=1e-6)
    power = {r["joint"]: r["highest"] for r in rows if r["quantity"] == "power"}
    assert power[puma.joint_names[1]] == pytest.approx((run.effort * run.velocity)[:, 1].max())


def test_reports_have_a_section_of_limits(run, tmp_path):
    pytest.importorskip("bokeh", reason="the extra `report` is not installed")
    options = "--path", "too_far.yaml", "--dt", "0.02", "--html", "report.html"
    run("analyze", "hexapod.yaml", *options)
    html = (tmp_path / "report.html").read_text()
    section = html.split('<section id="limits">')[1].split("</section>")[0]
    assert "broken" in section
    for quantity in ("position", "velocity", "effort", "power", "condition number"):
        assert quantity in section


def test_the_papers_formulations_are_for_their_mechanisms_and_on_request(run, dasgupta):
    pytest.importorskip("matplotlib")
    hexapod = rd.load("hexapod.yaml")
    own = rd.analyze(hexapod, rd.load_path("up.yaml", hexapod), 0.1)
    for asked, shown in ((None, False), (True, True)):
        charts = study_page(own, formulations=asked).charts
        assert ("formulations" in {chart.key for chart in charts}) == shown
    papers = rd.analyze(dasgupta, rd.paper_path("I"), 0.5)
    assert "formulations" in {chart.key for chart in study_charts(papers)}
    assert "formulations" not in papers.plot(formulations=False)
    asked = rd.analyze(hexapod, rd.load_path("up.yaml", hexapod), 0.1, formulation="dasgupta1998")
    assert "formulations" in {chart.key for chart in study_charts(asked)}
    named = replace(dasgupta.model, name="another")
    other = rd.analyze(type(dasgupta)(named), rd.paper_path("I"), 0.5)
    assert "formulations" not in {chart.key for chart in study_charts(other)}


@pytest.mark.parametrize(
    "arguments",
    [
        ("workspace", "hexapod.yaml", "--page", "x.txt"),
        ("workspace", "hexapod.yaml", "--output", "x.txt"),
        ("plan", "hexapod.yaml", "--goal", "0 0 0.36 0 0 0", "--html", "x.txt"),
        ("analyze", "hexapod.yaml", "--path", "up.yaml", "--html", "x.txt"),
        ("analyze", "hexapod.yaml", "--path", "up.yaml", "--pdf", "x.txt"),
        ("analyze", "hexapod.yaml", "--path", "up.yaml", "--csv", "x.txt"),
    ],
)
def test_a_file_is_not_given_what_its_name_does_not_say(run, arguments):
    result = run(*arguments)
    assert result.exit_code == 1
    assert "x.txt" in result.output
    assert not Path("x.txt").exists()


@pytest.mark.parametrize(
    ("option", "loose", "tight"),
    [("--stiffness", 100.0, 1e5), ("--natural-frequency", 20.0, 60.0)],
)
def test_limits_of_stiffness_and_frequency_narrow_the_workspace(run, option, loose, tight):
    rd.save(rd.load("fivebar").with_drive_stiffness(2e3), "elastic.yaml")
    given = "workspace", "elastic.yaml", "--error", 0.1, "--resolution", 8, "--json", option
    wide, narrow = (json.loads(run(*given, limit).stdout)["volume"] for limit in (loose, tight))
    assert wide > 0.15
    assert narrow < 0.8 * wide
    assert "rigid" in run("workspace", "fivebar", option, loose).output
