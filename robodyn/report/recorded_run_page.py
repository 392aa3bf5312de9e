# SPDX-License-Identifier: Apache-2.0

"""Report page of a recorded run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.algorithms.tracking import tracking_of
from robodyn.arrays import FloatArray
from robodyn.poses import rpy_from_pose
from robodyn.presentation.numbers_as_text import number
from robodyn.report.chart import (
    COLORS,
    Chart,
    ChartLine,
    Mark,
    Panel,
    condition_panel,
    curves_of,
    panels_of,
)
from robodyn.report.labels import effort_labels, joint_titles, units_in_one
from robodyn.report.page import Page, cards, table
from robodyn.report.path_views import path_chart
from robodyn.report.recorded_run import PlanComparison
from robodyn.report.tables import Table


def recorded_run_page(run: PlanComparison, path: str = "", bag: str = "") -> Page:
    """Create the report page that compares a recorded run with its plan and its model.

    Args:
        run: comparison of the run with its plan.
        path: name of the plan.
        bag: file or folder of the recording.
    """
    found = run.to_dict()
    title = f"{run.mechanism.name}, recorded run" + (f" of path {path}" if path else "")
    subtitle = f"{bag}: {number(found['duration'])} s, {found['samples']} states"
    page = Page(title, subtitle, found | {"path": path, "bag": bag})
    start = f"{number(run.start)} s" + (", fitted" if run.fitted else "")
    tracking = [
        (f"largest error, {part.name}", _size_text(found["tracking"][part.name], part.unit))
        for part in tracking_of(run.mechanism).parts
    ]
    peaks = table(*extremes(run, joint_titles(run.mechanism)))
    page.add("summary", "Summary", cards([*tracking, ("start of the path", start)]) + peaks)
    page.add_margins(found["margins"])
    for chart in (_motion(run), _errors(run), _efforts(run), _residuals(run), _condition(run)):
        page.add_chart(chart)
    page.add_chart(path_chart(run.mechanism, run.measured))
    page.add_parameters(run.mechanism)
    page.sources["recording"] = bag
    return page


def _size_text(value: float, unit: str) -> str:
    """Format a tracking error: m in mm, rad in mrad, others in their own unit."""
    return f"{1e3 * value:.3g} m{unit}" if unit in ("m", "rad") else f"{number(value)} {unit}"


def extremes(run: PlanComparison, names: Sequence[str]) -> Table:
    """Create a table of the largest commanded and modeled efforts of each joint.

    It also contains the largest and the root mean square difference of the two.

    Args:
        run: comparison of the run with its plan.
        names: titles of the joints.
    """
    unit = units_in_one(run.mechanism.drives.effort_units)
    head = ["joint", f"commanded [{unit}]", "model's", "difference", "RMS difference"]
    rows = [
        [name, *list(row.values())[1:]]
        for name, row in zip(names, run.to_dict()["joints"], strict=True)
    ]
    return Table(head, rows, "Largest efforts and differences")


def _motion(run: PlanComparison) -> Chart:
    measured, names = _coordinates(run, run.measured)
    planned, _ = _coordinates(run, run.planned.configuration)
    panels = panels_of(
        [name for name, _ in names], run.time, {"measured": measured, "planned": planned},
        [f"{name} [{unit}]" for name, unit in names],
    )  # fmt: skip
    return Chart("motion", "Measured and planned motion", panels)


def _errors(run: PlanComparison) -> Chart:
    coordinates = run.mechanism.coordinates
    names = list(coordinates.displacement_names)
    panels = tuple(
        Panel(part.name.capitalize(),
              curves_of(run.time, names[part.columns], run.error[:, part.columns]),
              y_label=f"error [{units_in_one(coordinates.units[part.columns])}]")
        for part in tracking_of(run.mechanism).parts
    )  # fmt: skip
    return Chart("errors", "Tracking errors", panels, "Measured minus planned.",
                 columns=min(len(panels), 3))  # fmt: skip


def _efforts(run: PlanComparison) -> Chart:
    curves = {"commanded": run.commanded, "model, along the plan": run.model}
    panels = panels_of(joint_titles(run.mechanism), run.time, curves, effort_labels(run.mechanism))
    return Chart("efforts", "Commanded efforts and efforts of the model", panels)


def _residuals(run: PlanComparison) -> Chart:
    panels = panels_of(
        joint_titles(run.mechanism), run.time, {"": run.commanded - run.model},
        effort_labels(run.mechanism), marks=(Mark(0.0),),
    )  # fmt: skip
    text = (
        "Commanded efforts minus the efforts of the model along the plan. The difference consists "
        "of feedback efforts and errors of the model."
    )
    return Chart("residuals", "Effort difference", panels, text)


def _condition(run: PlanComparison) -> Chart:
    curve = ChartLine(run.time, run.mechanism.condition_number(run.measured), color=COLORS[0])
    panels = condition_panel("Condition number at the measured configurations", [curve])
    return Chart("condition_number", "Condition number", panels, columns=1)


def _coordinates(
    run: PlanComparison, configurations: FloatArray
) -> tuple[FloatArray, list[tuple[str, str]]]:
    """Return the positions (N, k) to plot for configurations, with names and units."""
    mechanism = run.mechanism
    if mechanism.coordinates.is_pose:
        names = ("x", "y", "z", "roll", "pitch", "yaw")
        units: tuple[str, ...] = mechanism.coordinates.units
        return np.hstack(rpy_from_pose(configurations)), list(zip(names, units, strict=True))
    values = mechanism.joint_positions(configurations)
    return values, list(zip(mechanism.joint_names, mechanism.drives.units, strict=True))
