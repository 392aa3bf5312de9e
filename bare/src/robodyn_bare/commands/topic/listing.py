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

"""`ros2 topic list`, and finding the type of a topic."""

from __future__ import annotations

import argparse
from typing import Any

from rclpy.exceptions import InvalidTopicNameException
from rclpy.expand_topic_name import expand_topic_name
from rclpy.node import Node
from rclpy.validate_full_topic_name import validate_full_topic_name

from ...graph import add_node_arguments, graph_node, is_hidden
from ...messages import get_class


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add upstream's arguments."""
    add_node_arguments(parser)
    parser.add_argument(
        "-t", "--show-types", action="store_true", help="Additionally show the topic type"
    )
    parser.add_argument(
        "-c",
        "--count-topics",
        action="store_true",
        help="Only display the number of topics discovered",
    )
    parser.add_argument(
        "--include-hidden-topics", action="store_true", help="Consider hidden topics as well"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="List full details about each topic"
    )


def main(args: argparse.Namespace) -> None:
    """Print the names of all topics."""
    with graph_node(args) as node:
        topics = [
            (name, types, node.count_publishers(name), node.count_subscribers(name))
            for name, types in node.get_topic_names_and_types()
            if args.include_hidden_topics or not is_hidden(name)
        ]
    if args.count_topics:
        print(len(topics))
    elif args.verbose:
        _print_counts("Published", "publisher", [(n, t, p) for n, t, p, _ in topics])
        _print_counts("Subscribed", "subscriber", [(n, t, s) for n, t, _, s in topics])
    else:
        for name, types, *_ in topics:
            print(f"{name} [{', '.join(types)}]" if args.show_types else name)


def _print_counts(title: str, who: str, topics: list[tuple[str, list[str], int]]) -> None:
    print(f"{title} topics:")
    for name, types, count in topics:
        if count:
            print(f" * {name} [{', '.join(types)}] {count} {who}{'s' if count > 1 else ''}")
    print()


def full_topic_name(node: Node, topic: str) -> str:
    """Return the absolute name of a topic; raise RuntimeError if it cannot be one."""
    try:
        name = expand_topic_name(topic, node.get_name(), node.get_namespace())
        validate_full_topic_name(name)
    except (ValueError, InvalidTopicNameException) as error:
        raise RuntimeError(str(error)) from error
    return name


def message_class(node: Node, topic: str) -> Any | None:
    """Return the class of a topic's messages, or None while nobody has that topic."""
    types = dict(node.get_topic_names_and_types()).get(topic)
    if types is None:
        return None
    if len(types) > 1:
        raise RuntimeError(
            f"Cannot echo topic '{topic}', as it contains more than one type: [{', '.join(types)}]"
        )
    return get_class(types[0], "msg")
