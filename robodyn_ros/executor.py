# SPDX-License-Identifier: Apache-2.0

"""Executor of the nodes: rclpy's, with a faster path for subscriptions.

For each message rclpy iterates twice, in Python, over all entities of a node: services, timers, and
about two QoS events per publisher and subscription. It builds a new wait set each time, and a task
for the callback. This executor reuses the wait set until the node's entities change, and takes
messages and calls their callbacks directly. It calls rclpy only if something else is ready: timers,
services, actions. QoS events (a peer with incompatible QoS was found) are not urgent and are
checked twice a second.

A message never ends a node. A message that cannot be read or makes a callback fail is dropped and
logged; rclpy's executors would end the process. This includes topics of rclpy itself, such as
`/clock`.

It uses the wait set of `rclpy.impl`, which differs between releases. A node tests whether it fits
when it starts to spin. If it does not, rclpy's own executor is used, and a log line reports this.

`ROBODYN_EXECUTOR` selects another executor for measurements: `single` and `multi` are rclpy's own;
`events` is its experimental one, which in rclpy 7.1.6 occasionally stops taking messages and prints
tracebacks after an exception in a callback or Ctrl-C.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.executors import (
    Executor,
    ExternalShutdownException,
    MultiThreadedExecutor,
    SingleThreadedExecutor,
    TimeoutException,
)
from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.signals import SignalHandlerGuardCondition
from rclpy.task import Task

from robodyn.errors import InvalidInput
from robodyn_ros.refusals import Refusals

try:
    from rclpy.event_handler import EventHandler
except ImportError:  # Humble
    from rclpy.qos_event import QoSEventHandler as EventHandler
try:
    from rclpy.experimental import EventsExecutor
except ImportError:  # Humble, and the first releases of Jazzy
    EventsExecutor = None  # type: ignore[assignment]  # not in this release


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


class Finished(Exception):
    """Exception raised in a callback to end the process with an exit code and a message."""

    def __init__(self, code: int, text: str = "") -> None:
        super().__init__(text)
        self.code = code


def shut_down() -> None:
    """Shut down the default context, which rclpy's signal handler may do at the same time."""
    with suppress(rclpy_implementation.RCLError):
        rclpy.try_shutdown()


class _LoggingExecutor(Executor):
    """Base class of executors that drop messages, requests and responses that cannot be read.

    A subscription's callback must not be a coroutine: it is called when its message is taken.
    """

    def __init__(self, node: Node) -> None:
        super().__init__(context=node.context)
        self._refusals = Refusals(node)
        self.add_node(node)

    def _take_subscription(self, sub: Any) -> None:
        take_and_dispatch(sub, takes_info(sub), self._refusals)

    def _take_service(self, srv: Any) -> Any:
        return self._take_or_log(srv, super()._take_service)

    def _take_client(self, client: Any) -> Any:
        return self._take_or_log(client, super()._take_client)

    def _take_or_log(self, entity: Any, take: Callable[[Any], Any]) -> Any:
        try:
            return take(entity)
        except Exception as error:  # as for `take_and_dispatch`
            self._refusals.add(
                entity.srv_name, f"dropped because the message cannot be read: {error}"
            )
            return None


class SingleExecutor(_LoggingExecutor, SingleThreadedExecutor):
    """Single-threaded executor of rclpy for one node, which drops unreadable messages."""


class MultiExecutor(_LoggingExecutor, MultiThreadedExecutor):
    """Multi-threaded executor of rclpy for one node, which drops unreadable messages."""


