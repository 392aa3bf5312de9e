# SPDX-License-Identifier: Apache-2.0

"""`robodyn models` and `robodyn schema`: the bundled mechanisms, and the schemas of model files."""

from __future__ import annotations

import typer
from rich.table import Column, Table

import robodyn as rd
from robodyn.cli.commands import CommandResult
from robodyn.cli.session import load_model


def models() -> CommandResult:
    """List the bundled mechanisms."""
    loaded = {name: load_model(name) for name in rd.models()}
    rows = [
        {"name": name, "kind": mechanism.kind, "joints": list(mechanism.joint_names)}
        for name, mechanism in loaded.items()
    ]
    table = Table(Column("name", no_wrap=True), "kind", "driven joints")
    for name, mechanism in loaded.items():
        joints = mechanism.joint_names
        table.add_row(name, mechanism.kind, f"{len(joints)}: {joints[0]} ... {joints[-1]}")
    return CommandResult(rows, table)


def schema(name: str = "", /, *, path: bool = False, line: bool = False) -> None:
    """Print the JSON schema of a model file or a waypoint file.

    Args:
        name: Schema to print; without it, all are listed.
        path: Print the path of the file.
        line: Print the comment line that points editors from a YAML file to the schema.
    """
    from robodyn.formats.schemas import editor_line, schema_file, schemas

    if not name:
        typer.echo("\n".join(f"{each}: {schema_file(each)}" for each in schemas()))
        return
    file = schema_file(name)
    if line:
        typer.echo(editor_line(name), nl=False)
    else:
        typer.echo(str(file) if path else file.read_text(encoding="utf-8").rstrip())
