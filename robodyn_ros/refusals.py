# SPDX-License-Identifier: Apache-2.0

"""Log of rejected messages, limited to a few lines regardless of their number."""

from __future__ import annotations

import time
from traceback import extract_tb

from rclpy.node import Node

from robodyn.errors import shorten

# Lines per topic: number at once, and period [s] of further ones.
AT_ONCE, PERIOD = 5, 5.0
# Characters of a line.
LONGEST = 600


class Refusals:
    """Log of the rejected messages of one node, throttled by topic.

    The first few are logged at once, for a person who sends goals by hand; a publisher that keeps
    sending them gets one line per period, with the number of messages in between.

    Attributes:
        node: node with the logger.
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self._topics: dict[
            str, tuple[float, float, int]
        ] = {}  # lines left, their time, messages not logged

    def add(self, topic: str, reason: str) -> None:
        """Log that a message on a topic was rejected, unless the log is throttled."""
        now = time.monotonic()
        left, then, suppressed = self._topics.get(topic, (float(AT_ONCE), now, 0))
        left = min(left + (now - then) / PERIOD, float(AT_ONCE))
        if left < 1.0:
            self._topics[topic] = left, now, suppressed + 1
            return
        self._topics[topic] = left - 1.0, now, 0
        more = f" ({suppressed} more since the last such line)" if suppressed else ""
        self.node.get_logger().error(f"{topic} {shorten(reason, LONGEST)}{more}")

    def add_unexpected(self, topic: str, error: BaseException) -> None:
        """Log that a message on a topic caused an unexpected error, that is, a bug."""
        *_, where = extract_tb(error.__traceback__)
        self.add(
            topic,
            f"dropped after an unexpected {type(error).__name__} in {where.filename}, line "
            f"{where.lineno}: {error}. The node continues; please report this bug",
        )
