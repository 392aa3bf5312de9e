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

"""The event loop of a launch."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
import traceback
from collections.abc import Iterable, Iterator

from .event import Event
from .event_handler import EventHandler
from .event_handlers import OnShutdown
from .events import IncludeLaunchDescription, Shutdown
from .launch_context import LaunchContext
from .launch_description import LaunchDescription
from .launch_description_entity import LaunchDescriptionEntity
from .logging import get_logger, launch_config, log_launch_config
from .utilities import normalize_to_list_of_entities, visit_all_entities_and_collect_futures

DEBUG = 10


class LaunchService:
    """Visits launch descriptions and handles events until nothing is going on any more.

    One thing differs from upstream on purpose: SIGTERM and SIGQUIT shut all processes down before
    the launch ends (with return code 1 as upstream), instead of leaving orphans behind.
    """

    def __init__(
        self,
        *,
        argv: Iterable[str] | None = None,
        noninteractive: bool = False,
        debug: bool = False,
    ) -> None:
        """Prepare; `debug` shows tracebacks and debug messages."""
        launch_config.level = DEBUG if debug else 20
        self._logger = get_logger("launch")
        self._context = LaunchContext(argv=argv, noninteractive=noninteractive)
        self._context.register_event_handler(
            EventHandlerForIncludes(matcher=lambda e: isinstance(e, IncludeLaunchDescription))
        )
        self._context.register_event_handler(OnShutdown(on_shutdown=self._on_shutdown))
        self._running: list[tuple[LaunchDescriptionEntity, asyncio.Future[None]]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._shutting_down = False
        self._return_code = 0

    @property
    def context(self) -> LaunchContext:
        """The launch context."""
        return self._context

    @property
    def event_loop(self) -> asyncio.AbstractEventLoop | None:
        """The running event loop, if any."""
        return self._loop

    def emit_event(self, event: Event) -> None:
        """Queue an event, from any thread."""
        if self._loop is None or threading.current_thread() is threading.main_thread():
            self._context.emit_event_sync(event)
        else:
            self._loop.call_soon_threadsafe(self._context.emit_event_sync, event)

    def include_launch_description(self, launch_description: LaunchDescription) -> None:
        """Have a launch description visited, from any thread."""
        self.emit_event(IncludeLaunchDescription(launch_description))

    def shutdown(self, force_sync: bool = False) -> None:
        """Shut down, from any thread; does nothing when not running."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._shutdown, "LaunchService.shutdown() called")

    def run(self, *, shutdown_when_idle: bool = True) -> int:
        """Run until everything has ended; return 0, or 1 if there was an error."""
        return asyncio.run(self.run_async(shutdown_when_idle=shutdown_when_idle))

    async def run_async(self, *, shutdown_when_idle: bool = True) -> int:
        """Run inside an event loop that is already there, in the main thread."""
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("LaunchService can only be run in the main thread.")
        self._loop = asyncio.get_running_loop()
        self._context._asyncio_loop = self._loop
        log_launch_config(logger=self._logger)
        try:
            with self._signals():
                while True:
                    try:
                        if not await self._step(shutdown_when_idle):
                            return self._return_code
                    except Exception as error:
                        self._fail(error)
        finally:
            self._loop = self._context._asyncio_loop = None

    def _fail(self, error: Exception) -> None:
        message = f"Caught exception in launch (see debug for traceback): {error}"
        self._logger.debug("%s", traceback.format_exc())
        self._logger.error("%s", message)
        self._return_code = 1
        # Keep running: the processes are still to be shut down properly.
        self._shutdown(message)

    async def _step(self, shutdown_when_idle: bool) -> bool:
        """Handle one event or wait for something to happen; return whether to go on."""
        if self._context._events:
            self._process_event(self._context._events.popleft())
            # Let processes start and lines be read between two events.
            await asyncio.sleep(0)
            return True
        self._collect_finished()
        if not self._running:
            if self._shutting_down:
                return False
            if shutdown_when_idle:
                self._shutdown("idle")
                return True
        self._context._wake = asyncio.get_running_loop().create_future()
        await asyncio.wait(
            [self._context._wake, *(future for _, future in self._running)],
            return_when=asyncio.FIRST_COMPLETED,
        )
        return True

    def _collect_finished(self) -> None:
        finished = [future for _, future in self._running if future.done()]
        self._running = [pair for pair in self._running if not pair[1].done()]
        for future in finished:
            if not future.cancelled():
                future.result()

    def _process_event(self, event: Event) -> None:
        for handler in tuple(self._context._event_handlers):
            if not handler.matches(event):
                continue
            self._context._push_locals()
            try:
                entities = handler.handle(event, self._context)
                for entity in normalize_to_list_of_entities(entities or []):
                    self._running += visit_all_entities_and_collect_futures(entity, self._context)
            finally:
                self._context._pop_locals()

    def _on_shutdown(self, event: Shutdown, context: LaunchContext) -> None:
        self._shutting_down = context._is_shutdown = True

    def _shutdown(self, reason: str, *, due_to_sigint: bool = False) -> None:
        if not self._shutting_down:
            self._context.emit_event_sync(Shutdown(reason=reason, due_to_sigint=due_to_sigint))
        self._shutting_down = self._context._is_shutdown = True

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """Handle SIGINT, SIGTERM and SIGQUIT while running."""
        interrupted = False

        def on_interrupt() -> None:
            nonlocal interrupted
            again = " again, ignoring..." if interrupted else ""
            self._logger.warning("user interrupted with ctrl-c (SIGINT)%s", again)
            interrupted = True
            self._shutdown("ctrl-c (SIGINT)", due_to_sigint=True)

        def on_terminate(signum: signal.Signals) -> None:
            self._logger.error("received %s, shutting down all processes...", signum.name)
            self._return_code = 1
            self._shutdown(signum.name)

        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, on_interrupt)
        for signum in (signal.SIGTERM, signal.SIGQUIT):
            loop.add_signal_handler(signum, on_terminate, signum)
        try:
            yield
        finally:
            for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
                loop.remove_signal_handler(signum)


class EventHandlerForIncludes(EventHandler):
    """Visits the launch description that an event carries."""

    def handle(self, event: IncludeLaunchDescription, context: LaunchContext) -> LaunchDescription:
        """Yield the description."""
        super().handle(event, context)
        return event.launch_description
