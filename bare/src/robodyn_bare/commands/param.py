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

"""`ros2 param`. A parameter that cannot be set is an error here, with exit code 1."""

from __future__ import annotations

import argparse
import re
from typing import Any

import rclpy
import yaml
from rcl_interfaces.msg import Parameter, ParameterType
from rclpy.node import Node
from rclpy.parameter import get_parameter_value, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient

from ..graph import (
    absolute,
    add_node_arguments,
    add_wait_arguments,
    graph_node,
    node_names,
    wait_for_node,
)

LABELS = {
    ParameterType.PARAMETER_BOOL: "Boolean value is:",
    ParameterType.PARAMETER_INTEGER: "Integer value is:",
    ParameterType.PARAMETER_DOUBLE: "Double value is:",
    ParameterType.PARAMETER_STRING: "String value is:",
    ParameterType.PARAMETER_BYTE_ARRAY: "Byte values are:",
    ParameterType.PARAMETER_BOOL_ARRAY: "Boolean values are:",
    ParameterType.PARAMETER_INTEGER_ARRAY: "Integer values are:",
    ParameterType.PARAMETER_DOUBLE_ARRAY: "Double values are:",
    ParameterType.PARAMETER_STRING_ARRAY: "String values are:",
}
TYPE_NAMES = {
    ParameterType.PARAMETER_NOT_SET: "not set",
    ParameterType.PARAMETER_BOOL: "boolean",
    ParameterType.PARAMETER_INTEGER: "integer",
    ParameterType.PARAMETER_DOUBLE: "double",
    ParameterType.PARAMETER_STRING: "string",
    ParameterType.PARAMETER_BYTE_ARRAY: "byte array",
    ParameterType.PARAMETER_BOOL_ARRAY: "boolean array",
    ParameterType.PARAMETER_INTEGER_ARRAY: "integer array",
    ParameterType.PARAMETER_DOUBLE_ARRAY: "double array",
    ParameterType.PARAMETER_STRING_ARRAY: "string array",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verbs: dump, get, list, set."""
    verbs = parser.add_subparsers(title="Verbs", metavar="Verb")
    for name, text, function in (
        ("dump", "Show all of the parameters of a node in a YAML file format", dump),
        ("get", "Get parameter", get),
        ("list", "Output a list of available parameters", list_parameters),
        ("set", "Set parameter", set_parameter),
    ):
        verb = verbs.add_parser(name, help=text)
        add_node_arguments(verb)
        add_wait_arguments(verb)
        optional = "?" if name == "list" else None
        verb.add_argument("node_name", nargs=optional, help="Name of the ROS node")
        if name in ("get", "set"):
            verb.add_argument("parameter_name", help="Name of the parameter")
        verb.set_defaults(main=function)
        if name == "get":
            verb.add_argument("--hide-type", action="store_true", help="Hide the type information")
        elif name == "set":
            verb.add_argument("value", help="Value of the parameter")
        elif name == "list":
            verb.add_argument(
                "--filter", help="Only parameters matching the regex expression will be showed."
            )
            verb.add_argument(
                "--param-prefixes",
                nargs="+",
                default=[],
                help="Only list parameters with the provided prefixes",
            )
            verb.add_argument(
                "--param-type",
                action="store_true",
                help="Print parameter types with parameter names",
            )


class _Remote:
    """The parameters of one other node."""

    def __init__(self, node: Node, name: str, timeout: float) -> None:
        self._node = node
        self._client = AsyncParameterClient(node, name)
        if not self._client.wait_for_services(timeout_sec=timeout):
            raise RuntimeError(
                f"Wait for service timed out waiting for parameter services for node {name}"
            )

    def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method of the client and return the service's response."""
        future = getattr(self._client, method)(*args, **kwargs)
        rclpy.spin_until_future_complete(self._node, future)
        return future.result()

    def names(self, prefixes: list[str] | None = None) -> list[str]:
        """Return the names of the parameters, sorted."""
        return sorted(self.call("list_parameters", prefixes=prefixes).result.names)


def _one(node: Node, args: argparse.Namespace) -> _Remote:
    wait_for_node(node, args.node_name, args)
    return _Remote(node, absolute(args.node_name), args.timeout)


def get(args: argparse.Namespace) -> str | None:
    """Print the value of a parameter."""
    with graph_node(args, discover=False) as node:
        values = _one(node, args).call("get_parameters", [args.parameter_name]).values
    if not values:
        return "Parameter not set"
    value = parameter_value_to_python(values[0])
    shown = value if isinstance(value, (list, bytes)) or not _is_sequence(value) else list(value)
    if args.hide_type:
        print(shown)
    elif values[0].type == ParameterType.PARAMETER_NOT_SET:
        print("Parameter not set.")
    else:
        print(LABELS[values[0].type], shown)
    return None


def _is_sequence(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str)


def set_parameter(args: argparse.Namespace) -> str | None:
    """Set a parameter; the value is read as YAML."""
    parameter = Parameter(name=args.parameter_name, value=get_parameter_value(args.value))
    with graph_node(args, discover=False) as node:
        (result,) = _one(node, args).call("set_parameters", [parameter]).results
    reason = f": {result.reason}" if result.reason else ""
    if not result.successful:
        return f"Setting parameter failed{reason}"
    print(f"Set parameter successful{reason}")
    return None


def list_parameters(args: argparse.Namespace) -> None:
    """Print the names of the parameters of one node or of all."""
    pattern = re.compile(args.filter or "")
    with graph_node(args, discover=args.node_name is None) as node:
        if args.node_name is not None:
            wait_for_node(node, args.node_name, args)
            chosen = [absolute(args.node_name)]
        else:
            chosen = sorted(set(node_names(node, hidden=args.include_hidden_nodes)))
        for name in chosen:
            try:
                _list_one(node, name, pattern, args)
            except RuntimeError as error:
                if args.node_name is not None:
                    raise
                # A node without parameter services does not keep the others from being listed.
                print(error)


def _list_one(node: Node, name: str, pattern: re.Pattern, args: argparse.Namespace) -> None:
    remote = _Remote(node, name, args.timeout)
    names = [n for n in remote.names(args.param_prefixes) if pattern.match(n)]
    if args.node_name is None and names:
        print(f"{name}:")
    types = {}
    if args.param_type and names:
        for descriptor in remote.call("describe_parameters", names).descriptors:
            types[descriptor.name] = f" (type: {TYPE_NAMES[descriptor.type]})"
    for parameter in names:
        print(f"  {parameter}{types.get(parameter, '')}")


def dump(args: argparse.Namespace) -> None:
    """Print all parameters of a node as a parameter file."""
    with graph_node(args, discover=False) as node:
        remote = _one(node, args)
        names = remote.names()
        values = remote.call("get_parameters", names).values
    tree: dict[str, Any] = {}
    for name, value in zip(names, values, strict=True):
        *groups, leaf = name.split(".")
        place = tree
        for group in groups:
            place = place.setdefault(group, {})
        plain = parameter_value_to_python(value)
        place[leaf] = list(plain) if _is_sequence(plain) else plain
    content = {absolute(args.node_name): {"ros__parameters": tree}}
    print(yaml.dump(content, default_flow_style=False))
