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

"""`ros2 topic pub`."""

from __future__ import annotations

import argparse
import time

import rclpy
import yaml

from ...graph import add_node_arguments, graph_node
from ...messages import get_class, set_fields
from ...qos import add_qos_arguments, profile_from


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add upstream's arguments; not offered: --stdin, --max-wait-time-secs."""
    add_node_arguments(parser)
    parser.add_argument("topic_name", help="Name of the ROS topic to publish to (e.g. '/chatter')")
    parser.add_argument("message_type", help="Type of the ROS message (e.g. 'std_msgs/String')")
    parser.add_argument(
        "values",
        nargs="?",
        default="{}",
        help="Values to fill the message with in YAML format (e.g. 'data: Hello World'), "
        "otherwise the message will be published with default values",
    )
    parser.add_argument(
        "-r",
        "--rate",
        metavar="N",
        type=float,
        default=1.0,
        help="Publishing rate in Hz (default: 1)",
    )
    parser.add_argument(
        "-p",
        "--print",
        metavar="N",
        type=int,
        default=1,
        help="Only print every N-th published message (default: 1)",
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-1", "--once", action="store_true", help="Publish one message and exit")
    group.add_argument(
        "-t",
        "--times",
        type=int,
        default=0,
        metavar="N",
        help="Publish this number of times and then exit",
    )
    parser.add_argument(
        "-w",
        "--wait-matching-subscriptions",
        type=int,
        metavar="N",
        help="Wait until finding the specified number of matching subscriptions. Defaults to 1 "
        'when using "-1"/"--once"/"--times", otherwise defaults to 0.',
    )
    parser.add_argument(
        "--keep-alive",
        metavar="N",
        type=float,
        default=0.1,
        help="Keep publishing node alive for N seconds after the last msg (default: 0.1)",
    )
    parser.add_argument("-n", "--node-name", help="Name of the created publishing node")
    add_qos_arguments(parser, "publish", "default")


def main(args: argparse.Namespace) -> None:
    """Publish once, a number of times, or until interrupted."""
    if args.rate <= 0:
        raise RuntimeError("rate must be greater than zero")
    message = get_class(args.message_type, "msg")()
    stamps = set_fields(message, yaml.safe_load(args.values))
    times = 1 if args.once else args.times
    wanted = args.wait_matching_subscriptions
    if wanted is None:
        wanted = int(times != 0)
    with graph_node(args, discover=False, name=args.node_name) as node:
        publisher = node.create_publisher(type(message), args.topic_name, profile_from(args))
        if publisher.get_subscription_count() < wanted:
            print(f"Waiting for at least {wanted} matching subscription(s)...")
        while publisher.get_subscription_count() < wanted:
            time.sleep(0.1)
        print("publisher: beginning loop")
        count = 0
        while rclpy.ok():
            count += 1
            for stamp in stamps:
                stamp(node.get_clock().now().to_msg())
            if args.print and count % args.print == 0:
                print(f"publishing #{count}: {message!r}\n")
            publisher.publish(message)
            if count == times:
                # Give the last message some time to reach the wire.
                time.sleep(args.keep_alive)
                return
            time.sleep(1.0 / args.rate)
