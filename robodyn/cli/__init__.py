# SPDX-License-Identifier: Apache-2.0

"""The command `robodyn`; each subcommand is a function."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import typer

from robodyn.cli.commands import add_command, application, summary

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


def application_of(names: Iterable[str], listed: bool = False) -> typer.Typer:
    """Return an application with these commands; those only `listed` have no parameters."""
    made = application("robodyn", "Dynamics of parallel and serial robots.")
    for name in names:
        place, short = COMMANDS[name]
        module, function = place.split(".")
        command = getattr(import_module(f"robodyn.cli.{module}"), function)
        if listed:
            made.command(name, help=summary(command))(lambda: None)
        else:
            add_command(made, name, command, **short)
    return made


def __getattr__(name: str) -> Any:
    if name == "app":
        return globals().setdefault(name, application_of(COMMANDS))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main() -> None:
    """Run the command."""
    # a command that is named loads what it needs, and nothing of the others
    completes = "_ROBODYN_COMPLETE" in os.environ
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    words = line.split()[1:] if completes else sys.argv[1:]
    named = [word for word in words[:1] if word in COMMANDS]
    listed = not named and (completes or all(word.startswith("-") for word in words))
    if not (listed or "--help" in sys.argv or sys.stderr.isatty()):
        from robodyn.numerics.compilation_notes import notes

        # on a terminal the notes write to a line of their own
        notes.report_to(lambda line: typer.echo(line, err=True))
    application_of(named or COMMANDS, listed)()
