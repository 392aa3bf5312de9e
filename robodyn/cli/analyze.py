# SPDX-License-Identifier: Apache-2.0

"""`robodyn analyze MODEL --path PATH`: forces and conditioning along a planned motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from robodyn.analysis.as_json import as_json
from robodyn.analysis.margins_text import margin_lines
from robodyn.analysis.study import analyze as examine
from robodyn.cli.commands import argument, option
from robodyn.cli.session import mechanism_and_path, one_line_errors, progress_bar
from robodyn.errors import InvalidInput
from robodyn.mechanisms.load import models

if TYPE_CHECKING:
    from robodyn.mechanisms.protocol import Mechanism


def analyze(
    model: Annotated[
        str,
        argument(
            help="Bundled name, or path to a .urdf, .xacro or .yaml file; with --bag "
            "the recorded model, by default the bag's robot_description."
        ),
    ] = "",
    path: Annotated[
        Optional[str],  # noqa: UP045
        option(
            help="I, II, III or P1 of the papers, puma for an arm, or a waypoint file (.yaml); "
            "with --bag, it replaces the recorded plan."
        ),
    ] = None,
    dt: Annotated[float, option(help="Sampling interval [s].")] = 0.001,
    formulation: Annotated[
        str,
        option(help="For a platform: exact, massless, dasgupta1998 or pedrammehr2012."),
    ] = "exact",
    characteristic_length: Annotated[
        float, option(help="Length that divides moments in the scaled condition number [m].")
    ] = 1.0,
    strict: Annotated[
        bool, option("--strict", help="Exit code 1 where a limit of the mechanism is broken.")
    ] = False,
    max_condition: Annotated[
        Optional[float],  # noqa: UP045
        option(
            help="Largest condition number that counts as within limits; by default 1000 for a "
            "platform, any for an arm."
        ),
    ] = None,
    formulations: Annotated[
        bool,
        option(
            "--formulations",
            help="Compare the papers' formulations in the report of any platform.",
        ),
    ] = False,
    json: Annotated[bool, option("--json", help="Machine-readable output.")] = False,
    csv: Annotated[
        Optional[Path],  # noqa: UP045
        option(help="Also write the histories to this file, one row per instant."),
    ] = None,
    bag: Annotated[
        Optional[str],  # noqa: UP045
        option(
            help="Examine a recorded run (.mcap, or a rosbag2 folder) against its plan instead."
        ),
    ] = None,
    html: Annotated[
        Optional[Path],  # noqa: UP045
        option(help="Also write a report to this file: one self-contained page."),
    ] = None,
    png: Annotated[
        Optional[Path],  # noqa: UP045
        option(help="Also write the report's charts to this folder."),
    ] = None,
    pdf: Annotated[
        Optional[Path],  # noqa: UP045
        option(help="Also write the report's charts to this file, one per page."),
    ] = None,
) -> None:
    """Examine the forces of a planned motion, the terms they consist of, and the conditioning.

    Nothing is simulated: forces come from inverse dynamics along the path. For a platform they are
    split into the forces with massless legs and the legs' own dynamic part; for an arm into
    inertia, Coriolis terms, gravity and friction.
    """
    with one_line_errors():
        if bag is not None:
            if csv is not None:
                raise InvalidInput("--csv writes a planned motion and cannot be used with --bag")
            from robodyn.cli.recorded_run import analyze_bag

            holds = analyze_bag(model, path, bag, json, html, png, pdf)
            if strict and not holds:
                raise typer.Exit(1)
            return
        if not model:
            raise InvalidInput(f"no MODEL given; bundled are {', '.join(models())}")
        mechanism, name, trajectory = mechanism_and_path(model, path)
        with progress_bar(f"path {name}", 1.0) as tell:
            study = examine(
                mechanism,
                trajectory,
                dt,
                formulation=formulation,
                characteristic_length=characteristic_length,
                progress=tell,
            )
        found = {"path": name} | study.to_dict(histories=False)
        found["margins"] = study.margins(max_condition).to_dict()
        if csv is not None:
            study.write_csv(csv)
        if html is not None or png is not None or pdf is not None:
            # imported here: an analysis without a report does not need it
            from robodyn.cli.report import command_line, write_report
            from robodyn.report.study_page import study_page

            write_report(
                study_page(study, name, command_line(), formulations or None), html, png, pdf
            )
    typer.echo(as_json(found) if json else "\n".join(_lines(found, mechanism)))
    if strict and not found["margins"]["hold"]:
        raise typer.Exit(1)


def _lines(found: dict[str, Any], mechanism: Mechanism) -> list[str]:
    force, length = mechanism.nouns.effort_unit, mechanism.nouns.joint_unit
    rows = found["joints"]
    fractions = "peak_dynamic_fraction" in rows[0]
    terms = [key for key in rows[0] if key.startswith("peak_") and key not in _NOT_TERMS]
    titles = [f"peak [{force}]", "at [s]", *(key.removeprefix("peak_") for key in terms)]
    titles += ["dynamic/total"] if fractions else []
    titles += [f"from [{length}]", "to", "top speed"]
    width = max(len(row["joint"]) for row in rows)
    lines = [
        f"{found['model']}, path {found['path']}, {found['formulation']}: "
        f"{found['duration']:g} s, {found['samples']} instants",
        "  ".join(["joint".ljust(width), *(title.rjust(_wide(title)) for title in titles)]),
    ]
    for row in rows:
        numbers = [row["peak_force"], row["time_of_peak"], *(row[key] for key in terms)]
        numbers += [row["peak_dynamic_fraction"]] if fractions else []
        numbers += [row["lowest_position"], row["highest_position"], row["peak_velocity"]]
        cells = (f"{x:.4g}".rjust(_wide(title)) for x, title in zip(numbers, titles, strict=True))
        lines.append("  ".join([row["joint"].ljust(width), *cells]))
    number, scaled = found["condition_number"], found["scaled_condition_number"]
    lines.append(
        f"condition number {number['min']:.4g} to {number['max']:.4g}"
        f" (at t = {number['time_of_max']:.3f} s)"
    )
    if scaled["characteristic_length"] != 1.0:
        lines[-1] += (
            f", {scaled['min']:.4g} to {scaled['max']:.4g} with lengths over "
            f"{scaled['characteristic_length']:g} m"
        )
    for row in rows:
        if row["zero_crossings"]:
            times = ", ".join(f"{t:.3f}" for t in row["zero_crossings"])
            lines.append(f"{row['joint']} changes sign at t = {times} s")
    lines += margin_lines(found["margins"])
    return lines + [f"singular at t = {t:.9f} s" for t in found["singular_times"]]


def _wide(title: str) -> int:
    return max(len(title), 9)


_NOT_TERMS = {"peak_force", "peak_velocity", "peak_dynamic_fraction"}
