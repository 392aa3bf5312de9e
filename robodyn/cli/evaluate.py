# SPDX-License-Identifier: Apache-2.0

"""`robodyn evaluate MODEL REQUIREMENTS`: which requirements a machine meets, and what it needs."""

from __future__ import annotations

from pathlib import Path

import robodyn as rd
from robodyn.cli.commands import Answer
from robodyn.cli.session import HTML, command_line, load_quietly, refuse_ending, write_report


def evaluate(model: str, requirements: str, /, *, html: Path | None = None) -> Answer:
    """Hold a machine against requirements: what its drives need, and which requirements it meets.

    Exit code 1 if one of them is not met.

    Args:
        requirements: YAML file; `robodyn new requirements` writes a commented one.
    """
    from robodyn.report.design_tables import demand_tables, verdict_lines

    refuse_ending("--html", html, *HTML)
    found = rd.evaluate(load_quietly(model), rd.load_requirements(requirements))
    lines = [f"{found.mechanism.name}: {requirements}", *verdict_lines(found)]
    for table in demand_tables(found):
        lines += ["", table.title, *table.lines()]
    if html is not None:
        from robodyn.report.evaluation_page import evaluation_page

        write_report(evaluation_page(found, command_line()), html)
    return Answer(found.to_dict(), "\n".join(lines), not found.satisfied)
