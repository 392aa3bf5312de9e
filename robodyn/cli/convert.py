# SPDX-License-Identifier: Apache-2.0

"""`robodyn convert MODEL FILE`: a model in another format."""

from __future__ import annotations

from pathlib import Path

import typer

import robodyn as rd
from robodyn.cli.session import load_quietly, writable


def convert(model: str, file: str, /, *, force: bool = False) -> None:
    """Write a model in another format, by the ending of the file.

    Reading it again gives an equal mechanism; what a format has no word for other programs pass
    over.

    Args:
        file: To write: .urdf, .sdf, .xml (MJCF) or .yaml.
        force: Write over a file that exists.
    """
    target = writable(Path(file), force)
    typer.echo("\n".join(str(path) for path in rd.save(load_quietly(model), target)))
