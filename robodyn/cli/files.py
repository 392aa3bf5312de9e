# SPDX-License-Identifier: Apache-2.0

"""`robodyn convert`, `excite`, `export` and `moveit`: files of a mechanism for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

import robodyn as rd
from robodyn.cli.commands import CommandResult, options_of
from robodyn.cli.session import check_writable, load_model, progress_bar


def convert(model: str, file: str, /, *, force: bool = False) -> None:
    """Write a model in another format, selected by the ending of the file.

    Reading the file gives an equal mechanism. Other programs ignore the elements that their format
    does not define.

    Args:
        file: File to write: .urdf, .sdf, .xml (MJCF) or .yaml.
        force: Overwrite an existing file.
    """
    target = check_writable(Path(file), force)
    typer.echo("\n".join(str(path) for path in rd.save(load_model(model), target)))


def excite(
    model: str,
    /,
    *,
    output: Path = Path("exciting.yaml"),
    settings: dict[str, Any] = options_of(
        "exciting_trajectory", "duration seed harmonics trials condition_limit"
    ),
) -> CommandResult:
    """Find a motion that excites all parameters of a mechanism, to record for `robodyn identify`.

    It starts and ends at rest at home and stays within the limits of position, velocity, effort and
    conditioning. Run it with `robodyn simulate MODEL --path FILE`, or path:=FILE in a launch.

    Args:
        output: File to write, for --path and for the planner.
    """
    mechanism = load_model(model)
    if output.suffix.lower() not in (".yaml", ".yml"):
        # report an unwritable file before the search, not after it
        raise rd.InvalidInput(f"{output}: paths are written as .yaml files", value=str(output))
    with progress_bar("searching") as report_progress:
        found = rd.exciting_trajectory(mechanism, **settings, progress=report_progress)
    found.save(output)
    facts = {
        "model": mechanism.name,
        "file": str(output),
        "duration": found.duration,
        "joints": list(found.joint_names),
    }
    return CommandResult(facts, f"{output}: {found.duration:g} s of {mechanism.name}")


def export(
    model: str,
    folder: str,
    /,
    *,
    how: dict[str, Any] = options_of(
        "ExportSettings", "name target cpu ros2_control fmu fmi casadi wasm force"
    ),
) -> CommandResult:
    """Write a C library of a mechanism's dynamics: header, static and shared library, examples.

    Args:
        folder: Folder to write; created if it does not exist.
    """
    mechanism = load_model(model)
    with progress_bar("exporting") as progress:
        done = rd.export(mechanism, folder, progress=progress, **how)
    listed = {"name": done.name, "folder": str(done.folder), "files": list(done.files)}
    return CommandResult(listed, "\n".join(str(done.folder / file) for file in done.files))


def moveit(
    model: str,
    folder: str,
    /,
    *,
    how: dict[str, Any] = options_of("planning.moveit.moveit", "condition_limit force"),
) -> CommandResult:
    """Write a MoveIt configuration package for a mechanism's tip: URDF, SRDF, limits, launch file.

    Its joints describe the pose of the tip, three or six; the node inverse_dynamics accepts their
    trajectories.

    Args:
        folder: Folder to write; created if it does not exist.
    """
    from robodyn.planning.moveit import moveit as write

    files = [str(file) for file in write(load_model(model), folder, **how)]
    return CommandResult({"files": files}, "\n".join(files))
