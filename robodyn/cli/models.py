# SPDX-License-Identifier: Apache-2.0

"""`robodyn models`: the bundled mechanisms."""

from __future__ import annotations

import json as json_text
import warnings
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Column, Table

from robodyn.cli.commands import option
from robodyn.errors import UnphysicalInertiaWarning
from robodyn.mechanisms.load import load
from robodyn.mechanisms.load import models as bundled


def models(
    json: Annotated[bool, option("--json", help="Machine-readable output.")] = False,
) -> None:
    """List the bundled mechanisms."""
    rows = [_row(name) for name in bundled()]
    if json:
        typer.echo(json_text.dumps(rows, indent=2))
        return
    table = Table(Column("name", no_wrap=True), "kind", "driven joints")
    for row in rows:
        joints = row["joints"]
        table.add_row(row["name"], row["kind"], f"{len(joints)}: {joints[0]} ... {joints[-1]}")
    Console().print(table)


def _row(name: str) -> dict[str, Any]:
    with warnings.catch_warnings():
        # see `robodyn check`
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)
        mechanism = load(name)
    return {"name": name, "kind": mechanism.kind, "joints": list(mechanism.joint_names)}
