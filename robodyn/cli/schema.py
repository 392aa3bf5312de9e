# SPDX-License-Identifier: Apache-2.0

"""`robodyn schema [NAME]`: the JSON schemas of model and waypoint files."""

from __future__ import annotations

from typing import Annotated

import typer

from robodyn.cli.commands import argument, option
from robodyn.cli.session import one_line_errors
from robodyn.formats.schemas import editor_line, schema_file, schemas


def schema(
    name: Annotated[str, argument(help="Which schema; without it, all are listed.")] = "",
    path: Annotated[bool, option("--path", help="Print where the file is.")] = False,
    line: Annotated[
        bool,
        option("--line", help="Print the comment with which a YAML file names it to an editor."),
    ] = False,
) -> None:
    """Print the JSON schema of a model file or a waypoint file."""
    with one_line_errors():
        if not name:
            typer.echo("\n".join(f"{each}: {schema_file(each)}" for each in schemas()))
            return
        file = schema_file(name)
        if line:
            typer.echo(editor_line(name), nl=False)
        else:
            typer.echo(str(file) if path else file.read_text(encoding="utf-8").rstrip())
