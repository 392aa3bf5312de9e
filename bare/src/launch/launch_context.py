# SPDX-License-Identifier: Apache-2.0

"""The state of a running launch: configurations, pending events, handlers, running processes."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Protocol

from .event import Event


class Handler(Protocol):
    """Interface of an event handler that the context needs."""

    def matches(self, event: Event) -> bool:
        """Return whether this handler reacts to the event."""

    def handle(self, event: Event, context: LaunchContext) -> Any:
        """React to the event; may return entities to visit."""


class LaunchContext:
    """State that entities read and change when they are visited.

    Attributes:
        launch_configurations: launch arguments and other settings by name.
        is_shutdown: whether the launch is shutting down.
        running: the tasks that the launch waits for before it ends, one for each process.
    """

    def __init__(self) -> None:
        """Start without configurations, events and handlers."""
        self.launch_configurations: dict[str, str] = {}
        self.is_shutdown = False
        self.running: list[asyncio.Task[None]] = []
        self._handlers: deque[Handler] = deque()
        self._events: deque[Event] = deque()
        self._emitted = asyncio.Event()

    def register_event_handler(self, event_handler: Handler) -> None:
        """Add a handler; as upstream, the newest one is called first."""
        self._handlers.appendleft(event_handler)

    def handlers_of(self, event: Event) -> list[Handler]:
        """Return the handlers that react to an event."""
        return [handler for handler in self._handlers if handler.matches(event)]

    def emit_event_sync(self, event: Event) -> None:
        """Queue an event."""
        self._events.append(event)
        self._emitted.set()

    def next_event(self) -> Event | None:
        """Take the oldest event from the queue; None if it is empty."""
        self._emitted.clear()
        return self._events.popleft() if self._events else None

    async def wait_for_event(self) -> None:
        """Wait until an event is emitted."""
        await self._emitted.wait()
