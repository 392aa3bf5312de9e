# SPDX-License-Identifier: Apache-2.0

"""`ros2 topic`."""

from __future__ import annotations

import argparse
import array
import sys
import time
from typing import Any

import numpy as np
import rclpy
import yaml
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy
from rclpy.task import Future

from ..graph import absolute, discover, graph_node, interface_class, is_hidden, wait_for

# Longer arrays and strings are truncated, as upstream does.
LONGEST = 128


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verbs: echo, list, pub."""
    verbs = parser.add_subparsers(title="Verbs", metavar="Verb")
    verb = verbs.add_parser("echo", help="Output messages from a topic")
    verb.add_argument("topic_name", help="Name of the ROS topic to listen to (e.g. '/chatter')")
    verb.add_argument(
        "--once", action="store_true", help="Print the first message received and then exit."
    )
    verb.set_defaults(main=echo)
    verb = verbs.add_parser("list", help="Output a list of available topics")
    verb.add_argument(
        "-t", "--show-types", action="store_true", help="Additionally show the topic type"
    )
    verb.set_defaults(main=list_topics)
    verb = verbs.add_parser("pub", help="Publish a message to a topic")
    verb.add_argument("topic_name", help="Name of the ROS topic to publish to (e.g. '/chatter')")
    verb.add_argument("message_type", help="Type of the ROS message (e.g. 'std_msgs/msg/String')")
    verb.add_argument(
        "values",
        nargs="?",
        default="{}",
        help="Values of the message's fields in YAML format (e.g. '{data: Hello}')",
    )
    verb.add_argument("-1", "--once", action="store_true", help="Publish one message and exit")
    verb.add_argument(
        "-r", "--rate", type=float, default=1.0, help="Publishing rate in Hz (default: 1)"
    )
    verb.set_defaults(main=publish)


def list_topics(args: argparse.Namespace) -> None:
    """Print the names of all topics."""
    with graph_node() as node:
        discover(node)
        for name, types in node.get_topic_names_and_types():
            if not is_hidden(name):
                print(f"{name} [{', '.join(types)}]" if args.show_types else name)


def echo(args: argparse.Namespace) -> None:
    """Print messages until interrupted, or the first one."""
    topic = absolute(args.topic_name)
    done = Future()

    def show(message: Any) -> None:
        if not done.done():
            print(yaml.dump(_plain(message), width=sys.maxsize, sort_keys=False), end="---\n")
        if args.once:
            done.set_result(None)

    with graph_node() as node:
        wait_for(lambda: node.get_publishers_info_by_topic(topic), f"publisher of {topic}")
        offers = node.get_publishers_info_by_topic(topic)
        kind = interface_class(offers[0].topic_type, "msg")
        profile = _profile_to_hear([offer.qos_profile for offer in offers])
        node.create_subscription(kind, topic, show, profile)
        rclpy.spin_until_future_complete(node, done)


def publish(args: argparse.Namespace) -> None:
    """Publish a message at a rate until interrupted, or once, when there is a subscriber."""
    if not args.rate > 0.0:
        raise RuntimeError("rate must be greater than zero")
    topic, kind = absolute(args.topic_name), interface_class(args.message_type, "msg")
    try:
        message = filled(kind(), yaml.safe_load(args.values) or {})
    except (AssertionError, AttributeError, TypeError, ValueError, yaml.YAMLError) as error:
        text = " ".join(str(error).split())
        raise RuntimeError(f"Failed to populate field: {text}") from error
    with graph_node() as node:
        publisher = node.create_publisher(kind, topic, 10)
        if args.once:
            wait_for(publisher.get_subscription_count, f"subscription of {topic}")
        print("publisher: beginning loop", flush=True)
        count = 0
        while rclpy.ok():
            count += 1
            print(f"publishing #{count}: {message!r}\n", flush=True)
            publisher.publish(message)
            if args.once:
                publisher.wait_for_all_acked()
                return
            time.sleep(1.0 / args.rate)


def filled(message: Any, values: dict[str, Any]) -> Any:
    """Return the message with fields set from plain values, as YAML has them."""
    if not isinstance(values, dict):
        raise TypeError(f"{type(message).__name__} needs fields by name, not {values!r}")
    types = message.get_fields_and_field_types()
    for name, value in values.items():
        current = getattr(message, name)
        if hasattr(current, "get_fields_and_field_types"):
            filled(current, value)
        elif isinstance(value, list):
            of = types[name].removeprefix("sequence<").split("[")[0].rstrip(">").split(",")[0]
            if "/" in of:
                value = [filled(interface_class(of, "msg")(), each) for each in value]
            elif of in {"double", "float"}:
                value = [float(each) for each in value]
            setattr(message, name, value)
        else:
            setattr(message, name, type(current)(value))
    return message


def _profile_to_hear(offered: list[QoSProfile]) -> QoSProfile:
    """Return the strictest profile that is compatible with every publisher's."""
    reliable = all(p.reliability == QoSReliabilityPolicy.RELIABLE for p in offered)
    latched = all(p.durability == QoSDurabilityPolicy.TRANSIENT_LOCAL for p in offered)
    return QoSProfile(
        depth=10,
        reliability=(
            QoSReliabilityPolicy.RELIABLE if reliable else QoSReliabilityPolicy.BEST_EFFORT
        ),
        durability=(
            QoSDurabilityPolicy.TRANSIENT_LOCAL if latched else QoSDurabilityPolicy.VOLATILE
        ),
    )


def _plain(value: Any) -> Any:
    """Return a message or a field of it as plain values, in the order of its definition."""
    if hasattr(value, "get_fields_and_field_types"):
        return {name: _plain(getattr(value, name)) for name in value.get_fields_and_field_types()}
    if isinstance(value, bytes):
        value = value.decode("latin1")
    if isinstance(value, str):
        return value if len(value) <= LONGEST else f"{value[:LONGEST]}..."
    if isinstance(value, (list, tuple, array.array, np.ndarray)):
        shown = [_plain(item) for item in value[:LONGEST]]
        return shown if len(value) <= LONGEST else [*shown, "..."]
    return value.item() if isinstance(value, np.generic) else value
