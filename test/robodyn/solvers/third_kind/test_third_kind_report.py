# SPDX-License-Identifier: Apache-2.0
"""The third kind in reports: no line of `robodyn.report` knows it, nor does it provide any."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.report import compare_with_plan, recorded_run_page, study_charts, study_page
from robodyn.trajectories import demonstration

pytestmark = pytest.mark.slow

pytest.importorskip("bokeh")


@pytest.fixture
def crane(registered, description):
    return rd.load(description)


def test_a_study_of_it_has_a_page(crane):
    study = rd.analyze(crane, demonstration(crane), 0.02)
    charts = {chart.key: chart for chart in study_charts(study)}
    assert list(charts) == ["forces", "condition_number", "joints", "path"]
    force, torque = charts["forces"].panels
    assert (force.y_label, torque.y_label) == ("force [N]", "torque [N m]")
    np.testing.assert_array_equal(force.curves[0].y, study.forces[:, 0])
    assert charts["forces"].title == "Joint efforts"
    html = study_page(study).html()
    assert "Bodies (gravity 0, 0, −9.81 m/s²)" in html
    for name in crane.joint_names:
        assert name in html


def test_a_recorded_run_of_it_has_a_page(crane):
    path = demonstration(crane)
    run = rd.simulate(crane, rd.ComputedTorque(crane), path, 2e-3, 1e-2)
    recorded = compare_with_plan(crane, run.time, run.configuration, run.effort, path, 0.0)
    page = recorded_run_page(recorded)
    assert page.data["tracking"]["joints"] == pytest.approx(np.abs(run.error).max())
    (errors,) = next(chart for chart in page.charts if chart.key == "errors").panels
    assert [curve.label for curve in errors.curves] == list(crane.joint_names)
    assert errors.y_label == "error [m, rad]"
    assert page.html()
