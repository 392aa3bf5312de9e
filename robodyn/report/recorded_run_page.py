# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""A recorded run as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.poses import rpy_from_pose
from robodyn.report.chart import COLORS, DASHED, SOLID, Chart, Curve, Mark, Panel
from robodyn.report.numbers_as_text import number
from robodyn.report.page import Page, cards, provenance, table
from robodyn.report.parameters import parameter_tables
from robodyn.report.path_views import path_chart
from robodyn.report.study_charts import ERROR, WARN, colored

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.report.recorded_run import FlownRun


def flown_page(run: FlownRun, path: str = "", bag: str = "", command: str = "") -> Page:
    """Measured against planned, commanded against the model's.

    Args:
        run: what was flown.
        path: how its plan is called.
        bag: where it was recorded.
        command: how the page was asked for.
    """
    found = run.to_dict()
    title = f"{run.mechanism.name}, a recorded run" + (f" of path {path}" if path else "")
    subtitle = f"{bag}: {number(found['duration'])} s, {found['samples']} states"
    page = Page(title, subtitle, found | {"path": path, "bag": bag})
    start = f"{number(run.start)} s" + (", fitted" if run.fitted else "")
    tracking = [(f"largest error, {name}", _off(value, name))
                for name, value in found["tracking"].items()]  # fmt: skip
    rest = [("path began at", start)]
    page.add("summary", "In short", cards([*tracking, *rest]) + _extremes(run))
    for chart in (_motion(run), _errors(run), _efforts(run), _residuals(run), _condition(run)):
        page.add_chart(chart)
    page.add_chart(path_chart(run.mechanism, run.measured))
    tables = "".join(table(head, rows, name) for name, head, rows in
                     parameter_tables(run.mechanism))  # fmt: skip
    page.add("parameters", "Model parameters", tables)
    page.add("made", "How this was made", provenance(command, recording=bag))
    return page


def _off(value: float, name: str) -> str:
    return f"{1e3 * value:.3g} {'mm' if name == 'position' else 'mrad'}" if (
        name != "joints") else f"{number(value)} rad or m"  # fmt: skip


def _extremes(run: FlownRun) -> str:
    unit = "N" if run.mechanism.kind == "stewart" else "N m, N"
    head = ["joint", f"peak commanded [{unit}]", f"peak of the model's [{unit}]",
            f"largest difference [{unit}]", f"RMS difference [{unit}]"]  # fmt: skip
    keys = ("peak_commanded", "peak_model", "largest_difference", "rms_difference")
    rows = [
        [name, *(number(row[key]) for key in keys)]
        for name, row in zip(_names(run), run.to_dict()["joints"], strict=True)
    ]
    return table(head, rows, "Extremes")


def _motion(run: FlownRun) -> Chart:
    measured, names = _coordinates(run, run.measured)
    planned, _ = _coordinates(run, run.planned.configuration)
    panels = tuple(
        Panel(name, (Curve(run.time, measured[:, i], "measured", COLORS[0]),
                     Curve(run.time, planned[:, i], "planned", COLORS[1], DASHED)),
              y_label=f"{name} [{unit}]")
        for i, (name, unit) in enumerate(names)
    )  # fmt: skip
    return Chart("motion", "Measured and planned", panels)


def _errors(run: FlownRun) -> Chart:
    if run.mechanism.kind == "stewart":
        parts = (("Position", run.error[:, :3], "error [m]"),
                 ("Orientation", run.error[:, 3:], "error [rad]"))  # fmt: skip
        panels = tuple(Panel(title, colored(run.time, values, ["x", "y", "z"]), y_label=unit)
                       for title, values, unit in parts)  # fmt: skip
    else:
        names = list(run.mechanism.joint_names)
        panels = (Panel("Joints", colored(run.time, run.error, names),
                        y_label="error [rad, m]"),)  # fmt: skip
    return Chart("errors", "Tracking errors", panels, "Measured less planned.", columns=len(panels))


def _efforts(run: FlownRun) -> Chart:
    panels = tuple(
        Panel(name, (Curve(run.time, run.commanded[:, i], "commanded", COLORS[0], SOLID),
                     Curve(run.time, run.model[:, i], "the model's, along the plan", COLORS[1],
                           DASHED)), y_label=_unit(run))
        for i, name in enumerate(_names(run))
    )  # fmt: skip
    return Chart("efforts", "Efforts commanded and the model's", panels)


def _residuals(run: FlownRun) -> Chart:
    residual = run.commanded - run.model
    panels = tuple(
        Panel(name, (Curve(run.time, residual[:, i], color=COLORS[0]),), y_label=_unit(run),
              marks=(Mark(0.0),))
        for i, name in enumerate(_names(run))
    )  # fmt: skip
    text = (
        "Commanded less the model's along the plan: what feedback added, errors of the model too."
    )
    return Chart("residuals", "Difference of efforts", panels, text)


def _condition(run: FlownRun) -> Chart:
    numbers = run.mechanism.condition_number(run.measured)
    marks = (Mark(WARN, f"warning {WARN:g}", color="#b07d00"),
             Mark(ERROR, f"error {ERROR:g}", color="#b3261e"))  # fmt: skip
    panel = Panel("Where it was", (Curve(run.time, numbers, color=COLORS[0]),),
                  y_label="condition number [-]", marks=marks, scale="log")  # fmt: skip
    return Chart("condition_number", "Condition number", (panel,), columns=1)


def _coordinates(
    run: FlownRun, configurations: FloatArray
) -> tuple[FloatArray, list[tuple[str, str]]]:
    if run.mechanism.kind != "stewart":
        return configurations, [(name, "rad, m") for name in run.mechanism.joint_names]
    names = [*((axis, "m") for axis in "xyz"), *((name, "rad") for name in
             ("roll", "pitch", "yaw"))]  # fmt: skip
    return np.hstack(rpy_from_pose(configurations)), names


def _names(run: FlownRun) -> list[str]:
    names = run.mechanism.joint_names
    if run.mechanism.kind == "stewart":
        return [f"leg {i}" for i in range(1, len(names) + 1)]
    return list(names)


def _unit(run: FlownRun) -> str:
    return "force [N]" if run.mechanism.kind == "stewart" else "effort [N m, N]"
