# SPDX-License-Identifier: Apache-2.0

"""Writes the options of all commands to robodyn/cli/options.json, from their signatures.

Usage: `python docs/make_options.py` writes the file, `--check` fails if it is not up to date.
"""

from __future__ import annotations

import json
import sys
from dataclasses import fields

from generated import write_or_check

from robodyn.cli import COMMANDS, OPTIONS, command_function
from robodyn.cli.commands import Parameter, declaration


def entry(parameter: Parameter) -> str:
    """A line for a parameter: what differs from the defaults of a `Parameter`."""
    given = {each.name: getattr(parameter, each.name) for each in fields(Parameter)}
    usual = {each.name: each.default for each in fields(Parameter)}
    return json.dumps(
        {name: value for name, value in given.items() if value != usual[name]}, default=str
    )


def text() -> str:
    """All commands, a line a parameter."""
    commands = []
    for name, (_, short) in COMMANDS.items():
        declared = declaration(command_function(name), **short)
        lines = [json.dumps(declared.help), *map(entry, declared.parameters)]
        commands.append(f"  {json.dumps(name)}: [\n    " + ",\n    ".join(lines) + "\n  ]")
    return "{\n" + ",\n".join(commands) + "\n}\n"


if __name__ == "__main__":
    sys.exit(write_or_check(OPTIONS, text()))
