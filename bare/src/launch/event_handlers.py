# SPDX-License-Identifier: Apache-2.0

"""Event handlers: what to do when a process ends or writes, and when the launch shuts down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .action import Action
from .event import Event
from .events import Shutdown
from .events.process import ProcessExited, ProcessIO
from .launch_context import LaunchContext


class EventHandler:
    """Calls `reaction(event, context)` for the events that match; it may return entities."""

    def __init__(
        self,
        *,
        matcher: Callable[[Event], bool],
        reaction: Callable[[Any, LaunchContext], Any],
    ) -> None:
        """Keep both functions; raise TypeError for a reaction that cannot be called."""
        if not callable(reaction):
            raise TypeError(f"an event handler needs a function here, got {reaction!r}")
        self._matcher = matcher
        self._reaction = reaction

    def matches(self, event: Event) -> bool:
        """Return whether this handler reacts to the event."""
        return self._matcher(event)

    def handle(self, event: Event, context: LaunchContext) -> Any:
        """React to the event; return the entities to visit, if any."""
        return self._reaction(event, context)


class OnProcessExit(EventHandler):
    """Calls `on_exit(event, context)` when the process of an action has ended."""

    def __init__(
        self, *, target_action: Action, on_exit: Callable[[ProcessExited, LaunchContext], Any]
    ) -> None:
        """Keep action and function."""
        super().__init__(
            matcher=lambda e: isinstance(e, ProcessExited) and e.action is target_action,
            reaction=on_exit,
        )


class OnProcessIO(EventHandler):
    """Calls `on_stdout(event)` or `on_stderr(event)` for each line that a process writes."""

    def __init__(
        self,
        *,
        target_action: Action,
        on_stdout: Callable[[ProcessIO], Any],
        on_stderr: Callable[[ProcessIO], Any],
    ) -> None:
        """Keep action and functions."""
        super().__init__(
            matcher=lambda e: isinstance(e, ProcessIO) and e.action is target_action,
            reaction=lambda e, _: on_stdout(e) if e.from_stdout else on_stderr(e),
        )


class OnShutdown(EventHandler):
    """Calls `on_shutdown(event, context)` when the launch shuts down."""

    def __init__(self, *, on_shutdown: Callable[[Shutdown, LaunchContext], Any]) -> None:
        """Keep the function."""
        super().__init__(matcher=lambda e: isinstance(e, Shutdown), reaction=on_shutdown)
