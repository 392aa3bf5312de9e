# SPDX-License-Identifier: Apache-2.0

"""A recorded run against its plan: a run that is simulated and known in every number."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import InvalidInput
from robodyn.report import compare_with_plan, recorded_run_page

pytest.importorskip("bokeh", reason="the extra `report` is not installed")


@pytest.fixture(scope="module")
def run(dasgupta):
    return rd.simulate(dasgupta, rd.ComputedTorque(dasgupta), rd.paper_path("II"), 1e-3, 5e-3)


@pytest.mark.parametrize("start", [0.0, 1700.25])
def test_errors_are_those_of_the_run(dasgupta, run, start):
    recorded = compare_with_plan(
        dasgupta, run.time + start, run.configuration, run.effort, rd.paper_path("II")
    )
    assert recorded.start == pytest.approx(start, abs=5e-3)  # a fit takes up a steady delay
    assert recorded.fitted == (start > 0.0)
    if not start:
        np.testing.assert_allclose(recorded.error, run.error, atol=1e-12)
    model = dasgupta.inverse_dynamics(*recorded.planned)
    np.testing.assert_allclose(recorded.commanded - recorded.model, run.effort - model)


@pytest.mark.slow
def test_the_page_of_a_run(dasgupta, run):
    recorded = compare_with_plan(
        dasgupta, run.time, run.configuration, run.effort, rd.paper_path("II")
    )
    page = recorded_run_page(recorded, "II", "run.mcap")
    assert [chart.key for chart in page.charts] == [
        "motion", "errors", "efforts", "residuals", "condition_number", "path"]  # fmt: skip
    size = np.linalg.norm(run.error[:, :3], axis=1).max()
    assert page.data["tracking"]["position"] == pytest.approx(size)
    assert "run.mcap" in page.html()


@pytest.mark.slow
def test_a_recorded_run_of_an_arm(puma):
    path = rd.trajectories.arm_path("puma_fast")
    run = rd.simulate(puma, rd.ComputedTorque(puma), path, 1e-3, 1e-2)
    recorded = compare_with_plan(puma, run.time, run.configuration, run.effort, path)
    assert recorded.to_dict()["tracking"]["joints"] == pytest.approx(np.abs(run.error).max())
    assert "joint1" in recorded_run_page(recorded, "puma_fast").html()


def test_a_plan_with_a_known_start_is_not_fitted_and_bounds_the_run(dasgupta, run):
    late = run.time + 0.05  # a run that is late by as much as a fit would hide
    recorded = compare_with_plan(
        dasgupta, late, run.configuration, run.effort, rd.paper_path("II"), 0.0
    )
    assert not recorded.fitted
    assert recorded.time[-1] == pytest.approx(0.6)
    planned = rd.paper_path("II").sample(recorded.time).configuration
    expected = dasgupta.difference(planned, run.configuration[: len(recorded.time)])
    np.testing.assert_array_equal(recorded.error, expected)


def test_another_path_is_refused(dasgupta, run):
    measured = run.time, run.configuration, run.effort
    with pytest.raises(InvalidInput, match="another motion"):
        compare_with_plan(dasgupta, *measured, rd.paper_path("III"))
    with pytest.raises(InvalidInput, match="at least two"):
        compare_with_plan(dasgupta, *(values[:1] for values in measured), rd.paper_path("II"))
    with pytest.raises(InvalidInput, match=r"0 states during its plan, from 100 s to 100\.6 s"):
        compare_with_plan(dasgupta, *measured, rd.paper_path("II"), 100.0)
