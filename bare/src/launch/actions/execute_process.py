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

"""The action that runs a process and looks after it until it has ended."""

from __future__ import annotations

import asyncio
import itertools
import os
import shlex
import signal
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..action import Action
from ..condition import Condition
from ..conditions import evaluate_condition_expression
from ..event_handler import BaseEventHandler, EventHandler
from ..event_handlers import OnProcessExit, OnShutdown
from ..events.process import (
    ProcessExited,
    ProcessStarted,
    ProcessStderr,
    ProcessStdout,
    ShutdownProcess,
    SignalProcess,
)
from ..launch_context import LaunchContext
from ..launch_description_entity import LaunchDescriptionEntity
from ..logging import get_logger, get_output_loggers
from ..some_types import SomeEntitiesType, SomeSubstitutionsType
from ..substitutions import LaunchConfiguration, TextSubstitution
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions
from ..utilities.type_utils import normalize_typed_substitution, perform_typed_substitution
from .child_process import ChildProcess
from .opaque_function import OpaqueFunction

_counter = itertools.count(1)

Environment = Mapping[SomeSubstitutionsType, SomeSubstitutionsType]


class ExecuteProcess(Action):
    """Runs a command; its lines go where `output` says, its end is an event.

    On shutdown the process gets SIGINT, after `sigterm_timeout` seconds SIGTERM, and
    `sigkill_timeout` seconds later SIGKILL. Other than upstream, every process has a process group
    of its own: the signals reach what it started as well, and a Ctrl-C in the terminal reaches it
    once, through the launch. Not offered: `output_format`, `cached_output`.
    """

    def __init__(
        self,
        *,
        cmd: Iterable[SomeSubstitutionsType],
        prefix: SomeSubstitutionsType | None = None,
        name: SomeSubstitutionsType | None = None,
        cwd: SomeSubstitutionsType | None = None,
        env: Environment | None = None,
        additional_env: Environment | None = None,
        shell: bool = False,
        sigterm_timeout: SomeSubstitutionsType | None = None,
        sigkill_timeout: SomeSubstitutionsType | None = None,
        emulate_tty: bool = False,
        output: SomeSubstitutionsType | dict = "log",
        log_cmd: bool = False,
        on_exit: SomeEntitiesType | Callable[..., Any] | None = None,
        respawn: bool | SomeSubstitutionsType = False,
        respawn_delay: float | None = None,
        respawn_max_retries: int = -1,
        condition: Condition | None = None,
    ) -> None:
        """Keep the description; see upstream's ExecuteLocal for the meaning of each argument."""
        super().__init__(condition=condition)

        def optional(value: SomeSubstitutionsType | None) -> list | None:
            return None if value is None else normalize_to_list_of_substitutions(value)

        self._cmd = [normalize_to_list_of_substitutions(part) for part in cmd]
        self._prefix = normalize_to_list_of_substitutions(
            LaunchConfiguration("launch-prefix", default="") if prefix is None else prefix
        )
        self._name = optional(name)
        self._cwd = optional(cwd)
        self._env = env
        self._additional_env = additional_env or {}
        self._shell = shell
        self._timeouts = [
            normalize_to_list_of_substitutions(
                LaunchConfiguration(f"{key}_timeout", default=5) if given is None else given
            )
            for key, given in (("sigterm", sigterm_timeout), ("sigkill", sigkill_timeout))
        ]
        self._emulate_tty = emulate_tty
        override = os.environ.get("OVERRIDE_LAUNCH_PROCESS_OUTPUT", output)
        self._output = (
            override if isinstance(override, dict) else normalize_to_list_of_substitutions(override)
        )
        self._log_cmd = log_cmd
        self._on_exit = on_exit
        self._respawn = normalize_typed_substitution(respawn, bool)
        self._respawn_delay = respawn_delay
        self._retries_left = respawn_max_retries if respawn_max_retries >= 0 else None
        self._details: dict[str, Any] | None = None
        self._child: ChildProcess | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping: asyncio.Event | None = None
        self._escalation: asyncio.Task[None] | None = None

    @property
    def process_details(self) -> dict[str, Any] | None:
        """Name, command, folder, environment and pid of the process; None before it starts."""
        return self._details

    @property
    def return_code(self) -> int | None:
        """The return code, negative for a signal; None while it runs."""
        return None if self._child is None else self._child.returncode

    @property
    def name(self) -> str | None:
        """The final name such as 'talker-1', known once the process is prepared."""
        return None if self._details is None else self._details["name"]

    @property
    def cmd(self) -> list:
        """The command: substitutions before, words after the process is prepared."""
        return self._cmd if self._details is None else self._details["cmd"]

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the on_exit entities, if that is what they are."""
        return self._on_exit if isinstance(self._on_exit, list) else []

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        """Return a future that is done when the process has ended for good."""
        return self._task

    def _prepare(self, context: LaunchContext) -> None:
        def text(some: SomeSubstitutionsType) -> str:
            return perform_substitutions(context, normalize_to_list_of_substitutions(some))

        cmd = [text(part) for part in self._cmd]
        label = os.path.basename(cmd[0]) if self._name is None else text(self._name)
        inherited = context.environment if self._env is None else self._env
        env = (
            dict(inherited)
            if self._env is None
            else {text(key): text(value) for key, value in inherited.items()}
        )
        env.update({text(key): text(value) for key, value in self._additional_env.items()})
        self._details = {
            "action": self,
            "name": f"{label}-{next(_counter)}",
            "cmd": [*shlex.split(text(self._prefix)), *cmd],
            "cwd": None if self._cwd is None else text(self._cwd),
            "env": env,
        }

    def execute(self, context: LaunchContext) -> None:
        """Start the process, unless the launch is already shutting down."""
        if self._details is not None:
            raise RuntimeError(f"ExecuteProcess action '{self.name}': executed more than once")
        self._prepare(context)
        if context.is_shutdown:
            return
        self._logger = get_logger(self.name)
        output = self._output
        if not isinstance(output, dict):
            output = perform_substitutions(context, output)
        self._output_loggers = get_output_loggers(self.name, output)
        self._respawn = perform_typed_substitution(context, self._respawn, bool)
        self._timeouts = [float(perform_substitutions(context, x)) for x in self._timeouts]
        if "emulate_tty" in context.launch_configurations:
            setting = TextSubstitution(text=context.launch_configurations["emulate_tty"])
            self._emulate_tty = evaluate_condition_expression(context, [setting])
        self._stopping = asyncio.Event()
        for handler in self._event_handlers():
            context.register_event_handler(handler)
        self._task = context.asyncio_loop.create_task(self._run(context))

    def _event_handlers(self) -> list[BaseEventHandler]:
        return [
            EventHandler(
                matcher=lambda e: isinstance(e, ShutdownProcess) and e.process_matcher(self),
                entities=OpaqueFunction(function=lambda _: self._stop()),
            ),
            EventHandler(
                matcher=lambda e: isinstance(e, SignalProcess) and e.process_matcher(self),
                entities=OpaqueFunction(function=lambda c: self._signal(c.locals.event.signal)),
            ),
            OnShutdown(on_shutdown=lambda event, context: self._stop()),
            OnProcessExit(target_action=self, on_exit=self._on_exit),
        ]

    async def _run(self, context: LaunchContext) -> None:
        try:
            while not self._stopping.is_set():
                if not await self._run_once(context) or not self._respawn:
                    return
                if self._retries_left == 0:
                    return
                if self._retries_left is not None:
                    self._retries_left -= 1
                # A shutdown must not have to wait for the delay.
                wait = asyncio.wait_for(self._stopping.wait(), self._respawn_delay or 0.0)
                await asyncio.gather(wait, return_exceptions=True)
        finally:
            if self._escalation is not None:
                self._escalation.cancel()

    async def _run_once(self, context: LaunchContext) -> bool:
        details = self._details
        command = " ".join(part for part in details["cmd"] if part.strip())
        if self._log_cmd:
            self._logger.info(
                "process details: cmd='%s', cwd='%s', custom_env?=%s",
                command,
                details["cwd"],
                self._env is not None or bool(self._additional_env),
            )
        try:
            self._child = ChildProcess(
                command if self._shell else details["cmd"],
                cwd=details["cwd"],
                env=details["env"],
                emulate_tty=self._emulate_tty,
                on_line=lambda source, line: self._on_line(context, source, line),
            )
        except OSError as error:
            self._logger.error("exception occurred while executing process: %s", error)
            return False
        details["pid"] = self._child.pid
        self._logger.info("process started with pid [%d]", self._child.pid)
        context.emit_event_sync(ProcessStarted(**details))
        returncode = await self._child.wait()
        if returncode == 0:
            self._logger.info("process has finished cleanly [pid %d]", self._child.pid)
        else:
            self._logger.error(
                "process has died [pid %d, exit code %d, cmd '%s'].",
                self._child.pid,
                returncode,
                command,
            )
        context.emit_event_sync(ProcessExited(returncode=returncode, **details))
        return True

    def _on_line(self, context: LaunchContext, source: int, line: str) -> None:
        self._output_loggers[source].info("%s", f"[{self.name}] {line}")
        event_type = (ProcessStdout, ProcessStderr)[source]
        event = event_type(text=f"{line}\n".encode(), **self._details)
        if context.would_handle_event(event):
            context.emit_event_sync(event)

    def _signal(self, signum: signal.Signals) -> None:
        if self._child is None:
            raise RuntimeError("Signal event received before execution.")
        if self._child.returncode is None:
            self._logger.info("sending signal '%s' to process[%s]", signum.name, self.name)
            self._child.send_signal(signum)

    def _stop(self) -> None:
        """Begin the shutdown of the process, once."""
        if self._stopping.is_set():
            return
        self._stopping.set()
        if self._child is not None and self._child.returncode is None:
            self._escalation = asyncio.get_running_loop().create_task(self._escalate())

    async def _escalate(self) -> None:
        self._signal(signal.SIGINT)
        before = signal.SIGINT
        for timeout, signum in zip(self._timeouts, (signal.SIGTERM, signal.SIGKILL), strict=True):
            await asyncio.sleep(timeout)
            self._logger.error(
                "process[%s] failed to terminate '%g' seconds after receiving '%s', "
                "escalating to '%s'",
                self.name,
                timeout,
                before.name,
                signum.name,
            )
            self._signal(signum)
            before = signum
