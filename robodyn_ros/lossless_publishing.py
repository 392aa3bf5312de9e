# SPDX-License-Identifier: Apache-2.0

"""Publishing without loss: a "keep all" writer rejects messages while its history is full."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import HistoryPolicy

from robodyn_ros.runner import Finished

if TYPE_CHECKING:
    from collections.abc import Callable

    from rclpy.node import Node
    from rclpy.publisher import Publisher

# How long a reader may block a run [s]; the middleware drops one that is gone sooner.
PATIENCE = 60.0


def sender(node: Node, publisher: Publisher) -> Callable[[Any], None]:
    """A function that publishes; with "keep all" history it waits for the slowest reader.

    It raises `Finished` if that reader takes nothing for PATIENCE.
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
                # the middleware has waited 0.1 s already; it gives no reason
                if not node.context.ok():
                    raise
                if time.monotonic() - begun > PATIENCE:
                    raise Finished(
                        1,
                        f"{publisher.topic_name} cannot be published for {PATIENCE:g} s: one of "
                        f"its {publisher.get_subscription_count()} subscribers takes nothing",
                    ) from None
                node.get_logger().warning(
                    f"{publisher.topic_name} waits for a slow subscriber",
                    throttle_duration_sec=5.0,
                )

    return send
