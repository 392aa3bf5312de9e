# SPDX-License-Identifier: Apache-2.0

"""Report page of a study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.analysis.study import MotionStudy
from robodyn.presentation import presentation
from robodyn.presentation.numbers_as_text import number
from robodyn.report.labels import effort_name, joint_titles, units_in_one
from robodyn.report.page import Page, cards, table
from robodyn.report.study_charts import study_charts
from robodyn.report.tables import Table


def study_page(study: MotionStudy, path: str = "", formulations: bool | None = None) -> Page:
    """Create the report page of a motion study.

    Args:
        study: motion study.
        path: name of the motion.
        formulations: whether to compare the papers' formulations, see `study_charts`.
    """
    found = study.to_dict(histories=False)
    title = study.mechanism.name + (f", path {path}" if path else "")
    subtitle = (
        f"Inverse dynamics along a planned motion of {number(float(study.time[-1]))} s, "
        f"{len(study.time)} samples, formulation {study.formulation}"
    )
    page = Page(title, subtitle, found | {"path": path})
    peaks = table(*extremes(study, joint_titles(study.mechanism)))
    page.add("summary", "Summary", cards(_key_numbers(study, found)) + peaks)
    page.add_margins(found["margins"])
    for chart in study_charts(study, formulations):
        page.add_chart(chart)
    page.add_parameters(study.mechanism)
    return page


def _key_numbers(study: MotionStudy, found: dict[str, Any]) -> list[tuple[str, str]]:
    mechanism = study.mechanism
    rows, condition = found["joints"], found["condition_number"]
    names = joint_titles(mechanism)
    out = []
    # efforts in different units have no largest
    if len(set(mechanism.drives.effort_units)) == 1:
        peaks = [abs(row["peak_force"]) for row in rows]
        i = int(np.nanargmax(peaks))
        value = f"{number(peaks[i])} {mechanism.drives.effort_units[i]}"
        out.append((f"largest {effort_name(mechanism)}, {names[i]}", value))
    if "massless" in study.terms:
        fraction = np.abs(study.dynamic_fraction)
        middle = float(np.median(fraction[np.isfinite(fraction)]))
        out.append(("dynamic fraction, median", f"{100.0 * middle:.0f} %"))
    span = f"{number(condition['min'])} to {number(condition['max'])}"
    out.append(("condition number", span))
    times = ", ".join(f"{t:.4f} s" for t in found["singular_times"])
    if times or presentation.has_legs(mechanism):
        out.append(("singular at", times or "nowhere on the path"))
    speed = max(row["peak_velocity"] for row in rows)
    unit = units_in_one(mechanism.drives.units, "/s").replace(", ", " or ")
    out.append(("fastest joint", f"{number(speed)} {unit}"))
    return out


def extremes(study: MotionStudy, names: Sequence[str]) -> Table:
    """Create a table of each joint's peak effort, range, top speed and zero crossings.

    Zero crossings are the times [s] at which the effort changes its sign.

    Args:
        study: motion study.
        names: titles of the joints.
    """
    fractions = ["dynamic/total"] if "massless" in study.terms else []
    head = ["joint", f"peak [{units_in_one(study.mechanism.drives.effort_units)}]", "at [s]",
            *study.terms, *fractions, f"from [{units_in_one(study.mechanism.drives.units)}]",
            "to", "top speed", "zero at [s]"]  # fmt: skip
    rows = []
    for name, row in zip(names, study.extremes(), strict=True):
        _, *values, crossings = row.values()
        rows.append([name, *values, ", ".join(f"{t:.3f}" for t in crossings) or "–"])
    return Table(head, rows, "Peaks of the total and of each part, each at its own time")
