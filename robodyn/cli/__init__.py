# SPDX-License-Identifier: Apache-2.0

"""The command `robodyn`; each subcommand is a module."""

from __future__ import annotations

import sys

import typer

from robodyn.cli.analyze import analyze
from robodyn.cli.calibrate import calibrate
from robodyn.cli.check import check
from robodyn.cli.commands import add_command, application
from robodyn.cli.compile import compile_kernels
from robodyn.cli.doctor import doctor
from robodyn.cli.excite import excite
from robodyn.cli.identify import identify_command
from robodyn.cli.map import map_command
from robodyn.cli.models import models, schema
from robodyn.cli.new import new_command
from robodyn.cli.plan import plan
from robodyn.cli.report import report
from robodyn.cli.simulate import simulate
from robodyn.cli.view import replay, view
from robodyn.cli.workspace import workspace
from robodyn.numerics.compilation_notes import notes as compilation_notes

app = application("robodyn", "Dynamics of parallel and serial robots.")
add_command(app, "models", models)
add_command(app, "new", new_command())
add_command(app, "schema", schema)
add_command(app, "check", check)
add_command(app, "analyze", analyze)
add_command(app, "calibrate", calibrate)
add_command(app, "map", map_command, output="-o", quantity="-q")
add_command(app, "plan", plan)
add_command(app, "report", report)
add_command(app, "excite", excite)
add_command(app, "identify", identify_command)
add_command(app, "simulate", simulate)
add_command(app, "view", view)
add_command(app, "workspace", workspace, output="-o")
add_command(app, "replay", replay)
add_command(app, "compile", compile_kernels)
add_command(app, "doctor", doctor)


def main() -> None:
    """Entry point of the command."""
    if not sys.stderr.isatty():  # otherwise the notes write to a terminal line of their own
        compilation_notes.tell_to(lambda line: typer.echo(line, err=True))
    app()
