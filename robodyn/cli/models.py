# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

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
