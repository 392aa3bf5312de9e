# SPDX-License-Identifier: Apache-2.0

"""QoS profiles of robodyn's topics.

States and commands are reliable: in lockstep a lost one would stall the run, and reliable
publishers serve best-effort subscribers too. Trajectories and robot descriptions are transient
local ("latched"), for subscribers that join late.

In lockstep, states and the clock have a "keep all" history: the run waits for the slowest
subscriber with such a history, such as a recorder. There is one command per state, and the history
of its publisher is longer than the number of commands that can be unread, so no command is lost
either. In real time no publisher waits: a subscriber that falls behind by more than a burst loses
the oldest messages.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from robodyn_ros.runner import Finished

# Number of messages that a writer keeps for slow readers, as many as the middleware for "keep all".
BURST = 5000
_reliable = partial(QoSProfile, reliability=ReliabilityPolicy.RELIABLE)
STATE = _reliable(depth=BURST)
COMMAND = STATE
# Depth for commands of any publisher; own ones must not displace those of others.
ANY_COMMAND = QoSProfile(depth=BURST, reliability=ReliabilityPolicy.BEST_EFFORT)
LATEST = _reliable(depth=1)
# Depth to act on recent messages without processing a backlog.
RECENT = _reliable(depth=10)
LOSSLESS = _reliable(history=HistoryPolicy.KEEP_ALL)
LATCHED = _reliable(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# As many as volatile subscribers keep, so that both get the same messages in the same order.
LATCHED_RECENT = _reliable(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# rclpy subscribes to /clock best effort with depth 1; a reliable writer is compatible.
CLOCK = LATEST
EVENTS = _reliable(depth=100)
# Time for which a reader may block a run [s]; the middleware drops a dead one sooner.
PATIENCE = 60.0


def sender(node: Node, publisher: Publisher) -> Callable[[Any], None]:
    """Return a function that publishes a message and waits for slow subscribers.

    With a "keep all" history, the function waits for the slowest subscriber. It raises `Finished`
    if that subscriber accepts no message for PATIENCE.
    """
    if publisher.qos_profile.history != HistoryPolicy.KEEP_ALL:
        return publisher.publish

    def send(message: Any) -> None:
        begun = time.monotonic()
        while True:
            try:
                publisher.publish(message)
                return
            except rclpy_implementation.RCLError:
                # the middleware has waited for 0.1 s already; it reports no reason
                if not node.context.ok():
                    raise
                if time.monotonic() - begun > PATIENCE:
                    raise Finished(
                        1,
                        f"{publisher.topic_name} could not be published for {PATIENCE:g} s: one "
                        f"of its {publisher.get_subscription_count()} subscribers does not read it",
                    ) from None
                node.get_logger().warning(
                    f"{publisher.topic_name} waits for a slow subscriber",
                    throttle_duration_sec=5.0,
                )

    return send
