# SPDX-License-Identifier: Apache-2.0

"""Natural modes as the live view animates them, and as the report tabulates them."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.report.evaluation_page import add_machine
from robodyn.report.page import Page
from robodyn.report.vibration_sheet import modes_table, vibration_charts
from robodyn.view import ModeAnimation


@pytest.fixture
def elastic(load):
    return load("motion_platform").with_drive_stiffness(1e8, 2e4)


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def test_the_mechanism_moves_along_the_shape_of_the_mode(elastic, clock):
    animation = ModeAnimation(elastic)
    animation.mode, animation.amplitude = 2, 0.05
    shape, moved = animation.modes.shapes[:, 2], []
    for clock[0] in (0.0, 0.5, 1.0, 1.5, 2.5):
        configuration = animation.snapshot().configuration
        moved.append(elastic.difference(elastic.home, configuration))
    np.testing.assert_allclose(moved[0], 0.0, atol=1e-12)
    np.testing.assert_allclose(moved[3], -moved[1], atol=1e-9)
    np.testing.assert_allclose(moved[4], moved[1], atol=1e-9)
    along = moved[1] / np.linalg.norm(moved[1])
    np.testing.assert_allclose(np.abs(along @ shape) / np.linalg.norm(shape), 1.0, rtol=1e-9)
    assert np.abs(moved[1][:3]).max() / elastic.size <= 0.05 + 1e-9
    assert animation.names[2].startswith(f"3: {animation.modes.frequencies[2]:.4g} Hz, damping ")


def test_mode_animation_pauses_and_returns_to_the_equilibrium(elastic, clock):
    animation = ModeAnimation(elastic)
    clock[0] = 0.3
    animation.set_playing(False)
    held = animation.snapshot()
    clock[0] = 0.7
    assert animation.snapshot().configuration.tobytes() == held.configuration.tobytes()
    assert not held.playing
    animation.reset()
    np.testing.assert_array_equal(animation.snapshot().time, 0.0)


def test_rigid_drives_have_no_modes(load):
    with pytest.raises(rd.InvalidInput, match=r"are rigid.*`stiffness`"):
        ModeAnimation(load("motion_platform"))
    assert modes_table(load("motion_platform")) is None


def test_the_report_tabulates_frequencies_and_shapes(elastic):
    modes, found = elastic.modes(elastic.home), modes_table(elastic)
    rows = np.array(found.rows, dtype=float)
    np.testing.assert_allclose(rows[:, 1:3], np.c_[modes.frequencies, modes.damping_ratios])
    scaled = rows[:, 3:] / np.r_[np.full(3, elastic.size), np.ones(3)]
    np.testing.assert_allclose(np.abs(scaled).max(axis=1), 1.0)


def test_the_report_draws_the_shapes_and_charts_the_responses(elastic):
    shapes, moved, pushed = vibration_charts(elastic)
    modes = elastic.modes(elastic.home)
    assert [panel.title.split(" Hz")[0] for panel in shapes.panels] == [
        f"{k}: {frequency:.4g}" for k, frequency in enumerate(modes.frequencies, start=1)
    ]
    # a slow base carries the body along, a slow force displaces it by the compliance
    along, _, phase = moved.panels
    np.testing.assert_allclose([curve.y[0] for curve in along.curves[:2]], 1.0, rtol=0.02)
    assert abs(phase.curves[2].y[0]) < 1.0
    compliance = np.diagonal(elastic.compliance(elastic.home))
    found = [curve.y[0] for panel in pushed.panels[:2] for curve in panel.curves]
    np.testing.assert_allclose(found, compliance, rtol=0.02)
    # resonance in heave at the mode that heaves most
    heave = along.curves[2]
    nearest = modes.frequencies[np.abs(modes.body_shapes[:, 2]).argmax()]
    assert heave.x[heave.y.argmax()] == pytest.approx(nearest, rel=0.05)
    page = Page("platform", "", {})
    add_machine(page, elastic)
    assert all(chart.title in page.html() for chart in (shapes, moved, pushed))


def test_an_unstable_machine_has_no_response(elastic):
    heavy = elastic.with_payload(2000.0, [0.0, 0.0, 3.0]).with_drive_stiffness(1e4)
    assert not heavy.modes(heavy.home).stable
    assert vibration_charts(heavy) == []
