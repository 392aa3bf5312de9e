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

"""The state of a running launch: configurations, environment, events, locals."""

from __future__ import annotations

import asyncio
import collections
import os
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from .event import Event
from .event_handler import BaseEventHandler
from .substitution import Substitution


class Locals:
    """Read-only attribute access to the context's locals."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        """Keep the mapping."""
        self.__dict__["_values"] = values

    def __getattr__(self, key: str) -> Any:
        """Return a local, or say which ones there are."""
        values = self.__dict__["_values"]
        if key not in values:
            raise AttributeError(
                f"context.locals does not contain attribute '{key}', "
                f"it contains: [{', '.join(values)}]"
            )
        return values[key]

    def __setattr__(self, key: str, value: Any) -> None:
        """Refuse."""
        raise AttributeError(f"can't set attribute '{key}', locals are read-only")


class LaunchContext:
    """What entities see and change while they are visited.

    Scoped groups push and pop the launch configurations and the environment. As upstream, the
    environment is this process's own `os.environ`.
    """

    def __init__(self, *, argv: Iterable[str] | None = None, noninteractive: bool = False) -> None:
        """Start empty; `argv` and `noninteractive` are there for entities to read."""
        self.argv = list(argv) if argv is not None else []
        self.noninteractive = noninteractive
        self.launch_configurations: dict[str, Any] = {}
        self._event_handlers: collections.deque[BaseEventHandler] = collections.deque()
        self._events: collections.deque[Event] = collections.deque()
        self._wake: asyncio.Future[None] | None = None
        self._globals: dict[str, Any] = {}
        self._locals: dict[str, Any] = {}
        self._locals_stack: list[dict[str, Any]] = []
        self._launch_configurations_stack: list[dict[str, Any]] = []
        self._environment_stack: list[dict[str, str]] = []
        self._environment_reset = os.environ.copy()
        self._is_shutdown = False
        self._asyncio_loop: asyncio.AbstractEventLoop | None = None

    @property
    def is_shutdown(self) -> bool:
        """Whether the launch is shutting down."""
        return self._is_shutdown

    @property
    def asyncio_loop(self) -> asyncio.AbstractEventLoop | None:
        """The loop of the running launch service."""
        return self._asyncio_loop

    @property
    def environment(self) -> MutableMapping[str, str]:
        """The environment that child processes inherit."""
        return os.environ

    @property
    def locals(self) -> Locals:
        """The locals, such as `event` inside an event handler."""
        return Locals(self.get_locals_as_dict())

    def get_locals_as_dict(self) -> dict[str, Any]:
        """Return a copy of the locals over the globals."""
        return {**self._globals, **self._locals}

    def extend_globals(self, extensions: Mapping[str, Any]) -> None:
        """Add permanent locals."""
        self._globals.update(extensions)

    def extend_locals(self, extensions: Mapping[str, Any]) -> None:
        """Add locals until the event being handled is done with."""
        self._locals.update(extensions)

    def _push_locals(self) -> None:
        self._locals_stack.append(dict(self._locals))

    def _pop_locals(self) -> None:
        self._locals = self._locals_stack.pop()

    def _push_environment(self) -> None:
        self._environment_stack.append(os.environ.copy())

    def _pop_environment(self) -> None:
        if not self._environment_stack:
            raise RuntimeError("environment stack unexpectedly empty")
        self._restore_environment(self._environment_stack.pop())

    def _reset_environment(self) -> None:
        self._restore_environment(self._environment_reset)

    @staticmethod
    def _restore_environment(saved: Mapping[str, str]) -> None:
        # In place: others hold a reference to os.environ itself.
        os.environ.clear()
        os.environ.update(saved)

    def _push_launch_configurations(self) -> None:
        # Lists (global parameters) are copied, so that a group cannot leak into its surroundings.
        copy = {
            name: list(value) if isinstance(value, list) else value
            for name, value in self.launch_configurations.items()
        }
        self._launch_configurations_stack.append(copy)

    def _pop_launch_configurations(self) -> None:
        if not self._launch_configurations_stack:
            raise RuntimeError("launch_configurations stack unexpectedly empty")
        self.launch_configurations = self._launch_configurations_stack.pop()

    def would_handle_event(self, event: Event) -> bool:
        """Return whether any handler matches the event."""
        return any(handler.matches(event) for handler in self._event_handlers)

    def register_event_handler(self, event_handler: BaseEventHandler, append: bool = False) -> None:
        """Add a handler: before the others as upstream, or after them with `append`."""
        if append:
            self._event_handlers.append(event_handler)
        else:
            self._event_handlers.appendleft(event_handler)

    def unregister_event_handler(self, event_handler: BaseEventHandler) -> None:
        """Remove a handler."""
        self._event_handlers.remove(event_handler)

    def emit_event_sync(self, event: Event) -> None:
        """Queue an event."""
        self._events.append(event)
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def emit_event(self, event: Event) -> None:
        """Queue an event, from a coroutine."""
        self.emit_event_sync(event)

    def perform_substitution(self, substitution: Substitution) -> str:
        """Return the text of a substitution."""
        return substitution.perform(self)
