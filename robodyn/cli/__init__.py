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
