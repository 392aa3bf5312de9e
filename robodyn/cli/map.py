# SPDX-License-Identifier: Apache-2.0

"""`robodyn map`: analyses over poses, loads and parameters, written to a file."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import typer

import robodyn as rd
from robodyn.cli.commands import CommandResult, options_of
from robodyn.cli.session import load_model, progress_bar
from robodyn.errors import ClusterError, OutputError
from robodyn.sweeps.plan import SweepPlan, make_plan
from robodyn.sweeps.store import check_path, unfinished_folder
from robodyn.sweeps.sweep import SweepOutcome
from robodyn.sweeps.sweep import run as run_sweep

# Exit code of an interrupted process in a shell.
INTERRUPTED = 130


def map_command(
    model: str,
    axes: list[str],
    /,
    *,
    output: Path,
    quantity: list[str] | None = None,
    settings: dict[str, Any] = options_of(
        "SweepSettings",
        "samples seed method characteristic_length beyond_limits chunk",
        vectors="accelerations wrenches",
    ),
    run: dict[str, Any] = options_of("sweep", "scheduler overwrite"),
) -> CommandResult:
    """Sweep a mechanism over poses, loads and parameters; write a map that xarray opens.

    If the same command is run again, an interrupted sweep resumes at the point of interruption.

    Args:
        axes: x=-0.2:0.2:41 for 41 values, z=0.8 for one, x=-0.2:0.2 with --samples. A platform's
            pose is x y z roll pitch yaw, an arm's joints have their names; docs/sweeps.md lists
            payload and others.
        output: Output file, in .zarr or .nc.
        quantity: Quantity to compute; may be repeated: condition_number (the default),
            smallest_singular_value, weakest_direction, manipulability, joint_positions, pose,
            effort, effort_extremes, natural_frequency, smallest_stiffness.
        accelerations: Half-widths of the accelerations of effort_extremes, separated by commas: six
            for a platform [m/s^2, rad/s^2], one for each joint of an arm.
        wrenches: Half-widths of the wrenches of effort_extremes, six separated by commas [N, N m].
    """
    done = 0.0
    mechanism = load_model(model)
    plan = make_plan(mechanism, _axes(axes), quantity or ("condition_number",), **settings)
    hint = f"saved in {unfinished_folder(check_path(output))}; run the same command to resume"
    try:
        with progress_bar(f"map {output.name}") as show:

            def report_progress(fraction: float) -> None:
                nonlocal done
                done = fraction
                show(fraction)

            outcome = run_sweep(plan, output, **run, progress=report_progress)
        found = _summary(plan, output, outcome)
    except KeyboardInterrupt:
        typer.echo(f"stopped: {done:.1%} of the map is {hint}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except (ClusterError, OutputError) as error:
        if done:
            raise type(error)(
                f"{error} ({done:.1%} of the map is {hint})", value=error.value
            ) from error
        raise
    return CommandResult(found, "\n".join(_lines(found)))


def _axes(given: list[str]) -> dict[str, Any]:
    axes: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise rd.InvalidInput(
                f"axis is {text[:100]!r}, expected a form such as x=-0.2:0.2:41", value=text
            )
        if name in axes:
            raise rd.InvalidInput(f"axis {name} is given twice", value=name)
        axes[name] = value
    return axes


def _summary(plan: SweepPlan, output: Path, outcome: SweepOutcome) -> dict[str, Any]:
    data = outcome.data
    ranges = {}
    with warnings.catch_warnings(), data:
        warnings.simplefilter("ignore", RuntimeWarning)  # nothing is reachable
        for name, values in data.data_vars.items():
            if name != "reachable":
                low, high = (float(end) for end in (values.min(), values.max()))
                ranges[name] = {"min": low, "max": high, "units": values.attrs["units"]}
        reachable = float(data.reachable.mean())
    return {
        "model": plan.mechanism.name,
        "output": str(output),
        "states": plan.points.size,
        "shape": dict(zip(plan.points.dims, plan.points.shape, strict=True)),
        "chunks": {
            "total": plan.points.chunks,
            "computed": outcome.computed,
            "kept": outcome.kept,
        },
        "reachable": reachable,
        "quantities": ranges,
    }


def _lines(found: dict[str, Any]) -> list[str]:
    shape = " x ".join(f"{name} {count}" for name, count in found["shape"].items())
    chunks = found["chunks"]
    kept = f", {chunks['kept']} of them computed earlier" if chunks["kept"] else ""
    width = max(len(name) for name in ("reachable", *found["quantities"]))
    lines = [
        f"{found['model']}: {found['states']} states ({shape}) in {chunks['total']} "
        f"chunk{'s' if chunks['total'] > 1 else ''}{kept}",
        f"{'reachable'.ljust(width)}  {found['reachable']:.1%}",
    ]
    for name, ends in found["quantities"].items():
        if np.isnan(ends["min"]):
            lines.append(f"{name.ljust(width)}  no value at any state")
        else:
            unit = "" if ends["units"] == "1" else f" {ends['units']}"
            lines.append(f"{name.ljust(width)}  {ends['min']:.5g} to {ends['max']:.5g}{unit}")
    return [*lines, f"written to {found['output']}"]
