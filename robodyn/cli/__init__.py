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

"""The command `robodyn`; each subcommand is a module."""

from __future__ import annotations

import typer

from robodyn.cli.analyze import analyze
from robodyn.cli.check import check
from robodyn.cli.compile import compile_kernels
from robodyn.cli.map import map_command
from robodyn.cli.models import models
from robodyn.cli.replay import replay
from robodyn.cli.report import report
from robodyn.cli.simulate import simulate
from robodyn.cli.view import view

app = typer.Typer(
    name="robodyn",
    help="Dynamics of parallel and serial robots.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("models")(models)
app.command("check")(check)
app.command("analyze")(analyze)
app.command("map")(map_command)
app.command("report")(report)
app.command("simulate")(simulate)
app.command("view")(view)
app.command("replay")(replay)
app.command("compile")(compile_kernels)


def main() -> None:
    """Entry point of the command."""
    app()
