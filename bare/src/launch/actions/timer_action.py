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

"""The action that waits before others."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from ..action import Action
from ..condition import Condition
from ..event_handler import EventHandler
from ..events import Shutdown, TimerEvent
from ..launch_context import LaunchContext
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_types import SomeSubstitutionsType
from ..utilities.type_utils import normalize_typed_substitution, perform_typed_substitution
from .opaque_function import OpaqueFunction


class TimerAction(Action):
    """Yields actions once, after a period in seconds, unless it is cancelled before."""

    def __init__(
        self,
        *,
        period: float | SomeSubstitutionsType,
        actions: Iterable[LaunchDescriptionEntity],
        cancel_on_shutdown: bool | SomeSubstitutionsType = True,
        condition: Condition | None = None,
    ) -> None:
        """Keep period and actions."""
        super().__init__(condition=condition)
        number = float(period) if isinstance(period, (int, str)) else period
        self._period = normalize_typed_substitution(number, float)
        self.actions = list(actions)
        self._cancel_on_shutdown = normalize_typed_substitution(cancel_on_shutdown, bool)
        self._cancelled: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._was_cancelled = False
        self._locals: dict[str, Any] = {}

    def describe_conditional_sub_entities(
        self,
    ) -> list[tuple[str, Iterable[LaunchDescriptionEntity]]]:
        """Return the actions."""
        return [(f"{self._period} seconds pass without being canceled", self.actions)]

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        """Return a future that is done when the timer has run out or was cancelled."""
        return self._task

    def cancel(self) -> None:
        """Cancel; harmless at any time."""
        self._was_cancelled = True
        if self._cancelled is not None and not self._cancelled.done():
            self._cancelled.set_result(None)

    def execute(self, context: LaunchContext) -> None:
        """Start waiting."""
        if self._was_cancelled:
            return
        loop = context.asyncio_loop
        self._cancelled = loop.create_future()
        # What the actions see is the context at the time the timer was started.
        self._locals = context.get_locals_as_dict()
        context.register_event_handler(
            EventHandler(
                matcher=lambda e: isinstance(e, TimerEvent) and e.timer_action is self,
                entities=OpaqueFunction(function=self._fire),
                handle_once=True,
            )
        )
        if perform_typed_substitution(context, self._cancel_on_shutdown, bool):
            context.register_event_handler(
                EventHandler(
                    matcher=lambda e: isinstance(e, Shutdown),
                    entities=OpaqueFunction(function=lambda _: self.cancel()),
                )
            )
        self._task = loop.create_task(self._wait(context))

    def _fire(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        context.extend_locals(self._locals)
        return self.actions

    async def _wait(self, context: LaunchContext) -> None:
        period = perform_typed_substitution(context, self._period, float)
        await asyncio.wait([self._cancelled], timeout=period)
        if not self._cancelled.done():
            context.emit_event_sync(TimerEvent(timer_action=self))
