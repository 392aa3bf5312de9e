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

"""Handlers of the events that launch files react to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .event import Event
from .event_handler import BaseEventHandler
from .events import Shutdown
from .events.process import ProcessExited, ProcessIO, ProcessStarted
from .launch_context import LaunchContext
from .some_types import SomeEntitiesType
from .utilities import normalize_to_list_of_entities

if TYPE_CHECKING:
    from .action import Action

__all__ = ["OnProcessExit", "OnProcessIO", "OnProcessStart", "OnShutdown"]

Reaction = Any  # entities to yield, a callable that may return some, or None


class _OnProcessEvent(BaseEventHandler):
    """Reacts to one kind of process event, of one action, of matching actions, or of all."""

    def __init__(
        self,
        target_action: Action | Callable[[Action], bool] | None,
        reaction: Reaction,
        event_type: type[Event],
        handle_once: bool,
    ) -> None:
        def matches(event: Event) -> bool:
            if not isinstance(event, event_type):
                return False
            if target_action is None:
                return True
            if callable(target_action):
                return target_action(event.action)
            return event.action is target_action

        super().__init__(matcher=matches, handle_once=handle_once)
        self._reaction = (
            reaction
            if callable(reaction)
            else normalize_to_list_of_entities([] if reaction is None else reaction)
        )

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        """Call the reaction with event and context, or yield its entities."""
        super().handle(event, context)
        return self._reaction(event, context) if callable(self._reaction) else self._reaction


class OnProcessExit(_OnProcessEvent):
    """Reacts when a process ends; `on_exit` is entities or `f(event, context)`."""

    def __init__(
        self,
        *,
        target_action: Action | Callable[[Action], bool] | None = None,
        on_exit: Reaction,
        handle_once: bool = False,
    ) -> None:
        """Keep target and reaction."""
        super().__init__(target_action, on_exit, ProcessExited, handle_once)


class OnProcessStart(_OnProcessEvent):
    """Reacts when a process starts; `on_start` is entities or `f(event, context)`."""

    def __init__(
        self,
        *,
        target_action: Action | Callable[[Action], bool] | None = None,
        on_start: Reaction,
        handle_once: bool = False,
    ) -> None:
        """Keep target and reaction."""
        super().__init__(target_action, on_start, ProcessStarted, handle_once)


class OnProcessIO(_OnProcessEvent):
    """Reacts to what a process writes; `on_stdout` and `on_stderr` are `f(event)`."""

    def __init__(
        self,
        *,
        target_action: Action | Callable[[Action], bool] | None = None,
        on_stdout: Callable[[ProcessIO], Any] | None = None,
        on_stderr: Callable[[ProcessIO], Any] | None = None,
        handle_once: bool = False,
    ) -> None:
        """Keep target and reactions."""

        def react(event: ProcessIO, context: LaunchContext) -> Any:
            chosen = on_stdout if event.from_stdout else on_stderr
            return None if chosen is None else chosen(event)

        super().__init__(target_action, react, ProcessIO, handle_once)


class OnShutdown(BaseEventHandler):
    """Reacts when the launch shuts down; `on_shutdown` is entities or `f(event, context)`."""

    def __init__(self, *, on_shutdown: Reaction, handle_once: bool = False) -> None:
        """Keep the reaction."""
        super().__init__(matcher=lambda e: isinstance(e, Shutdown), handle_once=handle_once)
        self._reaction = on_shutdown

    def handle(self, event: Event, context: LaunchContext) -> Iterable[Any] | Any:
        """Call the reaction with event and context, or yield its entities."""
        super().handle(event, context)
        return self._reaction(event, context) if callable(self._reaction) else self._reaction
