# SPDX-License-Identifier: Apache-2.0

"""Spelling of `load` options in each interface's messages."""

from __future__ import annotations

from collections.abc import Callable

# Spelling of an option from its name and value; the value of a switch is True.
Spelling = Callable[[str, "str | bool"], str]


def in_python(name: str, value: str | bool) -> str:
    """Spell an option and its value as a Python argument: `tip_link='tool0'`."""
    return f"{name}={value!r}"


def on_command_line(name: str, value: str | bool) -> str:
    """Spell an option and its value as on the command line: `--tip-link tool0`."""
    flag = "--" + name.replace("_", "-")
    return flag if value is True else f"{flag} {value}"


def as_parameter(name: str, value: str | bool) -> str:
    """Spell an option as a parameter of a node: `the parameter tip_link: tool0`."""
    return f"the parameter {name}: {_plain(value)}"


def as_launch_argument(name: str, value: str | bool) -> str:
    """Spell an option as a launch-file argument: `tip_link:=tool0`."""
    return f"{name}:={_plain(value)}"


def _plain(value: str | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else value
