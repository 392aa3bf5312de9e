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

"""The executor of our nodes: rclpy's, with a faster path for subscriptions.

For each message rclpy iterates twice, in Python, over everything a node waits for: services,
timers, and about two QoS events per publisher and subscription. It builds a new wait set each time,
and a task for the callback. Here the wait set is reused until the node's entities change, messages
are taken and passed to their callbacks directly, and everything else is left to rclpy, which is
called only when something else is ready, or twice a second: QoS events (a peer with incompatible
QoS was found) are not urgent.

`ROBODYN_EXECUTOR` selects another executor for measurements: `single` and `multi` are rclpy's own;
`events` is its experimental one, which in rclpy 7.1.6 occasionally stops taking messages and prints
tracebacks after an exception in a callback or Ctrl-C.
"""

from __future__ import annotations

import math
import os
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from rclpy.clock import Clock, ClockType
from rclpy.executors import (
    ExternalShutdownException,
    MultiThreadedExecutor,
    SingleThreadedExecutor,
    TimeoutException,
)
from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.signals import SignalHandlerGuardCondition

from robodyn.errors import InvalidInput

try:
    from rclpy.experimental import EventsExecutor
except ImportError:  # Humble, and the first releases of Jazzy
    EventsExecutor = None  # type: ignore[assignment]  # not in this release

if TYPE_CHECKING:
    from rclpy.node import Node
    from rclpy.task import Task

VARIABLE = "ROBODYN_EXECUTOR"
KINDS = ("lean", "single", "multi", "events")
# Period at which QoS events are checked [s].
SELDOM = 0.5
# spin() of the events executor does not end on Ctrl-C; spin_once with this timeout [s] does.
LOOK_UP = 0.1
# On a signal rclpy wakes waiting executors before it shuts down, and not again afterwards. A node
# without timers under rclpy's executors could then wait forever, so it wakes with this period [s].
WAKE = 1.0
# Entities left to rclpy, as its wait sets name them.
REST = ("timer", "service", "client")


class LeanExecutor(SingleThreadedExecutor):
    """Executes one node's callbacks in the spinning thread, those of subscriptions directly.

    A subscription's callback must not be a coroutine. Waitables are checked only as often as QoS
    events.
    """

    def __init__(self, node: Node) -> None:
        # before the base class, which may call wake() at once
        self._stir = GuardCondition(None, None, context=node.context)
        super().__init__(context=node.context)
        self._spun = node
        self.add_node(node)

    def wake(self) -> None:
        """Interrupt a wait, from any thread."""
        super().wake()
        self._stir.trigger()

    def create_task(self, callback: Any, *args: Any, **kws: Any) -> Task:
        """Schedule a call in the spinning thread."""
        task = super().create_task(callback, *args, **kws)
        self._stir.trigger()
        return task

    def spin(self) -> None:
        """Execute callbacks until rclpy is shut down, or one of them raises.

        Raises:
            ExternalShutdownException: rclpy was shut down, also by a signal.
        """
        signals = SignalHandlerGuardCondition(self._spun.context)
        try:
            self._spin([self._stir, signals])
        except rclpy_implementation.RCLError:
            if self._spun.context.ok():
                raise
            # another thread shut the context down meanwhile
        finally:
            signals.destroy()
        raise ExternalShutdownException

    def _spin(self, guards: list[Any]) -> None:
        node, look = self._spun, -math.inf
        while node.context.ok():
            with ExitStack() as held:
                waiting = Waiting(node, guards, held)
                while node.context.ok() and waiting.is_current():
                    left = look + SELDOM - time.monotonic()
                    rest = waiting.wait(max(left, 0.0))
                    if left <= 0.0:
                        look = time.monotonic()
                    if rest or left <= 0.0:
                        self._do_rest()

    def _do_rest(self) -> None:
        """Execute everything that rclpy's own executor finds ready."""
        with suppress(TimeoutException):
            while True:
                handler, *_ = self.wait_for_ready_callbacks(timeout_sec=0.0)
                handler()
                if handler.exception() is not None:
                    raise handler.exception()


