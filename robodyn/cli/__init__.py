# SPDX-License-Identifier: Apache-2.0

"""The command `robodyn`; each subcommand is a function."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

import typer

from robodyn.cli.commands import CommandResult, Declaration, Parameter, add_command, application

# Module of each command, with short spellings of its options.
COMMANDS: dict[str, tuple[str, dict[str, str]]] = {
    "models": ("models.models", {}),
    "new": ("new.new", {}),
    "schema": ("models.schema", {}),
    "check": ("check.check", {}),
    "evaluate": ("evaluate.evaluate", {}),
    "design": ("evaluate.design", {"output": "-o"}),
    "convert": ("files.convert", {}),
    "analyze": ("analyze.analyze", {}),
    "calibrate": ("calibrate.calibrate", {}),
    "map": ("map.map_command", {"output": "-o", "quantity": "-q"}),
    "plan": ("plan.plan", {}),
    "report": ("report.report", {}),
    "export": ("files.export", {}),
    "cue": ("cue.cue", {"output": "-o"}),
    "moveit": ("files.moveit", {}),
    "excite": ("files.excite", {}),
    "identify": ("identify.identify_command", {}),
    "identify-payload": ("identify_payload.identify_payload_command", {}),
    "simulate": ("simulate.simulate", {}),
    "view": ("view.view", {}),
    "workspace": ("workspace.workspace", {"output": "-o"}),
    "replay": ("view.replay", {}),
    "compile": ("compile.compile_kernels", {}),
    "doctor": ("doctor.doctor", {}),
}


OPTIONS = Path(__file__).with_name("options.json")


def command_function(name: str) -> Callable[..., CommandResult | None]:
    """Import and return the function that implements a command, given its name."""
    module, function = COMMANDS[name][0].split(".")
    found: Callable[..., CommandResult | None] = getattr(
        import_module(f"robodyn.cli.{module}"), function
    )
    return found


def _application() -> typer.Typer:
    made = application("robodyn", "Dynamics of parallel and serial robots.")
    for name, (text, *parameters) in json.loads(OPTIONS.read_text(encoding="utf-8")).items():
        declared = Declaration(text, [Parameter(**each) for each in parameters])
        add_command(made, name, declared, partial(command_function, name))
    return made


app = _application()


def _one_line(message: Warning | str, *_: object, **__: object) -> str:
    return f"warning: {' '.join(str(message).split())}\n"


def main() -> None:
    """Run the command `robodyn` with the command-line arguments of this process."""
    warnings.formatwarning = _one_line
    runs = not {"--help", "--version"} & set(sys.argv) and "_ROBODYN_COMPLETE" not in os.environ
    if runs and sys.argv[1:] and not sys.stderr.isatty():
        from robodyn.numerics.compilation_notes import notes

        # on a terminal the notes write to a line of their own
        notes.report_to(lambda line: typer.echo(line, err=True))
    app()
