# SPDX-License-Identifier: Apache-2.0

"""`robodyn check MODEL`: how a model file was understood, and what the mechanism can do at home."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from robodyn.analysis.as_json import as_json
from robodyn.analysis.at_home import at_home, motors_on_paths
from robodyn.analysis.sine_motions import sine_motions
from robodyn.cli.check_text import show
from robodyn.mechanisms.inspection import Remarks, compared, describe, read
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.report.parameters import parameter_tables


def check(
    model: str,
    /,
    *,
    against: str | None = None,
    strict: bool = False,
    json: bool = False,
    png: Path | None = None,
    view: bool = False,
) -> None:
    """Say how a model file was understood: every number with its unit and its frame.

    Also what is unphysical in it and how well it stands at home: how much of each joint's travel
    is used, what payload the actuators can hold, of a platform how far it can go from there, and
    which sine motions its drives can follow, with the torque that motors have at their speed;
    what each actuator adds there, and what its motor has to give along the paths of the papers or
    the demonstration; and what of the file is left out.

    Args:
        against: A second model; exit code 1 if the two differ.
        strict: Refuse inertias that no rigid body can have.
        png: Also draw the mechanism at home to this file.
        view: Then show it in the browser, as `robodyn view` does.
    """
    mechanism, remarks = read(model, strict)
    found = findings(mechanism, remarks, model)
    if against is not None:
        found["against"] = compared(mechanism, against, strict)
    if png is not None:
        from robodyn.report.images import write_image
        from robodyn.report.path_views import home_chart

        write_image(home_chart(mechanism), png)
    if json:
        typer.echo(as_json(found))
    else:
        show(found, Console())
        if png is not None:
            typer.echo(f"drawn at home: {png}")
    if view:
        from robodyn.cli.view import view as open_view

        open_view(model)
    if found.get("against", {}).get("differences"):
        raise typer.Exit(1)


def findings(mechanism: Mechanism, remarks: Remarks, model: str) -> dict[str, Any]:
    """All that `check` says of a mechanism read from `model`, as for JSON."""
    found = describe(mechanism, remarks, model)
    found["parameters"] = [
        {"title": title, "columns": head, "rows": rows}
        for title, head, rows in parameter_tables(mechanism)
    ]
    found["at_home"] = {} if found["home"] is None else at_home(mechanism)
    found["motions"] = [] if found["home"] is None else sine_motions(mechanism)
    found["on_paths"] = [] if found["home"] is None else motors_on_paths(mechanism)
    return found
