# SPDX-License-Identifier: Apache-2.0

"""`robodyn export MODEL FOLDER`: the mechanism without Python."""

from __future__ import annotations

from typing import Any

import robodyn as rd
from robodyn.cli.commands import Answer, passed
from robodyn.cli.session import load_quietly, progress_bar


def export_command(
    model: str,
    folder: str,
    /,
    *,
    how: dict[str, Any] = passed(
        "ExportSettings", "name", "target", "cpu", "ros2_control", "fmu", "fmi", "wasm", "force"
    ),
) -> Answer:
    """Write a C library of a mechanism's dynamics: header, static and shared library, examples.

    Args:
        folder: Where to; made if it does not exist.
    """
    mechanism = load_quietly(model)
    with progress_bar("exporting") as progress:
        done = rd.export(mechanism, folder, progress=progress, **how)
    listed = {"name": done.name, "folder": str(done.folder), "files": list(done.files)}
    return Answer(listed, "\n".join(str(done.folder / file) for file in done.files))
