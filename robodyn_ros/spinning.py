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

"""What calls the callbacks: rclpy's executor, less busy with what hardly ever comes.

Before each wait rclpy gathers all that a node waits for, in Python, and after it asks each of them
whether it is ready; the message comes last. Most of them are events of quality of service, some
two for every publisher and subscription: whether a peer has been found that asks for another. They
can wait a little.

`ROBODYN_EXECUTOR` chooses another executor, to measure: `single` and `multi` are rclpy's own;
`events` is its experimental one, the quickest of all, which in rclpy 7.1.6 now and then ceases to
take messages and which an exception in a callback, or Ctrl-C in its midst, makes talkative.
"""

from __future__ import annotations

import math
import os
import time
from typing import TYPE_CHECKING, Any

from rclpy.clock import Clock, ClockType
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor

from robodyn.errors import InvalidInput

try:
    from rclpy.event_handler import EventHandler
except ImportError:  # Humble
    from rclpy.qos_event import QoSEventHandler as EventHandler

try:
    from rclpy.experimental import EventsExecutor
except ImportError:  # Humble, and the first releases of Jazzy
    EventsExecutor = None

if TYPE_CHECKING:
    from rclpy.node import Node

VARIABLE = "ROBODYN_EXECUTOR"
KINDS = ("lean", "single", "multi", "events")
# How often events of quality of service are looked at [s], by a node that has anything to do.
SELDOM = 0.5
# spin() of the events executor is not ended by Ctrl-C; one that comes back this often [s] is.
LOOK_UP = 0.1
# On a signal rclpy wakes who waits before it shuts down; who is back at waiting by then is not
# woken again. So a node without timers of its own wakes this often [s].
WAKE = 1.0


class LeanExecutor(SingleThreadedExecutor):
    """A SingleThreadedExecutor that looks at events of quality of service twice a second only."""

    def __init__(self) -> None:
        super().__init__()
        self._looked, self._looks = -math.inf, True

    def _wait_for_ready_callbacks(self, *args: Any, **kws: Any) -> Any:
        """Begin a round; without this hook every round looks at everything, as rclpy's do."""
        now = time.monotonic()
        self._looks = now - self._looked >= SELDOM
        if self._looks:
            self._looked = now
        return super()._wait_for_ready_callbacks(*args, **kws)

    def can_execute(self, entity: Any) -> bool:
        """Whether to wait for it in this round."""
        if not self._looks and isinstance(entity, EventHandler):
            return False
        return bool(super().can_execute(entity))


def chosen() -> str:
    """The kind of executor that the environment asks for, or ours.

    Raises:
        InvalidInput: an unknown kind, or one that this rclpy does not have.
    """
    kind = os.environ.get(VARIABLE, KINDS[0])
    if kind not in KINDS or (kind == "events" and EventsExecutor is None):
        raise InvalidInput(f"{VARIABLE} is {kind!r}, expected {', '.join(KINDS[:3])}", value=kind)
    return kind


def spin(node: Node) -> None:
    """Call a node's callbacks until rclpy is shut down, or one of them raises.

    Raises:
        ExternalShutdownException: shut down, by a signal too.
        InvalidInput: `ROBODYN_EXECUTOR` names no executor.
    """
    kind = chosen()
    if kind == "events":
        executor = EventsExecutor()
        executor.add_node(node)
        while True:
            executor.spin_once(timeout_sec=LOOK_UP)
    node.create_timer(WAKE, lambda: None, clock=Clock(clock_type=ClockType.STEADY_TIME))
    own = {"lean": LeanExecutor, "single": SingleThreadedExecutor, "multi": MultiThreadedExecutor}
    executor = own[kind]()
    executor.add_node(node)
    executor.spin()
