# SPDX-License-Identifier: Apache-2.0

"""`robodyn check MODEL`: print how robodyn interprets a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Group

import robodyn as rd
from robodyn.analysis.at_home import at_home
from robodyn.analysis.sine_motions import sine_motions
from robodyn.analysis.unit_checks import unit_warnings
from robodyn.cli.check_text import check_text
from robodyn.cli.commands import CommandResult
from robodyn.cli.session import HTML, check_extension, write_report
from robodyn.cli.view import view as open_view
from robodyn.loading.inspection import LoadWarnings, comparison_report, describe, read
from robodyn.model.model import Model
from robodyn.report.tables import parameter_tables


def check(
    model: str,
    /,
    *,
    against: str | None = None,
    strict: bool = False,
    html: Path | None = None,
    png: Path | None = None,
    view: bool = False,
) -> CommandResult:
    """Print how robodyn interprets a model file: every number with its unit and frame.

    The command also reports unphysical values, numbers that may be in another unit, and parts of
    the file that are left out. For the home configuration it prints the share of each joint's
    travel in use, the payload that the actuators can hold, the reach of a platform, the sine
    motions that the drives can follow, and the effect of each actuator.

    Args:
        against: A second model; exit code 1 if the two differ.
        strict: Reject inertias that no rigid body can have.
        html: File for a page with the capabilities of the machine (.html).
        png: Also draw the mechanism at home to this file.
        view: Then show it in the browser, like `robodyn view`.
    """
    check_extension("--html", html, *HTML)
    mechanism, load_warnings = read(model, strict)
    found = findings(mechanism, load_warnings, model)
    if against is not None:
        found["against"] = comparison_report(mechanism, against, strict)
    text = check_text(found)
    if html is not None:
        from robodyn.report.evaluation_page import machine_page

        write_report(machine_page(mechanism), html)
    if png is not None:
        from robodyn.report.images import write_image
        from robodyn.report.path_views import home_chart

        write_image(home_chart(mechanism), png)
        text = Group(text, f"picture of the home configuration: {png}")
    differs = bool(found.get("against", {}).get("differences"))
    return CommandResult(found, text, differs, (lambda: open_view(model)) if view else None)


def findings(mechanism: rd.Mechanism, load_warnings: LoadWarnings, model: str) -> dict[str, Any]:
    """Collect the results of `robodyn check` for a mechanism as a dictionary for JSON."""
    found = describe(mechanism, load_warnings, model)
    found["parameters"] = [
        {"title": table.title, "columns": table.head, "rows": table.rows}
        for table in parameter_tables(mechanism)
    ]
    found["doubts"] = unit_warnings(mechanism.model) if isinstance(mechanism.model, Model) else []
    has_home = found["home"] is not None
    found["at_home"] = at_home(mechanism) if has_home else {}
    found["motions"] = sine_motions(mechanism) if has_home else []
    return found
