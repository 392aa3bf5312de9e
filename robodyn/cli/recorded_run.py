# SPDX-License-Identifier: Apache-2.0

"""`robodyn analyze MODEL --bag BAG`: a recorded run against its plan."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import typer

from robodyn.analysis.as_json import as_json
from robodyn.analysis.margins_text import margin_lines
from robodyn.cli.report import command_line, write_report
from robodyn.errors import UnphysicalInertiaWarning
from robodyn.report.recorded_run import compare_with_plan
from robodyn.report.recorded_run_page import recorded_run_page
from robodyn.trajectories import load_path
from robodyn.view.bag import read_run

if TYPE_CHECKING:
    from pathlib import Path


def analyze_bag(
    model: str,
    path: str | None,
    bag: str,
    json: bool,
    html: Path | None,
    png: Path | None,
    pdf: Path | None,
) -> bool:
    """Compare with the recorded plan, or with `path`; print, and write the requested files.

    Returns whether the recorded motion kept to all limits.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)  # see `robodyn check`
        seen = read_run(bag, model)
    plan, start = (load_path(path, seen.mechanism), None) if path else seen.plan()
    run = compare_with_plan(
        seen.mechanism, seen.times, seen.configurations, seen.commanded, plan, start
    )
    if html is not None or png is not None or pdf is not None:
        write_report(recorded_run_page(run, path or "", bag, command_line()), html, png, pdf)
    found = {"path": path or "as recorded", "bag": bag} | run.to_dict()
    typer.echo(as_json(found) if json else "\n".join(_lines(found)))
    return bool(found["margins"]["hold"])


def _lines(found: dict[str, Any]) -> list[str]:
    start = found["path_start"]
    errors = ", ".join(f"{name} {value:.4g}" for name, value in found["tracking"].items())
    width = max(len(row["joint"]) for row in found["joints"])
    keys = {"peak_commanded": "commanded", "peak_model": "model's",
            "largest_difference": "difference", "rms_difference": "RMS diff."}  # fmt: skip
    return [
        f"{found['bag']}: {found['model']}, path {found['path']}: {found['duration']:g} s, "
        f"{found['samples']} states",
        f"path began at {start['time']:.4g} s" + (", fitted" if start["fitted"] else ""),
        f"largest tracking errors (m, rad): {errors}",
        "  ".join(["joint".ljust(width), *(title.rjust(10) for title in keys.values())]),
        *(
            "  ".join([row["joint"].ljust(width), *(f"{row[key]:10.4g}" for key in keys)])
            for row in found["joints"]
        ),
        *margin_lines(found["margins"]),
    ]
