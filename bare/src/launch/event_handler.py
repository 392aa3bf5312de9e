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

"""Event handlers: what to do when an event matches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .event import Event
from .some_types import SomeEntitiesType

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class BaseEventHandler:
    """Matches events and handles them; what it yields finds the event in `context.locals.event`."""

    def __init__(self, *, matcher: Callable[[Event], bool], handle_once: bool = False) -> None:
        """Keep the matcher; with `handle_once` the handler leaves after its first event."""
        self.__matcher = matcher
        self.__handle_once = handle_once

    @property
    def handle_once(self) -> bool:
        """Whether this handler leaves after its first event."""
        return self.__handle_once

    def matches(self, event: Event) -> bool:
        """Return whether this handler wants the event."""
        return self.__matcher(event)

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        """Handle the event; subclasses call this first."""
        context.extend_locals({"event": event})
        if self.handle_once:
            context.unregister_event_handler(self)
        return None


class EventHandler(BaseEventHandler):
    """Yields fixed entities when an event matches."""

    def __init__(
        self,
        *,
        matcher: Callable[[Event], bool],
        entities: SomeEntitiesType | None = None,
        handle_once: bool = False,
    ) -> None:
        """Keep the entities to yield."""
        super().__init__(matcher=matcher, handle_once=handle_once)
        self.__entities = entities

    @property
    def entities(self) -> SomeEntitiesType | None:
        """The entities this handler yields."""
        return self.__entities

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        """Yield the entities."""
        super().handle(event, context)
        return self.entities
