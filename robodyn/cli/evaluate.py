# SPDX-License-Identifier: Apache-2.0

"""`robodyn evaluate` and `robodyn design`: evaluate a machine, or search for one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import robodyn as rd
from robodyn.cli import session
from robodyn.cli.commands import CommandResult, options_of
from robodyn.report.design_tables import demand_tables, front_table, verdict_lines


def evaluate(model: str, requirements: str, /, *, html: Path | None = None) -> CommandResult:
    """Compute what requirements demand of a machine's drives, and which of them it meets.

    The exit code is 1 if a requirement is not met.

    Args:
        requirements: YAML file; `robodyn new requirements` writes a commented one.
    """
    session.check_extension("--html", html, *session.HTML)
    found = rd.evaluate(session.load_model(model), rd.load_requirements(requirements))
    lines = [f"{found.mechanism.name}: {requirements}", *verdict_lines(found)]
    for table in demand_tables(found):
        lines += ["", table.title, *table.lines()]
    if html is not None:
        from robodyn.report.evaluation_page import evaluation_page

        session.write_report(evaluation_page(found), html)
    return CommandResult(found.to_dict(), "\n".join(lines), not found.satisfied)


def design(
    family: str,
    requirements: str,
    /,
    *,
    catalog: str | None = None,
    objective: list[str] | None = None,
    settings: dict[str, Any] = options_of("design", "seed evaluations"),
    resume: Path | None = None,
    scheduler: str | None = None,
    output: Path | None = None,
    force: bool = False,
    html: Path | None = None,
) -> CommandResult:
    """Find the machine of a family that meets requirements and is best by an objective.

    The exit code is 1 if no machine meets them; the output then lists the requirements that
    conflict.

    Args:
        family: hexapod, servo-hexapod, linear-delta, 3-rps or delta.
        requirements: YAML file; `robodyn new requirements` writes a commented one.
        catalog: File of actuators (.csv, .yaml), or `sample` for generic ones.
        objective: What to minimize: peak_effort (by default), continuous_effort, peak_power,
            supply_peak, stroke, speed, height, footprint_radius, condition_number; with a catalog
            price, mass, workspace and stiffness, too. May be given two or three times.
        resume: File (.jsonl) that keeps evaluated machines; an interrupted search continues.
        scheduler: Address of a Dask scheduler whose workers evaluate.
        output: File to write the model to (.yaml); NAME_loaded.yaml next to it also carries the
            payload: use this one for simulation and the other for evaluation.
        force: Overwrite existing files.
    """
    session.check_extension("--html", html, *session.HTML)
    session.check_extension("--output", output, ".yaml", ".yml")
    files = [] if output is None else [output, output.with_stem(f"{output.stem}_loaded")]
    for file in files:
        session.check_writable(file, force)
    required = rd.load_requirements(requirements)
    with session.progress_bar(f"designing a {family}") as show:
        names: Any = objective or "peak_effort"
        more = {"resume": resume, "scheduler": scheduler, "progress": show, **settings}
        found = rd.design(family, required, catalog, names, **more)
    e = found.evaluation
    lines = [f"{family}: {requirements}, {found.examined} machines examined"]
    lines += [f"conflict: {text}" for text in found.conflicts]
    lines += [f"{name:18} {value:.4g}" for name, value in found.parameters.items()]
    if found.actuator is not None:
        lines.append(f"{'actuator':18} {found.actuator.name}")
    lines += ["", *verdict_lines(e)]
    for table in [*demand_tables(e), *([front_table(found)] if found.front else [])]:
        lines += ["", table.title, *table.lines()]
    for file, mechanism in zip(files, (found.mechanism, e.mechanism), strict=False):
        lines += [str(path) for path in rd.save(mechanism, file)]
    if html is not None:
        from robodyn.report.evaluation_page import design_page

        session.write_report(design_page(found), html)
    return CommandResult(found.to_dict(), "\n".join(lines), not e.satisfied)
