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

"""`ros2 topic echo`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.node import Node
from rclpy.task import Future

from ...graph import add_node_arguments, graph_node
from ...messages import MessageStyle, field_of, get_class
from ...qos import add_qos_arguments, profile_to_hear
from .listing import full_topic_name, message_class


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add upstream's arguments; not offered: --csv, --raw, --clear, message info, lost messages."""
    add_node_arguments(parser)
    parser.add_argument("topic_name", help="Name of the ROS topic to listen to (e.g. '/chatter')")
    parser.add_argument(
        "message_type", nargs="?", help="Type of the ROS message (e.g. 'std_msgs/msg/String')"
    )
    add_qos_arguments(parser, "subscribe", "sensor_data")
    parser.add_argument(
        "--field",
        help="Echo a selected field of a message. Use '.' to select sub-fields.",
    )
    parser.add_argument(
        "-f",
        "--full-length",
        action="store_true",
        help="Output all elements for arrays, bytes, and string with a length > "
        "'--truncate-length'",
    )
    parser.add_argument(
        "-l",
        "--truncate-length",
        type=int,
        default=128,
        help="The length to truncate arrays, bytes, and string to (default: %(default)s)",
    )
    parser.add_argument("--no-arr", action="store_true", help="Don't print array fields")
    parser.add_argument("--no-str", action="store_true", help="Don't print string fields")
    parser.add_argument(
        "--flow-style", action="store_true", help="Print collections in the flow style"
    )
    parser.add_argument(
        "--filter",
        dest="filter_expr",
        help="Python expression to filter messages that are printed. Expression can use Python "
        "builtins as well as m (the message).",
    )
    parser.add_argument(
        "--once", action="store_true", help="Print the first message received and then exit."
    )
    parser.add_argument(
        "--timeout", metavar="N", type=float, help="Set a timeout in seconds for waiting"
    )


def main(args: argparse.Namespace) -> None:
    """Print messages until interrupted, or the first one."""
    style = MessageStyle(
        truncate_length=None if args.full_length else args.truncate_length,
        no_arr=args.no_arr,
        no_str=args.no_str,
        flow_style=args.flow_style,
    )
    with graph_node(args) as node:
        topic = full_topic_name(node, args.topic_name)
        qos = profile_to_hear(node, topic, args)
        done = Future()
        callback = _printer(args, style, done)
        node.create_subscription(_type(node, topic, args), topic, callback, qos)
        if args.timeout is not None:
            node.create_timer(args.timeout, lambda: done.done() or done.set_result(None))
        rclpy.spin_until_future_complete(node, done)


def _type(node: Node, topic: str, args: argparse.Namespace) -> Any:
    if args.message_type is not None:
        return get_class(args.message_type, "msg")
    found = message_class(node, topic)
    if found is None:
        print(f"WARNING: topic [{args.topic_name}] does not appear to be published yet")
        raise RuntimeError("Could not determine the type for the passed topic")
    return found


def _printer(args: argparse.Namespace, style: MessageStyle, done: Future) -> Callable[[Any], None]:
    path = [part for part in (args.field or "").split(".") if part]

    def show(message: Any) -> None:
        if done.done():
            return
        chosen = field_of(message, path)
        if args.filter_expr and not eval(args.filter_expr, {"m": chosen}):
            return
        is_message = hasattr(chosen, "get_fields_and_field_types")
        print(style.to_yaml(chosen) if is_message else f"{chosen}\n", end="---\n")
        if args.once:
            done.set_result(None)

    return show
