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