class LeanExecutor(_LoggingExecutor, SingleThreadedExecutor):
    """Fast executor of one node, which calls the callbacks of subscriptions directly."""

    def __init__(self, node: Node) -> None:
        # before the base class, which may call wake() at once
        self._wake_up = GuardCondition(None, None, context=node.context)
        self._only_node = node
        super().__init__(node)

    def wake(self) -> None:
        """Interrupt the wait of the spinning thread, from any thread."""
        super().wake()
        self._wake_up.trigger()

    def create_task(self, callback: Any, *args: Any, **kws: Any) -> Task:
        """Schedule a function call in the spinning thread.

        Returns:
            The task, whose result is that of the function.
        """
        task = super().create_task(callback, *args, **kws)
        self._wake_up.trigger()
        return task

    def incompatibility(self) -> str:
        """Return why the installed rclpy does not support this executor; empty if it does."""
        try:
            with ExitStack() as held:
                Waiting(self._only_node, [self._wake_up], held, self._refusals).look()
            for subscription in self._only_node.subscriptions:
                with subscription.handle:
                    _ = subscription.handle.take_message, subscription.callback, subscription.raw
                takes_info(subscription)
        except (AttributeError, TypeError, RuntimeError) as error:
            return f"{type(error).__name__}: {error}"
        return ""

    def spin(self) -> None:
        """Execute the node's callbacks until rclpy is shut down or a callback raises.

        Raises:
            ExternalShutdownException: rclpy was shut down, also by a signal.
        """
        signals = SignalHandlerGuardCondition(self._only_node.context)
        try:
            self._spin([self._wake_up, signals])
        except rclpy_implementation.RCLError:
            if self._only_node.context.ok():
                raise
            # another thread has shut the context down meanwhile
        finally:
            signals.destroy()
        raise ExternalShutdownException

    def _spin(self, guards: list[Any]) -> None:
        node, look = self._only_node, -math.inf
        while node.context.ok():
            with ExitStack() as held:
                waiting = Waiting(node, guards, held, self._refusals)
                while node.context.ok() and waiting.is_current():
                    left = look + SELDOM - time.monotonic()
                    rest = waiting.wait(max(left, 0.0))
                    for waitable in waiting.ready_waitables:
                        self._begin(waitable)
                    if left <= 0.0:
                        look = time.monotonic()
                    if rest or left <= 0.0:
                        self._execute_others()

    def _begin(self, waitable: Any) -> None:
        """Take the data of a ready waitable, and schedule its `execute` coroutine."""
        for future in getattr(waitable, "_futures", ()):  # an action client's
            future._set_executor(self)
        try:
            taken = waitable.take_data()
        except Exception as error:  # as for `take_and_dispatch`
            name = type(waitable).__name__
            self._refusals.add(name, f"dropped because the message cannot be read: {error}")
            return
        super().create_task(waitable.execute, taken)

    def _execute_others(self) -> None:
        """Execute all other callbacks that are ready, such as those of timers."""
        with suppress(TimeoutException):
            while True:
                handler, *_ = self.wait_for_ready_callbacks(timeout_sec=0.0)
                handler()
                if handler.exception() is not None:
                    raise handler.exception()


class Waiting:
    """Wait set of all entities of a node, reused until these change.

    Args:
        node: node to wait for.
        guards: further guard conditions to wait for.
        held: stack that keeps the entities' handles valid during the wait.
        refusals: log of messages that cannot be taken.
    """

    def __init__(self, node: Node, guards: list[Any], held: ExitStack, refusals: Refusals) -> None:
        self._node, self._refusals = node, refusals
        self._entities = present = self._present()
        subscriptions, timers, services, clients, self._guards, self._waitables = present
        self.ready_waitables: list[Any] = []
        guards = [*self._guards, *guards]
        counts = [*map(len, (subscriptions, guards, timers, clients, services)), 0]
        for waitable in self._waitables:
            held.enter_context(waitable)
            needs = waitable.get_num_entities()
            more = (needs.num_subscriptions, needs.num_guard_conditions, needs.num_timers,
                    needs.num_clients, needs.num_services, needs.num_events)  # fmt: skip
            counts = [count + extra for count, extra in zip(counts, more, strict=True)]
        context: Any = node.context.handle
        held.enter_context(context)
        self._set = wait_set = rclpy_implementation.WaitSet(*counts, context)
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
        self._subscriptions = [(s.handle.pointer, s, takes_info(s)) for s in subscriptions]

    def _present(self) -> tuple[list[Any], ...]:
        n = self._node
        return (
            list(n.subscriptions),
            list(n.timers),
            list(n.services),
            list(n.clients),
            list(n.guards),
            [w for w in n.waitables if not isinstance(w, EventHandler)],
        )

    def is_current(self) -> bool:
        """Return whether the node still has the entities of this wait set."""
        return self._entities == self._present()

    def look(self, timeout: float = 0.0) -> tuple[Any, bool]:
        """Wait up to `timeout` [s] until an entity of the node is ready.

        Returns:
            Handles of the subscriptions with messages, and whether any other entity is ready.
        """
        wait_set = self._set
        wait_set.clear_entities()
        for add, handle in self._add:
            add(handle)
        for waitable in self._waitables:
            waitable.add_to_wait_set(wait_set)
        wait_set.wait(int(timeout * 1e9))
        ready = wait_set.get_ready_entities("subscription")
        triggered = wait_set.get_ready_entities("guard_condition")
        for guard in self._guards:
            if guard.handle.pointer in triggered:
                guard.trigger()  # again: waiting has reset it, and rclpy must see it, too
        self.ready_waitables = [w for w in self._waitables if w.is_ready(wait_set)]
        rest = triggered or self.ready_waitables or any(map(wait_set.get_ready_entities, REST))
        return ready, bool(rest)

    def wait(self, timeout: float) -> bool:
        """Wait up to `timeout` [s] for messages, and execute their callbacks.

        Returns:
            Whether any other entity is ready, such as a timer.
        """
        ready, rest = self.look(timeout)
        for pointer, subscription, with_info in self._subscriptions:
            if pointer in ready:
                take_and_dispatch(subscription, with_info, self._refusals)
        return rest


