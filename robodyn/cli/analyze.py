# SPDX-License-Identifier: Apache-2.0

"""`robodyn analyze MODEL --path PATH | --bag BAG`: forces and conditioning, planned or recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import robodyn as rd
from robodyn.algorithms.conditioning import condition_text
from robodyn.analysis.margins import margin_lines
from robodyn.analysis.study import MotionStudy
from robodyn.cli import session
from robodyn.cli.commands import CommandResult, options_of
from robodyn.report.study_page import extremes, study_page


def _write(
    study: MotionStudy,
    name: str,
    *,
    csv: Path | None = None,
    formulations: bool = False,
    html: Path | None = None,
    png: Path | None = None,
    pdf: Path | None = None,
) -> None:
    """Write the requested files of a study.

    Args:
        study: results.
        name: name of the path.
        csv: Also write the histories to this file, one row per instant.
        formulations: Compare the papers' formulations in the report of any platform.
        png: Also write the report's charts to this folder.
        pdf: Also write the report's charts to this file, one per page.
    """
    if csv is not None:
        study.write_csv(csv)
    if html or png or pdf:
        page = study_page(study, name, formulations or None)
        session.write_report(page, html, png, pdf)


def analyze(
    model: str = "",
    /,
    *,
    path: str | None = None,
    dt: float = 0.001,
    settings: dict[str, Any] = options_of("analyze", "formulation characteristic_length"),
    strict: bool = False,
    max_condition: float | None = None,
    bag: str | None = None,
    files: dict[str, Any] = options_of(_write, "csv formulations html png pdf"),
) -> CommandResult:
    """Compute the forces of a planned motion, their parts, and the conditioning.

    Nothing is simulated: forces come from inverse dynamics along the path. For a platform, they are
    split into the forces with massless legs and the dynamic part of the legs; for an arm, into
    inertia, Coriolis terms, gravity and friction.

    Args:
        model: Bundled name, or path to a .urdf, .xacro, .sdf, .xml or .yaml file; with --bag the
            recorded model, by default the bag's robot_description.
        path: I, II, III or P1 of the papers, puma for an arm, or a waypoint file (.yaml); with
            --bag, it replaces the recorded plan.
        dt: Sampling interval [s].
        bag: Compare a recorded run (.mcap, or a rosbag2 folder) with its plan instead.
    """
    for option, endings in (("csv", (".csv", "")), ("html", session.HTML), ("pdf", (".pdf", ""))):
        session.check_extension(f"--{option}", files[option], *endings)
    if bag is not None:
        if files["csv"] is not None:
            raise rd.InvalidInput("--csv writes a planned motion and cannot be used with --bag")
        return _compare_recording(model, path, bag, strict, files)
    if not model:
        raise rd.InvalidInput(f"no MODEL given; bundled models: {', '.join(rd.models())}")
    mechanism, name, trajectory = session.mechanism_and_path(model, path)
    with session.progress_bar(f"path {name}") as report_progress:
        study = rd.analyze(mechanism, trajectory, dt, **settings, progress=report_progress)
    found = {"path": name} | study.to_dict(histories=False)
    found["margins"] = study.margins(max_condition).to_dict()
    _write(study, name, **files)
    text = "\n".join(_lines(found, study))
    return CommandResult(found, text, strict and not found["margins"]["hold"])


def _compare_recording(
    model: str, path: str | None, bag: str, strict: bool, files: dict[str, Any]
) -> CommandResult:
    """Compare a recorded run with its own plan, or with the path `path`."""
    from robodyn.report.recorded_run import compare_with_plan
    from robodyn.report.recorded_run_page import extremes as run_extremes
    from robodyn.report.recorded_run_page import recorded_run_page
    from robodyn.view.bag import read_run

    with session.suppress_inertia_warnings():
        seen = read_run(bag, model)
    plan, start = (rd.load_path(path, seen.mechanism), None) if path else seen.plan()
    run = compare_with_plan(
        seen.mechanism, seen.times, seen.configurations, seen.commanded, plan, start
    )
    written = [files[kind] for kind in ("html", "png", "pdf")]
    if any(written):
        session.write_report(recorded_run_page(run, path or "", bag), *written)
    found = {"path": path or "as recorded", "bag": bag} | run.to_dict()
    errors = ", ".join(f"{name} {value:.4g}" for name, value in found["tracking"].items())
    lines = [
        f"{bag}: {found['model']}, path {found['path']}: {found['duration']:g} s, "
        f"{found['samples']} samples",
        f"path began at {run.start:.4g} s" + (", fitted" if run.fitted else ""),
        f"largest tracking errors (m, rad): {errors}",
        *run_extremes(run, run.mechanism.joint_names).lines(),
        *margin_lines(found["margins"]),
    ]
    return CommandResult(found, "\n".join(lines), strict and not found["margins"]["hold"])


def _lines(found: dict[str, Any], study: MotionStudy) -> list[str]:

    number, scaled = found["condition_number"], found["scaled_condition_number"]
    condition = (
        f"condition number {condition_text(number['min'])} to {condition_text(number['max'])}"
        f" (at t = {number['time_of_max']:.3f} s)"
    )
    if scaled["characteristic_length"] != 1.0:
        condition += (
            f", {scaled['min']:.4g} to {scaled['max']:.4g} with lengths divided by "
            f"{scaled['characteristic_length']:g} m"
        )
    return [
        f"{found['model']}, path {found['path']}, {found['formulation']}: "
        f"{found['duration']:g} s, {found['samples']} samples",
        *extremes(study, study.mechanism.joint_names).lines(),
        condition,
        *margin_lines(found["margins"]),
        *(f"singular at t = {t:.9f} s" for t in found["singular_times"]),
    ]
