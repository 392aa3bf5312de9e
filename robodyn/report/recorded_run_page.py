# SPDX-License-Identifier: Apache-2.0

"""The report of a recorded run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.poses import rpy_from_pose
from robodyn.report.chart import COLORS, DASHED, SOLID, Chart, Curve, Mark, Panel
from robodyn.report.labels import effort_labels, joint_titles, units_in_one
from robodyn.report.margins_section import margins_html
from robodyn.report.numbers_as_text import number
from robodyn.report.page import Page, cards, provenance, table
from robodyn.report.parameters import parameter_tables
from robodyn.report.path_views import path_chart
from robodyn.report.study_charts import ERROR, WARN, colored

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.report.recorded_run import RecordedRun


def recorded_run_page(run: RecordedRun, path: str = "", bag: str = "", command: str = "") -> Page:
    """The HTML page that compares a recorded run with its plan and its model.

    Args:
        run: the run and its plan.
        path: name of the plan.
        bag: file or folder of the recording.
        command: command line that made the page, shown at its end.
    """
    found = run.to_dict()
    title = f"{run.mechanism.name}, recorded run" + (f" of path {path}" if path else "")
    subtitle = f"{bag}: {number(found['duration'])} s, {found['samples']} states"
    page = Page(title, subtitle, found | {"path": path, "bag": bag})
    start = f"{number(run.start)} s" + (", fitted" if run.fitted else "")
    tracking = [
        (f"largest error, {part.name}", _size_text(found["tracking"][part.name], part.unit))
        for part in run.mechanism.tracking.parts
    ]
    page.add(
        "summary", "Summary", cards([*tracking, ("start of the path", start)]) + _extremes(run)
    )
    page.add("limits", "Limits", margins_html(found["margins"]))
    for chart in (_motion(run), _errors(run), _efforts(run), _residuals(run), _condition(run)):
        page.add_chart(chart)
    page.add_chart(path_chart(run.mechanism, run.measured))
    tables = "".join(table(head, rows, name) for name, head, rows in
                     parameter_tables(run.mechanism))  # fmt: skip
    page.add("parameters", "Model parameters", tables)
    page.add("made", "How this page was made", provenance(command, recording=bag))
    return page


def _size_text(value: float, unit: str) -> str:
    """A tracking error in thousandths of its unit, where it has one unit."""
    return f"{1e3 * value:.3g} m{unit}" if unit in ("m", "rad") else f"{number(value)} {unit}"


def _extremes(run: RecordedRun) -> str:
    unit = units_in_one(run.mechanism.effort_units)
    head = ["joint", f"peak commanded [{unit}]", f"peak of the model [{unit}]",
            f"largest difference [{unit}]", f"RMS difference [{unit}]"]  # fmt: skip
    keys = ("peak_commanded", "peak_model", "largest_difference", "rms_difference")
    rows = [
        [name, *(number(row[key]) for key in keys)]
        for name, row in zip(joint_titles(run.mechanism), run.to_dict()["joints"], strict=True)
    ]
    return table(head, rows, "Extremes")


def _motion(run: RecordedRun) -> Chart:
    measured, names = _coordinates(run, run.measured)
    planned, _ = _coordinates(run, run.planned.configuration)
    panels = tuple(
        Panel(name, (Curve(run.time, measured[:, i], "measured", COLORS[0]),
                     Curve(run.time, planned[:, i], "planned", COLORS[1], DASHED)),
              y_label=f"{name} [{unit}]")
        for i, (name, unit) in enumerate(names)
    )  # fmt: skip
    return Chart("motion", "Measured and planned motion", panels)


def _errors(run: RecordedRun) -> Chart:
    coordinates = run.mechanism.coordinates
    names = list("xyz" * 2) if coordinates.is_pose else list(coordinates.velocity_names)
    panels = tuple(
        Panel(part.name.capitalize(),
              colored(run.time, run.error[:, part.columns], names[part.columns]),
              y_label=f"error [{units_in_one(coordinates.units[part.columns])}]")
        for part in run.mechanism.tracking.parts
    )  # fmt: skip
    return Chart("errors", "Tracking errors", panels, "Measured minus planned.",
                 columns=min(len(panels), 3))  # fmt: skip


def _efforts(run: RecordedRun) -> Chart:
    panels = tuple(
        Panel(name, (Curve(run.time, run.commanded[:, i], "commanded", COLORS[0], SOLID),
                     Curve(run.time, run.model[:, i], "model, along the plan", COLORS[1], DASHED)),
              y_label=label)
        for i, (name, label) in enumerate(_joints(run))
    )  # fmt: skip
    return Chart("efforts", "Efforts commanded and of the model", panels)


def _residuals(run: RecordedRun) -> Chart:
    residual = run.commanded - run.model
    panels = tuple(
        Panel(name, (Curve(run.time, residual[:, i], color=COLORS[0]),), y_label=label,
              marks=(Mark(0.0),))
        for i, (name, label) in enumerate(_joints(run))
    )  # fmt: skip
    text = (
        "Commanded minus model efforts along the plan: the contribution of feedback and the errors "
        "of the model."
    )
    return Chart("residuals", "Difference of efforts", panels, text)


def _condition(run: RecordedRun) -> Chart:
    numbers = run.mechanism.condition_number(run.measured)
    marks = (Mark(WARN, f"warning {WARN:g}", color="#b07d00"),
             Mark(ERROR, f"error {ERROR:g}", color="#b3261e"))  # fmt: skip
    panel = Panel("At the measured configurations", (Curve(run.time, numbers, color=COLORS[0]),),
                  y_label="condition number [-]", marks=marks, scale="log")  # fmt: skip
    return Chart("condition_number", "Condition number", (panel,), columns=1)


def _coordinates(
    run: RecordedRun, configurations: FloatArray
) -> tuple[FloatArray, list[tuple[str, str]]]:
    """Values (N, k) of a motion as people read them, and the name and unit of each."""
    mechanism = run.mechanism
    if mechanism.coordinates.is_pose:
        names = ("x", "y", "z", "roll", "pitch", "yaw")
        units: tuple[str, ...] = mechanism.coordinates.units
        return np.hstack(rpy_from_pose(configurations)), list(zip(names, units, strict=True))
    values = mechanism.joint_positions(configurations)
    return values, list(zip(mechanism.joint_names, mechanism.joint_units, strict=True))


def _joints(run: RecordedRun) -> list[tuple[str, str]]:
    """Title and axis label of each driven joint."""
    return list(zip(joint_titles(run.mechanism), effort_labels(run.mechanism), strict=True))