def take_and_dispatch(subscription: Any, with_info: bool, refusals: Refusals) -> None:
    """Take a message from a subscription, if there is one, and call the callback.

    If the message cannot be read or the callback fails, `refusals` logs it. Exceptions that end the
    process are raised.
    """
    try:
        with subscription.handle:
            taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
    except rclpy_implementation.InvalidHandle:  # destroyed by the callback before
        return
    except Exception as error:  # RCLError, or an error from the conversion of a field
        refusals.add(
            subscription.topic_name, f"dropped because the message cannot be read: {error}"
        )
        return
    if taken is None:
        return
    try:
        if with_info:
            subscription.callback(*taken)
        else:
            subscription.callback(taken[0])
    except (Finished, ExternalShutdownException):
        raise
    except Exception as error:
        if not refusals.node.context.ok():  # publishing in a callback then fails as well
            raise
        is_own = not subscription.callback.__module__.startswith("rclpy.")
        if is_own or not isinstance(error, ValueError):
            refusals.add_unexpected(subscription.topic_name, error)
        else:  # rclpy's clock rejects times before zero
            refusals.add(subscription.topic_name, f"refused: {error}")


def takes_info(subscription: Any) -> bool:
    """Return whether a subscription's callback takes the message info as an argument.

    On Humble, no callback does.
    """
    kind = getattr(subscription, "_callback_type", None)
    return kind is not None and kind.name != "MessageOnly"


def executor_name() -> str:
    """Return the name of the executor to use: `ROBODYN_EXECUTOR`, or the default.

    Raises:
        InvalidInput: the executor is unknown, or this rclpy does not have it.
    """
    kind = os.environ.get(VARIABLE, KINDS[0])
    if kind not in KINDS or (kind == "events" and EventsExecutor is None):
        raise InvalidInput(f"{VARIABLE} is {kind!r}, expected {', '.join(KINDS[:3])}", value=kind)
    return kind


def spin(node: Node) -> None:
    """Execute a node's callbacks until rclpy is shut down or a callback raises.

    Raises:
        ExternalShutdownException: rclpy was shut down, also by a signal.
        InvalidInput: `ROBODYN_EXECUTOR` does not name an executor.
    """
    kind = executor_name()
    if kind == "events":
        executor = EventsExecutor()
        executor.add_node(node)
        while True:
            executor.spin_once(timeout_sec=LOOK_UP)
    if kind == "lean":
        lean = LeanExecutor(node)
        why = lean.incompatibility()
        if not why:
            lean.spin()
            return
        lean.shutdown()
        node.get_logger().info(
            "rclpy's own executor is used, because robodyn's executor does not support this "
            f"version of rclpy: {why}"
        )
    node.create_timer(WAKE, lambda: None, clock=Clock(clock_type=ClockType.STEADY_TIME))
    (MultiExecutor if kind == "multi" else SingleExecutor)(node).spin()
