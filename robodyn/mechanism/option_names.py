# SPDX-License-Identifier: Apache-2.0

"""Names of the options of `load` in messages, which each interface spells differently."""

from __future__ import annotations

from collections.abc import Callable

# An option as one would give it: of its name and value, True for one that is only switched on.
Spelling = Callable[[str, "str | bool"], str]


def in_python(name: str, value: str | bool) -> str:
    """An argument of a call: `tip_link='tool0'`."""
    return f"{name}={value!r}"


def on_command_line(name: str, value: str | bool) -> str:
    """An option of a command: `--tip-link tool0`."""
    flag = "--" + name.replace("_", "-")
    return flag if value is True else f"{flag} {value}"


def as_parameter(name: str, value: str | bool) -> str:
    """A parameter of a node: `the parameter tip_link: tool0`."""
    return f"the parameter {name}: {_plain(value)}"


def as_launch_argument(name: str, value: str | bool) -> str:
    """An argument of a launch file: `tip_link:=tool0`."""
    return f"{name}:={_plain(value)}"


def _plain(value: str | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else value
