# SPDX-License-Identifier: Apache-2.0

"""Design editor: verdicts follow the sliders, on a served page with a client."""

import numpy as np
import pytest
from headless_chromium import Browser, executable
from typer.testing import CliRunner
from viser_client import Client

import robodyn as rd
from robodyn.cli import app
from robodyn.designing import FAMILIES
from robodyn.view import IDEAL, DesignEditor, serve, stop

REQUIREMENTS = {
    "payload": {"mass": 250.0, "com": [0.0, 0.0, 0.35]},
    "motions": [{"name": "heave", "heave": 0.15, "frequency": 1.0}],
    "limits": {"footprint_radius": 1.0},
}


@pytest.fixture
def editor():
    """An open editor of hexapods, and a client of its page."""
    server = serve(0)
    family = FAMILIES["hexapod"]
    required = rd.load_requirements(REQUIREMENTS)
    made = DesignEditor(server, family, required, family.suitable_actuators("sample"))
    client = Client(server.get_port())
    made.start()
    client.until(lambda: "peak effort" in client.texts, "a table of needs")
    yield made, client
    client.close()
    made.close()
    stop(server)


@pytest.mark.slow
def test_design_editor_evaluates_what_the_sliders_show(editor):
    made, client = editor
    low, high = FAMILIES["hexapod"].bounds["base_radius"]
    assert made.parameters["base_radius"] == pytest.approx(0.5 * (low + high))
    assert "NO:" not in client.texts
    client.set("base radius [m]", 1.2)
    client.until(lambda: "NO:" in client.texts, "a requirement that is not met")
    made.close()
    assert made.parameters["base_radius"] == pytest.approx(1.2)
    # the evaluation is that of the machine with these dimensions
    machine = FAMILIES["hexapod"].mechanism(made.parameters, made.evaluation.requirements)
    direct = rd.evaluate(machine, made.evaluation.requirements)
    np.testing.assert_array_equal(made.evaluation.needed.peak_effort, direct.needed.peak_effort)
    failed = [v.requirement for v in made.evaluation.verdicts if not v.satisfied]
    assert failed == ["footprint_radius"]
    assert f"{direct.needed.peak_effort.max():.4g}" in client.texts


@pytest.mark.slow
@pytest.mark.skipif(executable() is None, reason="no Chromium on the PATH (apt install chromium)")
def test_dragging_a_slider_in_a_browser_changes_the_sentences(editor):
    made, client = editor
    browser = Browser(f"http://localhost:{client.port}", 1280, 800)
    try:
        browser.until("at most 1 m is allowed", 300.0)
        assert "NO:" not in browser.text
        before = made.parameters
        x, y, width = browser.evaluate(
            "(() => { const thumb = document.querySelector('[role=slider]');"
            "const r = thumb.getBoundingClientRect(); return [r.x, r.y, r.width]; })()"
        )
        browser.drag(x + 0.5 * width, y + 0.5 * width, 60.0)
        browser.until("NO: the farthest joint on the base is", 300.0)
        radius = made.parameters["base_radius"]
        browser.until(
            f"is {radius:.4g} m from the z axis of the base frame; at most 1 m is allowed", 300.0
        )
        assert radius > 1.0
        assert made.parameters | {"base_radius": 0.0} == before | {"base_radius": 0.0}
        assert browser.console == []
    finally:
        browser.close()


@pytest.mark.slow
def test_design_editor_applies_the_limits_of_an_actuator(editor):
    made, client = editor
    assert not np.isfinite(made.evaluation.mechanism.velocity_limits).any()
    names = [name for name in made.actuator.options if name != IDEAL]
    client.set("Actuator", names[0])
    client.until(lambda: "continuously; at most" in client.texts, "a limit of the actuator")
    made.close()
    assert np.isfinite(made.evaluation.mechanism.velocity_limits).all()


@pytest.mark.slow
def test_design_editor_says_that_dimensions_make_no_machine():
    server = serve(0)
    required = rd.load_requirements({"motions": [{"heave": 0.01, "frequency": 1.0}]})
    made = DesignEditor(server, FAMILIES["delta"], required)
    try:
        made.sliders["base_radius"].value, made.sliders["rod"].value = 0.4, 0.15
        made.update()
        assert made.evaluation is None
        made.sliders["rod"].value = 1.0
        made.update()
        assert made.evaluation.satisfied
    finally:
        stop(server)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["puma560", "--design", "r.yaml"],
            "family of --design is 'puma560', expected one of hexapod,",
        ),
        (["hexapod", "--catalog", "sample"], "--catalog is sample, but --design is missing"),
        (["hexapod", "--design", "missing.yaml"], "missing.yaml"),
    ],
)
def test_command_refuses_what_cannot_be_designed(arguments, message):
    result = CliRunner().invoke(app, ["view", *arguments, "--no-browser", "--port", "0"])
    assert result.exit_code == 1
    assert message in result.output
