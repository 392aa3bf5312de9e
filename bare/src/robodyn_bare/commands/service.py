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

"""`ros2 service`."""

from __future__ import annotations

import argparse

import rclpy
import yaml

from ..graph import add_node_arguments, graph_node, is_hidden
from ..messages import get_class, set_fields


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verbs: call, list."""
    verbs = parser.add_subparsers(title="Verbs", metavar="Verb")
    verb = verbs.add_parser("call", help="Call a service")
    verb.add_argument("service_name", help="Name of the ROS service to call to")
    verb.add_argument("service_type", help="Type of the ROS service (e.g. 'std_srvs/srv/Empty')")
    verb.add_argument(
        "values",
        nargs="?",
        default="{}",
        help="Values to fill the service request with in YAML format (e.g. '{a: 1, b: 2}'), "
        "otherwise the service request will be published with default values",
    )
    verb.set_defaults(main=call)
    verb = verbs.add_parser("list", help="Output a list of available services")
    add_node_arguments(verb)
    verb.add_argument(
        "-t", "--show-types", action="store_true", help="Additionally show the service type"
    )
    verb.add_argument(
        "-c",
        "--count-services",
        action="store_true",
        help="Only display the number of services discovered",
    )
    verb.add_argument(
        "--include-hidden-services", action="store_true", help="Consider hidden services as well"
    )
    verb.set_defaults(main=list_services)


def call(args: argparse.Namespace) -> None:
    """Wait for the service, call it and print its response."""
    service_type = get_class(args.service_type, "srv")
    request = service_type.Request()
    set_fields(request, yaml.safe_load(args.values))
    with graph_node(args, discover=False) as node:
        client = node.create_client(service_type, args.service_name)
        if not client.service_is_ready():
            print("waiting for service to become available...")
            client.wait_for_service()
        print(f"requester: making request: {request!r}\n")
        future = client.call_async(request)
        rclpy.spin_until_future_complete(node, future)
        print(f"response:\n{future.result()!r}\n")


def list_services(args: argparse.Namespace) -> None:
    """Print the names of all services."""
    with graph_node(args) as node:
        services = [
            (name, types)
            for name, types in node.get_service_names_and_types()
            if args.include_hidden_services or not is_hidden(name)
        ]
    if args.count_services:
        print(len(services))
        return
    for name, types in services:
        print(f"{name} [{', '.join(types)}]" if args.show_types else name)
