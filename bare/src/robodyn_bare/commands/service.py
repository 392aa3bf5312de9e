# SPDX-License-Identifier: Apache-2.0

"""`ros2 service`."""

from __future__ import annotations

import argparse
from typing import Any

import rclpy
import yaml

from ..graph import absolute, discover, graph_node, interface_class, is_hidden, wait_for


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verbs: call, list."""
    verbs = parser.add_subparsers(title="Verbs", metavar="Verb")
    verb = verbs.add_parser("call", help="Call a service")
    verb.add_argument("service_name", help="Name of the ROS service to call to")
    verb.add_argument("service_type", help="Type of the ROS service (e.g. 'std_srvs/srv/Trigger')")
    verb.add_argument(
        "values",
        nargs="?",
        default="{}",
        help="Values of the request's fields in YAML format (e.g. '{data: true}')",
    )
    verb.set_defaults(main=call)
    verb = verbs.add_parser("list", help="Output a list of available services")
    verb.add_argument(
        "-t", "--show-types", action="store_true", help="Additionally show the service type"
    )
    verb.set_defaults(main=list_services)


def call(args: argparse.Namespace) -> None:
    """Wait for the service, call it and print its response."""
    service_type = interface_class(args.service_type, "srv")
    request = _request(service_type, args.values)
    name = absolute(args.service_name)
    with graph_node() as node:
        client = node.create_client(service_type, name)
        wait_for(client.service_is_ready, f"service {name}")
        print(f"requester: making request: {request!r}\n")
        future = client.call_async(request)
        rclpy.spin_until_future_complete(node, future)
        print(f"response:\n{future.result()!r}\n")


def _request(service_type: Any, values: str) -> Any:
    """Return a request with the given fields; raise RuntimeError for one that it does not have."""
    try:
        return service_type.Request(check_fields=True, **yaml.safe_load(values))
    except (AssertionError, TypeError, yaml.YAMLError) as error:
        raise RuntimeError(f"Failed to populate the request: {' '.join(str(error).split())}") from (
            error
        )


def list_services(args: argparse.Namespace) -> None:
    """Print the names of all services."""
    with graph_node() as node:
        discover(node)
        for name, types in node.get_service_names_and_types():
            if not is_hidden(name):
                print(f"{name} [{', '.join(types)}]" if args.show_types else name)
