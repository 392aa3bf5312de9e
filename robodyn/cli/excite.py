# SPDX-License-Identifier: Apache-2.0

"""`robodyn excite MODEL`: a motion from which parameters are identified well."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from robodyn.analysis.as_json import as_json
from robodyn.cli.commands import argument, option
from robodyn.cli.session import one_line_errors, progress_bar
from robodyn.errors import InvalidInput
from robodyn.identification.excitation import exciting_trajectory
from robodyn.mechanisms.load import load


def excite(
    model: Annotated[str, argument(help="Bundled name, or path to a .urdf, .xacro or .yaml file.")],
    output: Annotated[
        Path, option(help="File to write, which --path and the planner take.")
    ] = Path("exciting.yaml"),
    duration: Annotated[float, option(help="Of the motion [s].")] = 10.0,
    seed: Annotated[int, option(help="Of the random numbers.")] = 0,
    harmonics: Annotated[int, option(help="Of the Fourier series.")] = 5,
    trials: Annotated[int, option(help="Series that are tried.")] = 60,
    condition_limit: Annotated[
        Optional[float],  # noqa: UP045
        option(help="Largest condition number on the way, of a parallel mechanism."),
    ] = None,
    json: Annotated[bool, option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Find a motion that shows a mechanism's parameters: record it, then `robodyn identify`.

    It starts and ends at rest at home and keeps to the limits of position, rate, effort and
    conditioning. Fly it by `robodyn simulate MODEL --path FILE`, or path:=FILE in a launch.
    """
    with one_line_errors():
        mechanism = load(model)
        if output.suffix.lower() not in (".yaml", ".yml"):
            # said before the search, not after it
            raise InvalidInput(f"{output}: paths are written as .yaml files", value=str(output))
        with progress_bar("searching", 1.0) as tell:
            found = exciting_trajectory(
                mechanism,
                duration,
                seed,
                harmonics=harmonics,
                condition_limit=condition_limit,
                trials=trials,
                progress=tell,
            )
        found.save(output)
    facts = {
        "model": mechanism.name,
        "file": str(output),
        "duration": found.duration,
        "joints": list(found.joint_names),
    }
    typer.echo(as_json(facts) if json else f"{output}: {found.duration:g} s of {mechanism.name}")
