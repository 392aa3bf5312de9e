# SPDX-License-Identifier: Apache-2.0

"""`robodyn check MODEL`: how a model file was understood, and what the mechanism can do at home."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group

import robodyn as rd
from robodyn.cli.check_text import check_text
from robodyn.cli.commands import Answer
from robodyn.cli.view import view as open_view

if TYPE_CHECKING:
    from robodyn.mechanisms.inspection import Remarks


def check(
    model: str,
    /,
    *,
    against: str | None = None,
    strict: bool = False,
    png: Path | None = None,
    view: bool = False,
) -> Answer:
    """Say how a model file was understood: every number with its unit and its frame.

    Also what is unphysical in it, which numbers may be in another unit, and how well it stands at
    home: how much of each joint's travel is used, what payload the actuators can hold, of a
    platform how far it can go from there, and which sine motions its drives can follow, with the
    torque that motors have at their speed; what each actuator adds there, and what its motor has
    to give along the paths of the papers or the demonstration; and what of the file is left out.

    Args:
        against: A second model; exit code 1 if the two differ.
        strict: Refuse inertias that no rigid body can have.
        png: Also draw the mechanism at home to this file.
        view: Then show it in the browser, as `robodyn view` does.
    """
    from robodyn.mechanisms.inspection import compared, read

    mechanism, remarks = read(model, strict)
    found = findings(mechanism, remarks, model)
    if against is not None:
        found["against"] = compared(mechanism, against, strict)
    text = check_text(found)
    if png is not None:
        from robodyn.report.images import write_image
        from robodyn.report.path_views import home_chart

        write_image(home_chart(mechanism), png)
        text = Group(text, f"drawn at home: {png}")
    differs = bool(found.get("against", {}).get("differences"))
    return Answer(found, text, differs, (lambda: open_view(model)) if view else None)


def findings(mechanism: rd.Mechanism, remarks: Remarks, model: str) -> dict[str, Any]:
    """All that `check` says of a mechanism read from `model`, as for JSON."""
    from robodyn.analysis.at_home import at_home, motors_on_paths
    from robodyn.analysis.doubts import doubts
    from robodyn.analysis.sine_motions import sine_motions
    from robodyn.mechanisms.inspection import describe
    from robodyn.model.model import Model
    from robodyn.report.tables import parameter_tables

    found = describe(mechanism, remarks, model)
    found["parameters"] = [
        {"title": table.title, "columns": table.head, "rows": table.rows}
        for table in parameter_tables(mechanism)
    ]
    found["doubts"] = doubts(mechanism.model) if isinstance(mechanism.model, Model) else []
    has_home = found["home"] is not None
    found["at_home"] = at_home(mechanism) if has_home else {}
    found["motions"] = sine_motions(mechanism) if has_home else []
    found["on_paths"] = motors_on_paths(mechanism) if has_home else []
    return found
