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

"""`ros2 node`."""

from __future__ import annotations

import argparse
import sys

from ..graph import add_node_arguments, graph_node, node_names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb: list."""
    verbs = parser.add_subparsers(title="Verbs", metavar="Verb")
    verb = verbs.add_parser("list", help="Output a list of available nodes")
    add_node_arguments(verb)
    verb.add_argument("-a", "--all", action="store_true", help="Display all nodes even hidden ones")
    verb.add_argument(
        "-c",
        "--count-nodes",
        action="store_true",
        help="Only display the number of nodes discovered",
    )
    verb.set_defaults(main=list_nodes)


def list_nodes(args: argparse.Namespace) -> None:
    """Print the names of all nodes."""
    with graph_node(args) as node:
        names = node_names(node, hidden=args.all)
    if args.count_nodes:
        print(len(names))
        return
    if len(set(names)) < len(names):
        print(
            "WARNING: Be aware that there are nodes in the graph that share an exact name, which "
            "can have unintended side effects.",
            file=sys.stderr,
        )
    for name in names:
        print(name)
