# SPDX-License-Identifier: Apache-2.0

"""Subscriptions that hear volatile publishers and latched (transient local) ones alike.

In DDS a volatile subscription hears both, but not what a latched publisher sent before; a
transient local one gets that, but does not hear volatile publishers. So there is one of each, and
what arrives by both is passed on once. The two copies of a message have the same source timestamp;
where rclpy passes none to callbacks, as on Humble, they are recognised by their content.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from rclpy.subscription import Subscription

from robodyn_ros import qos

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks

if TYPE_CHECKING:
    from collections.abc import Callable

    from rclpy.node import Node

# Copies that the other subscription has yet to deliver; older ones it lost, or never gets.
PENDING = 10
# Whether callbacks can be given the source timestamp of a message.
STAMPED = hasattr(Subscription, "CallbackType")


def subscribe_latched_or_not(
    node: Node, kind: type[Any], topic: str, callback: Callable[[Any], None]
) -> None:
    """Call back once with each message on a topic, whatever its publisher's durability.

    A publisher that is latched is heard also when it sent its last message before.
    """
    once = _Once(callback)
    # a volatile publisher does not match the second, which rclpy would warn of
    quiet = SubscriptionEventCallbacks(incompatible_qos=lambda _: None)
    node.create_subscription(kind, topic, once.receiver(0), qos.RECENT)
    node.create_subscription(
        kind, topic, once.receiver(1), qos.LATCHED_RECENT, event_callbacks=quiet
    )


class _Once:
    """Passes on the first copy of what two subscriptions deliver."""

    def __init__(self, callback: Callable[[Any], None]) -> None:
        self._callback = callback
        self._pending: tuple[deque[Any], deque[Any]] = (
            deque(maxlen=PENDING),
            deque(maxlen=PENDING),
        )

    def receiver(self, own: int) -> Callable[..., None]:
        """The callback of one of the two subscriptions."""
        mine, other = self._pending[own], self._pending[1 - own]

        def receive(message: Any, copy: Any) -> None:
            if copy in other:
                other.remove(copy)
                return
            mine.append(copy)
            self._callback(message)

        if STAMPED:
            return lambda message, info: receive(message, info["source_timestamp"] or message)
        return lambda message: receive(message, message)
