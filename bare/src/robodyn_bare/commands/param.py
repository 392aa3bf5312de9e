# SPDX-License-Identifier: Apache-2.0

"""`ros2 param`. A parameter that cannot be set is an error here, with exit code 1."""

from __future__ import annotations

import argparse
from typing import Any

import rclpy
from rcl_interfaces.msg import Parameter, ParameterType
from rclpy.parameter import get_parameter_value, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient

from ..graph import absolute, graph_node, wait_for

# For each type: what upstream's `get` prints before the value, and what its `describe` calls it.
WORDS = {
    ParameterType.PARAMETER_NOT_SET: ("Parameter not set.", "not set"),
    ParameterType.PARAMETER_BOOL: ("Boolean value is:", "boolean"),
    ParameterType.PARAMETER_INTEGER: ("Integer value is:", "integer"),
    ParameterType.PARAMETER_DOUBLE: ("Double value is:", "double"),
    ParameterType.PARAMETER_STRING: ("String value is:", "string"),
    ParameterType.PARAMETER_BYTE_ARRAY: ("Byte values are:", "byte array"),
    ParameterType.PARAMETER_BOOL_ARRAY: ("Boolean values are:", "boolean array"),
    ParameterType.PARAMETER_INTEGER_ARRAY: ("Integer values are:", "integer array"),
    ParameterType.PARAMETER_DOUBLE_ARRAY: ("Double values are:", "double array"),
    ParameterType.PARAMETER_STRING_ARRAY: ("String values are:", "string array"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verbs: describe, get, list, set."""
    verbs = parser.add_subparsers(title="Verbs", metavar="Verb")
    for name, text, function in (
        ("describe", "Show descriptive information about declared parameters", describe),
        ("get", "Get parameter", get),
        ("list", "Output a list of available parameters", list_parameters),
        ("set", "Set parameter", set_parameter),
    ):
        verb = verbs.add_parser(name, help=text)
        verb.add_argument("node_name", help="Name of the ROS node")
        if name != "list":
            verb.add_argument("parameter_name", help="Name of the parameter")
        if name == "set":
            verb.add_argument("value", help="Value of the parameter")
        verb.set_defaults(main=function)


def _call(args: argparse.Namespace, method: str, *arguments: Any) -> Any:
    """Call a method of rclpy's parameter client for the node; return the service's response."""
    name = absolute(args.node_name)
    with graph_node() as node:
        client = AsyncParameterClient(node, name)
        wait_for(client.services_are_ready, f"Node {name}")
        future = getattr(client, method)(*arguments)
        rclpy.spin_until_future_complete(node, future)
        return future.result()


def get(args: argparse.Namespace) -> str | None:
    """Print the value of a parameter."""
    values = _call(args, "get_parameters", [args.parameter_name]).values
    if not values:
        return "Parameter not set"
    value = parameter_value_to_python(values[0])
    is_array = hasattr(value, "__len__") and not isinstance(value, (str, bytes))
    print(
        WORDS[values[0].type][0], *([list(value) if is_array else value] if values[0].type else ())
    )
    return None


def set_parameter(args: argparse.Namespace) -> str | None:
    """Set a parameter; the value is read as YAML."""
    parameter = Parameter(name=args.parameter_name, value=get_parameter_value(args.value))
    (result,) = _call(args, "set_parameters", [parameter]).results
    reason = f": {result.reason}" if result.reason else ""
    if not result.successful:
        return f"Setting parameter failed{reason}"
    print(f"Set parameter successful{reason}")
    return None


def list_parameters(args: argparse.Namespace) -> None:
    """Print the names of a node's parameters."""
    for name in sorted(_call(args, "list_parameters").result.names):
        print(f"  {name}")


def describe(args: argparse.Namespace) -> str | None:
    """Print type, description and constraints of a parameter."""
    descriptors = _call(args, "describe_parameters", [args.parameter_name]).descriptors
    if not descriptors:
        return "Parameter not set"
    (about,) = descriptors
    print(f"Parameter name: {about.name}")
    print(f"  Type: {WORDS[about.type][1]}")
    if about.description:
        print(f"  Description: {about.description}")
    print("  Constraints:")
    if about.read_only:
        print("    Read only: true")
    for limits in (*about.floating_point_range, *about.integer_range):
        print(f"    Min value: {limits.from_value}")
        print(f"    Max value: {limits.to_value}")
        if limits.step:
            print(f"    Step: {limits.step}")
    if about.additional_constraints:
        print(f"    Additional constraints: {about.additional_constraints}")
    return None
