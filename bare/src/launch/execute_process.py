# SPDX-License-Identifier: Apache-2.0

"""The action that runs a process and looks after it until it has ended."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
from collections.abc import Iterable

from .action import Action
from .child_process import STDERR, STDOUT, ChildProcess
from .event import Event
from .event_handlers import EventHandler, OnShutdown
from .events.process import ProcessExited, ProcessIO, ShutdownProcess
from .launch_context import LaunchContext
from .logging import get_logger, get_output_loggers
from .some_substitutions_type import SomeSubstitutionsType
from .utilities import perform_substitutions

_counter = itertools.count(1)
# The signals that a process gets in turn until it ends, the launch configurations that set the time
# between them, and its default [s].
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
TIMEOUTS = ("sigterm_timeout", "sigkill_timeout")
DEFAULT_TIMEOUT = 5.0


class ExecuteProcess(Action):
    """Runs a command; its output goes to the screen or to the log, its end is an event.

    On shutdown the process gets SIGINT, then SIGTERM, then SIGKILL, five seconds apart unless the
    launch configurations `sigterm_timeout` and `sigkill_timeout` say otherwise. Unlike
    upstream's, every process has a process group of its own: the signals also reach the processes
    that it has started, and a Ctrl-C in the terminal reaches it once, through the launch.
    """

    def __init__(
        self,
        *,
        cmd: Iterable[SomeSubstitutionsType],
        name: str | None = None,
        output: str = "log",
    ) -> None:
        """Keep the description; without a name the process has that of its program.

        `output` is 'screen', or 'log': to the log file, with stderr on the screen too.
        """
        self._cmd = list(cmd)
        self._name = name
        self._output = output
        self._child: ChildProcess | None = None
        self._stopping = False

    def command(self, context: LaunchContext) -> list[str]:
        """Return the words of the command."""
        return [perform_substitutions(context, part) for part in self._cmd]

    def execute(self, context: LaunchContext) -> None:
        """Start the process, unless the launch is already shutting down."""
        words = self.command(context)
        if context.is_shutdown:
            return
        self.name = f"{self._name or os.path.basename(words[0])}-{next(_counter)}"
        self._logger = get_logger(self.name)
        loggers = get_output_loggers(self.name, self._output)
        self._output_loggers = dict(zip((STDOUT, STDERR), loggers, strict=True))
        self._timeouts = [
            float(context.launch_configurations.get(name, DEFAULT_TIMEOUT)) for name in TIMEOUTS
        ]
        context.register_event_handler(
            EventHandler(
                matcher=lambda e: isinstance(e, ShutdownProcess) and e.process_matcher(self),
                reaction=self._stop,
            )
        )
        context.register_event_handler(OnShutdown(on_shutdown=self._stop))
        context.running.append(asyncio.get_running_loop().create_task(self._run(context, words)))

    async def _run(self, context: LaunchContext, words: list[str]) -> None:
        if self._stopping:
            return
        child = ChildProcess(
            lambda pid: self._logger.info("process started with pid [%d]", pid),
            lambda *line: self._on_line(context, *line),
        )
        await child.start(words)
        self._child, pid = child, child.pid
        if self._stopping:
            self._begin_escalation()
        code = await child.wait()
        if code == 0:
            self._logger.info("process has finished cleanly [pid %d]", pid)
        else:
            self._logger.error(
                "process has died [pid %d, exit code %d, cmd '%s'].", pid, code, " ".join(words)
            )
        context.emit_event_sync(ProcessExited(returncode=code, action=self, process_name=self.name))

    def _on_line(self, context: LaunchContext, source: int, line: str) -> None:
        self._output_loggers[source].info("[%s] %s", self.name, line)
        event = ProcessIO(text=f"{line}\n".encode(), fd=1 if source == STDOUT else 2, action=self)
        if context.handlers_of(event):
            context.emit_event_sync(event)

    def _stop(self, _event: Event, _context: LaunchContext) -> None:
        """Begin to shut the process down, unless that has begun already."""
        if not self._stopping:
            self._stopping = True
            if self._child is not None and not self._child.has_ended:
                self._begin_escalation()

    def _begin_escalation(self) -> None:
        # kept here, because the event loop keeps no reference to its tasks
        self._escalation = asyncio.get_running_loop().create_task(self._escalate())

    async def _escalate(self) -> None:
        self._send(SIGNALS[0])
        for before, after, timeout in zip(SIGNALS, SIGNALS[1:], self._timeouts, strict=False):
            await asyncio.sleep(timeout)
            if self._child.has_ended:
                return
            self._logger.error(
                "process[%s] failed to terminate '%g' seconds after receiving '%s', "
                "escalating to '%s'",
                self.name,
                timeout,
                before.name,
                after.name,
            )
            self._send(after)

    def _send(self, signum: signal.Signals) -> None:
        self._logger.info("sending signal '%s' to process[%s]", signum.name, self.name)
        self._child.send_signal(signum)
