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

"""`ros2 topic hz`, of one topic."""

from __future__ import annotations

import argparse
import math
from collections import deque
from typing import Any

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data

from ...graph import add_node_arguments, graph_node
from .listing import full_topic_name, message_class


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add upstream's arguments; one topic at a time."""
    add_node_arguments(parser)
    parser.add_argument("topic_name", help="Name of the ROS topic to listen to (e.g. '/chatter')")
    parser.add_argument(
        "-w",
        "--window",
        type=int,
        default=10000,
        metavar="WINDOW",
        help="window size, in # of messages, for calculating rate (default: %(default)s)",
    )
    parser.add_argument(
        "--filter",
        dest="filter_expr",
        metavar="EXPR",
        help="only measure messages matching the specified Python expression",
    )
    parser.add_argument(
        "--wall-time",
        action="store_true",
        help="calculates rate using wall time which can be helpful when clock is not published "
        "during simulation",
    )


class _Rate:
    """The intervals between the last messages, in nanoseconds."""

    def __init__(self, window: int) -> None:
        self._intervals: deque[int] = deque(maxlen=window)
        self._last: int | None = None
        self._fresh = False

    def tick(self, now: int) -> None:
        """A message has come."""
        if self._last is not None and now < self._last:
            print("time has reset, resetting counters")
            self._intervals.clear()
        elif self._last is not None:
            self._intervals.append(now - self._last)
        self._last = now
        self._fresh = True

    def report(self) -> None:
        """Print the statistics, if a message has come since the last time."""
        if not self._intervals or not self._fresh:
            return
        self._fresh = False
        seconds = [interval * 1e-9 for interval in self._intervals]
        mean = sum(seconds) / len(seconds)
        deviation = math.sqrt(sum((x - mean) ** 2 for x in seconds) / len(seconds))
        rate = 1.0 / mean if mean > 0 else 0.0
        print(
            f"average rate: {rate:.3f}\n\tmin: {min(seconds):.3f}s max: {max(seconds):.3f}s "
            f"std dev: {deviation:.5f}s window: {len(seconds)}"
        )


def main(args: argparse.Namespace) -> None:
    """Print the rate once a second until interrupted."""
    rate = _Rate(args.window)
    with graph_node(args) as node:
        topic = full_topic_name(node, args.topic_name)
        clock = Clock(clock_type=ClockType.SYSTEM_TIME) if args.wall_time else node.get_clock()

        def on_message(message: Any) -> None:
            if args.filter_expr and not eval(args.filter_expr, {"m": message}):
                return
            now = clock.now().nanoseconds
            # In simulation time, zero means that no clock was heard yet.
            if now:
                rate.tick(now)

        node.create_subscription(
            _wait_for_type(node, topic), topic, on_message, qos_profile_sensor_data
        )
        # On the wall clock: in simulation time a report must come too.
        wall = Clock(clock_type=ClockType.STEADY_TIME)
        node.create_timer(1.0, rate.report, clock=wall)
        rclpy.spin(node)


def _wait_for_type(node: Node, topic: str) -> Any:
    found = message_class(node, topic)
    if found is None:
        print(f"WARNING: topic [{topic}] does not appear to be published yet")
    while found is None:
        rclpy.spin_once(node, timeout_sec=0.1)
        found = message_class(node, topic)
    return found
