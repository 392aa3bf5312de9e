# SPDX-License-Identifier: Apache-2.0

"""Tables of parameters, and checks of parameter files.

ROS 2 ignores parameters that a node does not declare, and sections for nodes that do not exist.
"""

from __future__ import annotations

import difflib
import re
import shlex
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from rclpy.node import Node

import robodyn as rd
from robodyn.errors import InvalidInput
from robodyn.formats.xacro_text import arguments_of, use_arguments
from robodyn.loading.load import use_options
from robodyn.mechanism.mechanism import Mechanism

# Parameters declared by rclpy and by the middleware.
COMMON = ("use_sim_time", "start_type_description_service")
COMMON_PREFIXES = ("qos_overrides.",)


# libyaml's loader if available, which is ten times as fast.
_SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@lru_cache
def tables() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the content of `parameters.yaml`: parameters by group and name.

    A group belongs to one node or is shared by several.
    """
    text = Path(__file__).with_name("parameters.yaml").read_text(encoding="utf-8")
    loaded: dict[str, dict[str, dict[str, Any]]] = yaml.load(text, _SafeLoader)
    return loaded


# Options for reading a mechanism: launch arguments, and parameters of every node with a mechanism.
READING = ("xacro_args", "base_link", "tip_link", "hold_branches", "driven", "kind", "base")


def read_mechanism(
    source: str, values: Mapping[str, Any], spelling: Callable[[str, str | bool], str]
) -> tuple[Mechanism, list[str]]:
    """Load a mechanism with the options in the parameters of a node or launch file.

    All other models of this process are then read with the same options.

    Args:
        source: source of the mechanism, see `rd.load`.
        values: parameters by name; those in READING and `gravity` are options.
        spelling: function that formats an option for messages.

    Returns:
        The mechanism, and the messages of warnings issued meanwhile.

    Raises:
        ModelError: the description is invalid.
    """
    use_arguments(arguments_of(shlex.split(values["xacro_args"])))
    options = {name: values[name] for name in READING[1:]}
    use_options(**options, gravity=values.get("gravity"), spelling=spelling)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mechanism: Mechanism = rd.load(source)
    return mechanism, [str(warning.message) for warning in caught]


def read_sections(path: str | Path) -> dict[str, dict[str, Any]]:
    """Read a ROS 2 parameter file; return parameters by node name or pattern.

    Raises:
        InvalidInput: the file does not exist or is not a parameter file; the message names it.
    """
    file = Path(path)
    if not file.is_file():
        raise InvalidInput(f"parameter file {str(path)!r} does not exist", value=str(path))
    try:
        document = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise InvalidInput(f"parameter file {str(path)!r}: {reason}", value=str(path)) from error
    sections: dict[str, dict[str, Any]] = {}
    _collect(document, "", sections)
    if not sections:
        raise InvalidInput(
            f"parameter file {str(path)!r} has no parameters, expected <node>: ros__parameters: "
            "<name>: <value>",
            value=str(path),
        )
    return sections


def _collect(document: Any, name: str, sections: dict[str, dict[str, Any]]) -> None:
    for key, value in document.items() if isinstance(document, dict) else ():
        if key == "ros__parameters":
            sections.setdefault(name, {}).update(_flatten(value or {}, ""))
        else:
            _collect(value, f"{name.rstrip('/')}/{str(key).lstrip('/')}", sections)


def _flatten(parameters: Any, prefix: str) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in parameters.items() if isinstance(parameters, dict) else ():
        if isinstance(value, dict):
            flat |= _flatten(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def unknown_sections(sections: Iterable[str], file: str | Path, nodes: Sequence[str]) -> list[str]:
    """Return a message for each section of a parameter file whose node does not exist.

    Args:
        sections: names of the sections.
        file: parameter file, for messages.
        nodes: names of the existing nodes.
    """
    lines = []
    for section in sections:
        name = section.rsplit("/", 1)[-1]
        if "*" not in name and name not in nodes:
            lines.append(f"parameter file {file}: no node is named {name!r}{_hint(name, nodes)}")
    return lines


def unused_parameter_messages(node: Node, arguments: Sequence[str]) -> list[str]:
    """Return a message for each parameter given to a node that it does not declare.

    Parameters are given on the command line or in parameter files. Files may have sections for all
    nodes; their parameters may be declared by some nodes only.

    Args:
        node: node with its parameters declared.
        arguments: arguments of the command line.
    """
    of_all = {name for group in tables().values() for name in group}
    known = set(node.list_parameters([], 0).names)
    lines: list[str] = []
    for name, origin, for_all in _overrides(node, arguments, lines):
        if name in known or name in COMMON or name.startswith(COMMON_PREFIXES):
            continue
        if for_all and name in of_all:
            continue
        lines.append(
            f"parameter {name!r}{origin} is ignored: {node.get_name()} has no such parameter"
            f"{_hint(name, sorted(known))}"
        )
    return list(dict.fromkeys(lines))


def _overrides(
    node: Node, arguments: Sequence[str], lines: list[str]
) -> list[tuple[str, str, bool]]:
    """Return name, origin and scope of each parameter given to this process.

    The origin names the parameter file, if any. The scope is True if a file sets the parameter
    for all nodes.
    """
    full = node.get_fully_qualified_name()
    found: list[tuple[str, str, bool]] = []
    for flag, word in zip(arguments[:-1], arguments[1:], strict=True):
        if flag in ("-p", "--param"):
            name = word.partition(":=")[0]
            target, separator, own = name.partition(":")
            if not separator:
                found.append((name, "", False))
            elif target.rsplit("/", 1)[-1] == node.get_name():
                found.append((own, "", False))
        elif flag == "--params-file":
            try:
                sections = read_sections(word)
            except InvalidInput as error:
                lines.append(str(error))
                continue
            ours = {name: values for name, values in sections.items() if _matches(name, full)}
            if not ours and len(sections) == 1:
                other = next(iter(sections))
                lines.append(f"parameter file {word} is for {other} only; {full} ignores it")
            of_launch = Path(word).name.startswith("launch_params_")
            origin = "" if of_launch else f" in {word}"
            found += [
                (name, origin, "*" in section and not of_launch)
                for section, values in ours.items()
                for name in values
                if section.rsplit("/", 1)[-1] == node.get_name() or "*" in section
            ]
    return found


def _matches(pattern: str, full: str) -> bool:
    parts = [
        "(/[^/]+)*" if part == "**" else "/" + re.escape(part).replace(r"\*", "[^/]*")
        for part in pattern.strip("/").split("/")
    ]
    return re.fullmatch("".join(parts), full) is not None


def _hint(name: str, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""
