# SPDX-License-Identifier: Apache-2.0

"""`robodyn excite`, a simulated recording, `robodyn identify`: from a motion to a model file."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import robodyn as rd
from robodyn.cli import app

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("identify")
    motion = folder / "exciting.yaml"
    run = CliRunner().invoke(
        app, ["excite", "fivebar", "--output", str(motion), "--duration", "6", "--trials", "2"]
    )
    assert run.exit_code == 0, run.output
    m = rd.load("fivebar")
    path = rd.load_path(motion, m)
    times = np.arange(0.0, path.duration, 0.01)
    states = path.sample(times)
    efforts = m.inverse_dynamics(*states)
    at = m.joint_positions(states.configuration)
    file = folder / "run.csv"
    rd.Recording.from_arrays(m, times, at, efforts).to_csv(file)
    return folder, file


@pytest.mark.slow
def test_a_recording_becomes_a_model_and_a_page(recorded):
    pytest.importorskip("bokeh", reason="the extra `report` is not installed")
    folder, file = recorded
    output, page = folder / "identified.yaml", folder / "page.html"
    run = CliRunner().invoke(
        app,
        ["identify", "fivebar", str(file), "--validate", str(file), "--output", str(output),
         "--html", str(page), "--friction", "coulomb", "--json"],
    )  # fmt: skip
    assert run.exit_code == 0, run.output
    found = json.loads(run.stdout)
    assert max(found["validation"][0]["relative"]) < 0.01
    assert {"fit", "friction", "parameters", "missed", "notes"} <= set(found)
    again, m = rd.load(output), rd.load("fivebar")
    states = rd.load_path(folder / "exciting.yaml", m).sample(np.linspace(1.0, 5.0, 20))
    efforts = m.inverse_dynamics(*states)
    error = again.inverse_dynamics(*states) - efforts
    assert np.abs(error).max() < 0.02 * np.abs(efforts).max()
    text = page.read_text(encoding="utf-8")
    for heading in ("Efforts measured and predicted", "Residuals", "Base parameters", "Friction"):
        assert heading in text


@pytest.mark.slow
def test_a_payload_is_weighed(recorded):
    pytest.importorskip("bokeh", reason="the extra `report` is not installed")
    folder, _ = recorded
    m = rd.load("fivebar")
    path = rd.load_path(folder / "exciting.yaml", m)
    times = np.arange(0.0, path.duration, 0.01)
    states = path.sample(times)
    efforts = m.with_payload(1.5).inverse_dynamics(*states)
    loaded = folder / "loaded.csv"
    # as another program would write it, in other units
    header = ",".join(["t", *(f"{kind}{k}" for kind in ("q", "i") for k in (1, 2))])
    table = np.column_stack([times, m.joint_positions(states.configuration), efforts / [4.0, -5.0]])
    np.savetxt(loaded, table, delimiter=",", header=header, comments="")
    empty = folder / "empty.csv"
    table[:, 3:] = m.inverse_dynamics(*states) / [4.0, -5.0]
    np.savetxt(empty, table, delimiter=",", header=header, comments="")
    words = ["identify", "fivebar", str(empty), "--payload", str(loaded), "--effort-gain", "4,-5"]
    words += ["--friction", "coulomb"]
    page = folder / "payload.html"
    run = CliRunner().invoke(app, [*words, "--json", "--html", str(page)])
    assert run.exit_code == 0, run.output
    body = json.loads(run.stdout)["payload"]
    assert body["mass"] == pytest.approx(1.5, abs=0.02)
    section = page.read_text(encoding="utf-8").split('id="payload"')[1].split('id="friction"')[0]
    assert f"{body['mass']:.4g}" in section
    # the body that carries it, before and with it
    assert "without payload" in section
    assert ".mass" in section
    # nothing shows where on the platform of a five-bar it sits above its plane
    assert "not identifiable" in section
    reported = CliRunner().invoke(app, words).output
    assert "payload, in the frame" in reported


@pytest.mark.slow
def test_errors_are_one_line(recorded):
    _, file = recorded
    for more, says in (
        (["--friction", "sticky"], "expected one of"),
        (["--coupling", "arm1"], "joint=turns"),
        (["--cutoff", "-3"], "above 0"),
        (["--effort-gain", "1,x"], "--effort-gain is '1,x'"),
        (["--effort-gain", "elbow=2"], "effort_gain names elbow"),
        (["--joint", "arm1_motor"], "model=recorded"),
    ):
        run = CliRunner().invoke(app, ["identify", "fivebar", str(file), *more])
        assert run.exit_code != 0
        reported = run.output.strip().splitlines()
        assert len(reported) == 1
        assert says in reported[0]