class Waiting:
    """A wait set of all entities of a node, reused until those change.

    Args:
        node: whose entities are waited for.
        guards: further guard conditions.
        held: keeps the handles from being destroyed meanwhile.
    """

    def __init__(self, node: Node, guards: list[Any], held: ExitStack) -> None:
        self._node = node
        self._entities = subscriptions, timers, services, clients, self._guards = self._present()
        guards = [*self._guards, *guards]
        counts = map(len, (subscriptions, guards, timers, clients, services))
        context: Any = node.context.handle
        held.enter_context(context)
        self._set = wait_set = rclpy_implementation.WaitSet(*counts, 0, context)
        self._add = []
        for add, entities in (
            (wait_set.add_subscription, subscriptions),
            (wait_set.add_timer, timers),
            (wait_set.add_service, services),
            (wait_set.add_client, clients),
            (wait_set.add_guard_condition, guards),
        ):
            for entity in entities:
                with suppress(rclpy_implementation.InvalidHandle):  # just destroyed
                    held.enter_context(entity.handle)
                    self._add.append((add, entity.handle))
        self._subscriptions = [(s.handle.pointer, s, wants_info(s)) for s in subscriptions]

    def _present(self) -> tuple[list[Any], ...]:
        n = self._node
        return (
            list(n.subscriptions),
            list(n.timers),
            list(n.services),
            list(n.clients),
            list(n.guards),
        )

    def is_current(self) -> bool:
        """Whether the node still has the same entities."""
        return self._entities == self._present()

    def wait(self, timeout: float) -> bool:
        """Wait up to `timeout` [s] and execute the callbacks of subscriptions that are ready.

        Returns whether anything else is ready.
        """
        wait_set = self._set
        wait_set.clear_entities()
        for add, handle in self._add:
            add(handle)
        wait_set.wait(int(timeout * 1e9))
        ready = wait_set.get_ready_entities("subscription")
        for pointer, subscription, with_info in self._subscriptions:
            if pointer in ready:
                hand_over(subscription, with_info)
        stirred = wait_set.get_ready_entities("guard_condition")
        for guard in self._guards:
            if guard.handle.pointer in stirred:
                guard.trigger()  # again: waiting has reset it, and rclpy must see it, too
        return bool(stirred) or any(wait_set.get_ready_entities(kind) for kind in REST)


def hand_over(subscription: Any, with_info: bool) -> None:
    """Take a message, if there still is one, and call the callback with it."""
    try:
        with subscription.handle:
            taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
    except rclpy_implementation.InvalidHandle:  # destroyed by the callback before
        return
    if taken is None:
        return
    if with_info:
        subscription.callback(*taken)
    else:
        subscription.callback(taken[0])


def wants_info(subscription: Any) -> bool:
    """Whether its callback takes message info as well; on Humble none does."""
    kind = getattr(subscription, "_callback_type", None)
    return kind is not None and kind.name != "MessageOnly"


def chosen() -> str:
    """The executor selected by the environment, by default ours.

    Raises:
        InvalidInput: an unknown kind, or one that this rclpy does not have.
    """
    kind = os.environ.get(VARIABLE, KINDS[0])
    if kind not in KINDS or (kind == "events" and EventsExecutor is None):
        raise InvalidInput(f"{VARIABLE} is {kind!r}, expected {', '.join(KINDS[:3])}", value=kind)
    return kind


def spin(node: Node) -> None:
    """Execute a node's callbacks until rclpy is shut down, or one of them raises.

    Raises:
        ExternalShutdownException: rclpy was shut down, also by a signal.
        InvalidInput: `ROBODYN_EXECUTOR` names no executor.
    """
    kind = chosen()
    if kind == "events":
        executor = EventsExecutor()
        executor.add_node(node)
        while True:
            executor.spin_once(timeout_sec=LOOK_UP)
    if kind == "lean":
        executor = LeanExecutor(node)
    else:
        node.create_timer(WAKE, lambda: None, clock=Clock(clock_type=ClockType.STEADY_TIME))
        executor = SingleThreadedExecutor() if kind == "single" else MultiThreadedExecutor()
        executor.add_node(node)
    executor.spin()
