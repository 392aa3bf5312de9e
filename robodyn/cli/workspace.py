# SPDX-License-Identifier: Apache-2.0

"""`robodyn workspace MODEL`: where a mechanism can work, its volume and boundary."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any, Optional

import numpy as np
import typer

from robodyn.analysis.as_json import as_json
from robodyn.cli.commands import argument, option
from robodyn.cli.session import one_line_errors, progress_bar
from robodyn.errors import InvalidInput, UnphysicalInertiaWarning
from robodyn.mechanisms.load import load


def workspace(
    model: Annotated[
        str, argument(help="Name of a bundled mechanism, or a .urdf, .xacro or .yaml file.")
    ],
    kind: Annotated[
        str,
        option(
            help="Of a platform: constant (positions at one orientation), reachable or dexterous "
            "(positions at which any or all of several are possible), orientation (roll, pitch "
            "and yaw at one position). Of arms and closed loops: reachable, by the tip, or "
            "orientation, the tip's wherever it is."
        ),
    ] = "",
    xyz: Annotated[
        str, option(help="Position of an orientation workspace, 'x y z' [m]; home's by default.")
    ] = "",
    rpy: Annotated[
        str,
        option(help="Orientation of a constant one, 'roll pitch yaw' [rad]; home's by default."),
    ] = "",
    tilt: Annotated[
        Optional[float],  # noqa: UP045
        option(help="Angle to which a reachable or dexterous one turns about every axis [rad]."),
    ] = None,
    condition_limit: Annotated[float, option(help="Largest condition number; 0 for any.")] = 0.0,
    characteristic_length: Annotated[
        float, option(help="Characteristic length of the condition number [m].")
    ] = 1.0,
    effort_limits: Annotated[
        bool, option("--effort-limits", help="Only where the efforts' limits hold it at rest.")
    ] = False,
    wrench: Annotated[
        str, option(help="Load on the body meanwhile, 'fx fy fz mx my mz' [N, N m].")
    ] = "",
    base_cone: Annotated[
        Optional[float],  # noqa: UP045
        option(help="How far the joints of legs at the base may bend from home [rad]."),
    ] = None,
    body_cone: Annotated[
        Optional[float],  # noqa: UP045
        option(help="How far the joints of legs at the platform may bend from home [rad]."),
    ] = None,
    error: Annotated[float, option(help="Share of the volume to which it is wanted.")] = 0.01,
    resolution: Annotated[int, option(help="Cells of the boundary along each axis.")] = 40,
    seed: Annotated[int, option(help="Random seed of the samples.")] = 0,
    output: Annotated[
        Optional[Path],  # noqa: UP045
        option("--output", "-o", help="File for the boundary, in .stl or .ply."),
    ] = None,
    page: Annotated[
        Optional[Path],  # noqa: UP045
        option("--page", help="File for a page that shows it, in .html."),
    ] = None,
    scheduler: Annotated[
        Optional[str],  # noqa: UP045
        option(help="Address of a running Dask scheduler whose workers compute."),
    ] = None,
    json: Annotated[bool, option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Find the region in which a mechanism keeps to its limits, and what else is asked of it."""
    from robodyn.planning.workspace import workspace as find

    with one_line_errors():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnphysicalInertiaWarning)  # see `robodyn check`
            mechanism = load(model)
        with progress_bar(f"workspace of {mechanism.name}", 1.0) as show:
            region = find(
                mechanism,
                kind,
                xyz=_numbers("xyz", xyz),
                rpy=_numbers("rpy", rpy),
                orientations=tilt,
                condition_limit=condition_limit or np.inf,
                characteristic_length=characteristic_length,
                effort_limits=effort_limits,
                wrench=_numbers("wrench", wrench),
                base_cone=base_cone,
                body_cone=body_cone,
                error=error,
                resolution=resolution,
                seed=seed,
                scheduler=scheduler,
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
            lines.append(f"boundary of {len(region.boundary.triangles)} triangles in {output}")
        if page is not None:
            from robodyn.report.workspace_page import save_workspace_page

            save_workspace_page(region, page)
            found["page"] = str(page)
            lines.append(f"shown in {page}")
    typer.echo(as_json(found) if json else "\n".join(lines))


def _numbers(name: str, text: str) -> list[float] | None:
    try:
        return [float(part) for part in text.replace(",", " ").split()] if text else None
    except ValueError as error:
        raise InvalidInput(
            f"{name} is {text[:100]!r}, expected numbers in quotes", value=text
        ) from error
