# SPDX-License-Identifier: Apache-2.0

"""The event loop of a launch."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import traceback
from collections.abc import Callable, Iterator

from .event import Event
from .event_handlers import OnShutdown
from .events import Shutdown
from .launch_context import LaunchContext
from .launch_description import LaunchDescription
from .logging import get_logger, open_log
from .utilities import visit_all_entities


class LaunchService:
    """Visits a launch description and handles events until nothing is running any more.

    One thing differs from upstream on purpose: SIGTERM and SIGQUIT shut all processes down before
    the launch ends (with return code 1, as upstream) instead of leaving them behind.
    """

    def __init__(self, *, debug: bool = False) -> None:
        """Prepare; `debug` shows tracebacks."""
        self._description = LaunchDescription()
        self._level = logging.DEBUG if debug else logging.INFO
        self._context = LaunchContext()
        self._context.register_event_handler(OnShutdown(on_shutdown=self._begin_shutdown))
        self._return_code = 0

    def include_launch_description(self, launch_description: LaunchDescription) -> None:
        """Keep what is to be launched."""
        self._description = launch_description

    def run(self) -> int:
        """Run until everything has ended; return 0, or 1 if there was an error."""
        open_log(self._level)
        self._logger = get_logger("launch")
        return asyncio.run(self._run())

    async def _run(self) -> int:
        with self._signals():
            self._try(visit_all_entities, self._description, self._context)
            while await self._step():
                pass
        return self._return_code

    def _try(self, function: Callable[..., object], *args: object) -> None:
        """Call a function; an error shuts the launch down, all processes with it."""
        try:
            function(*args)
        except Exception as error:
            message = f"Caught exception in launch (see debug for traceback): {error}"
            self._logger.debug("%s", traceback.format_exc())
            self._logger.error("%s", message)
            self._return_code = 1
            self._shut_down(message)

    async def _step(self) -> bool:
        """Handle an event or wait for something to happen; return whether to go on."""
        event = self._context.next_event()
        if event is not None:
            self._try(self._handle, event)
            # let processes start and their lines be read between two events
            await asyncio.sleep(0)
            return True
        ended = [task for task in self._context.running if task.done()]
        for task in ended:
            self._context.running.remove(task)
            self._try(task.result)
        if ended:
            return True
        if not self._context.running:
            if self._context.is_shutdown:
                return False
            self._shut_down("idle")
            return True
        emitted = asyncio.create_task(self._context.wait_for_event())
        await asyncio.wait([emitted, *self._context.running], return_when=asyncio.FIRST_COMPLETED)
        emitted.cancel()
        return True

    def _handle(self, event: Event) -> None:
        for handler in self._context.handlers_of(event):
            visit_all_entities(handler.handle(event, self._context), self._context)

    def _begin_shutdown(self, _event: Shutdown, context: LaunchContext) -> None:
        context.is_shutdown = True

    def _shut_down(self, reason: str) -> None:
        """Shut down, unless the launch is shutting down already."""
        if not self._context.is_shutdown:
            self._context.is_shutdown = True
            self._context.emit_event_sync(Shutdown(reason=reason))

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """Handle SIGINT, SIGTERM and SIGQUIT while running."""
        interrupted = False

        def on_interrupt() -> None:
            nonlocal interrupted
            again = " again, ignoring..." if interrupted else ""
            self._logger.warning("user interrupted with ctrl-c (SIGINT)%s", again)
            interrupted = True
            self._shut_down("ctrl-c (SIGINT)")

        def on_terminate(signum: signal.Signals) -> None:
            self._logger.error("received %s, shutting down all processes...", signum.name)
            self._return_code = 1
            self._shut_down(signum.name)

        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, on_interrupt)
        for signum in (signal.SIGTERM, signal.SIGQUIT):
            loop.add_signal_handler(signum, on_terminate, signum)
        try:
            yield
        finally:
            for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
                loop.remove_signal_handler(signum)
