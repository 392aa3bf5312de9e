# SPDX-License-Identifier: Apache-2.0

"""`robodyn workspace MODEL`: compute the workspace of a mechanism, its volume and boundary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import robodyn as rd
from robodyn.cli import session
from robodyn.cli.commands import CommandResult, options_of


def workspace(
    model: str,
    /,
    *,
    where: dict[str, Any] = options_of("workspace", "scheduler", region="kind"),
    settings: dict[str, Any] = options_of(
        "WorkspaceSettings",
        "characteristic_length effort_limits stiffness natural_frequency base_cone body_cone "
        "error resolution seed",
        vectors="xyz rpy wrench",
        tilt="orientations",
    ),
    condition_limit: float = 0.0,
    output: Path | None = None,
    page: Path | None = None,
) -> CommandResult:
    """Compute the region in which a mechanism satisfies its limits and further conditions.

    Args:
        tilt: Angle about every axis for a reachable or dexterous workspace [rad].
        effort_limits: Only poses in which efforts within their limits hold the mechanism at rest.
        condition_limit: Largest condition number; 0 for no limit.
        output: File for the boundary, in .stl or .ply.
        page: File for a page that shows the workspace, in .html.
    """
    session.check_extension("--output", output, ".stl", ".ply")
    session.check_extension("--page", page, *session.HTML)
    mechanism = session.load_model(model)
    with session.progress_bar(f"workspace of {mechanism.name}") as show:
        region = rd.workspace(
            mechanism,
            condition_limit=condition_limit or np.inf,
            **where,
            **settings,
            progress=show,
        )
    found: dict[str, Any] = {
        "model": mechanism.name,
        "kind": region.kind,
        "volume": region.volume,
        "volume_error": region.volume_error,
        "unit": region.unit,
        "box": np.asarray(region.box).tolist(),
    }
    lines = [region.text]
    if output is not None:
        region.save(output)
        found["output"] = str(output)
        lines.append(f"boundary of {len(region.boundary.triangles)} triangles written to {output}")
    if page is not None:
        from robodyn.report.workspace_page import workspace_page

        session.write_report(workspace_page(region), page)
        found["page"] = str(page)
        lines.append(f"report written to {page}")
    return CommandResult(found, "\n".join(lines))
