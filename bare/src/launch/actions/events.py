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

"""Actions on events and their handlers."""

from __future__ import annotations

from collections.abc import Iterable

from ..action import Action
from ..condition import Condition
from ..event import Event
from ..event_handler import BaseEventHandler
from ..events import Shutdown as ShutdownEvent
from ..events.process import ProcessExited
from ..launch_context import LaunchContext
from ..launch_description_entity import LaunchDescriptionEntity
from ..logging import get_logger


class EmitEvent(Action):
    """Emits an event."""

    def __init__(self, *, event: Event, condition: Condition | None = None) -> None:
        """Keep the event."""
        super().__init__(condition=condition)
        if not isinstance(event, Event):
            raise RuntimeError(f"EmitEvent expected an event, got {event!r}")
        self.event = event

    def execute(self, context: LaunchContext) -> None:
        """Queue the event."""
        context.emit_event_sync(self.event)


class Shutdown(EmitEvent):
    """Shuts the launch down; as an on_exit of a process it makes that process required."""

    def __init__(
        self, *, reason: str = "reason not given", condition: Condition | None = None
    ) -> None:
        """Keep the reason."""
        super().__init__(event=ShutdownEvent(reason=reason), condition=condition)

    def execute(self, context: LaunchContext) -> None:
        """Say which process was required, if one was, and shut down."""
        event = context.get_locals_as_dict().get("event")
        if isinstance(event, ProcessExited):
            get_logger("launch").info(
                "process[%s] was required: shutting down launched system", event.process_name
            )
        super().execute(context)


class RegisterEventHandler(Action):
    """Registers an event handler."""

    def __init__(
        self, event_handler: BaseEventHandler, *, condition: Condition | None = None
    ) -> None:
        """Keep the handler."""
        super().__init__(condition=condition)
        self.event_handler = event_handler

    def execute(self, context: LaunchContext) -> None:
        """Register it."""
        context.register_event_handler(self.event_handler)

    def describe_conditional_sub_entities(
        self,
    ) -> list[tuple[str, Iterable[LaunchDescriptionEntity]]]:
        """Return what the handler yields, if that is known."""
        entities = getattr(self.event_handler, "entities", None)
        if entities is None:
            reaction = getattr(self.event_handler, "_reaction", None)
            entities = reaction if isinstance(reaction, list) else None
        return [] if entities is None else [(f"If {self.event_handler} handles", list(entities))]


class UnregisterEventHandler(Action):
    """Removes an event handler."""

    def __init__(
        self, event_handler: BaseEventHandler, *, condition: Condition | None = None
    ) -> None:
        """Keep the handler."""
        super().__init__(condition=condition)
        self.event_handler = event_handler

    def execute(self, context: LaunchContext) -> None:
        """Remove it."""
        context.unregister_event_handler(self.event_handler)
