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

"""A study as one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.report.page import Page, cards, made, table
from robodyn.report.parameters import number, parameter_tables
from robodyn.report.study_charts import joint_titles, study_charts

if TYPE_CHECKING:
    from robodyn.analysis.study import Study


def study_page(study: Study, path: str = "", command: str = "") -> Page:
    """The page of a study.

    Args:
        study: what to show.
        path: how the motion is called.
        command: how the page was asked for, to stand at its end.
    """
    found = study.to_dict(histories=False)
    title = study.mechanism.name + (f", path {path}" if path else "")
    subtitle = (
        f"Inverse dynamics along a planned motion of {number(float(study.time[-1]))} s, "
        f"{len(study.time)} instants, formulation {study.formulation}"
    )
    page = Page(title, subtitle, found | {"path": path})
    page.add("summary", "In short", cards(_key_numbers(study, found)) + _extremes(study, found))
    for chart in study_charts(study):
        page.add_chart(chart)
    tables = "".join(
        table(head, rows, caption) for caption, head, rows in parameter_tables(study.mechanism)
    )
    page.add("parameters", "Model parameters", tables)
    page.add("made", "How this was made", made(command))
    return page


def _key_numbers(study: Study, found: dict[str, Any]) -> list[tuple[str, str]]:
    platform = study.mechanism.kind == "stewart"
    rows, condition = found["joints"], found["condition_number"]
    names = joint_titles(study)
    # an arm's efforts may be of different units: only a platform's have a largest
    out = []
    if platform:
        peaks = [abs(row["peak_force"]) for row in rows]
        i = int(np.nanargmax(peaks))
        out.append((f"largest force, {names[i]}", f"{number(peaks[i])} N"))
        fraction = np.abs(study.dynamic_fraction)
        middle = float(np.median(fraction[np.isfinite(fraction)]))
        out.append(("dynamic fraction, median", f"{100.0 * middle:.0f} %"))
    span = f"{number(condition['min'])} to {number(condition['max'])}"
    out.append(("condition number", span))
    times = ", ".join(f"{t:.4f} s" for t in found["singular_times"])
    if study.singular_times.size or platform:
        out.append(("singular at", times or "nowhere on the path"))
    speed = max(row["peak_velocity"] for row in rows)
    unit = "m/s" if platform else "rad/s or m/s"
    out.append(("fastest joint", f"{number(speed)} {unit}"))
    return out


def _extremes(study: Study, found: dict[str, Any]) -> str:
    platform = study.mechanism.kind == "stewart"
    force, length = ("N", "m") if platform else ("N m, N", "rad, m")
    parts = list(study.terms)
    head = ["joint", f"peak [{force}]", "at [s]", *(f"{part} [{force}]" for part in parts)]
    head += ["dynamic / total"] if platform else []
    head += [f"from [{length}]", f"to [{length}]", f"top speed [{length.replace(',', '/s,')}/s]",
             "changes sign at [s]"]  # fmt: skip
    rows = []
    for name, row in zip(joint_titles(study), found["joints"], strict=True):
        cells = [row["peak_force"], row["time_of_peak"], *(row[f"peak_{part}"] for part in parts)]
        cells += [row["peak_dynamic_fraction"]] if platform else []
        cells += [row["lowest_position"], row["highest_position"], row["peak_velocity"]]
        signs = ", ".join(f"{t:.3f}" for t in row["zero_crossings"]) or "–"
        rows.append([name, *(number(cell) for cell in cells), signs])
    return table(head, rows, "Extremes, each part's own")
