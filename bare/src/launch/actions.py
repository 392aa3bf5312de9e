# SPDX-License-Identifier: Apache-2.0

"""The actions that robodyn's launch files use, under upstream's names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .action import Action
from .event import Event
from .event_handlers import EventHandler
from .execute_process import ExecuteProcess
from .launch_context import LaunchContext
from .logging import get_logger
from .some_substitutions_type import SomeSubstitutionsType
from .utilities import normalize_to_list_of_substitutions, perform_substitutions

__all__ = [
    "DeclareLaunchArgument",
    "EmitEvent",
    "ExecuteProcess",
    "LogInfo",
    "OpaqueFunction",
    "RegisterEventHandler",
    "SetLaunchConfiguration",
]


class DeclareLaunchArgument(Action):
    """Declares an argument: a launch configuration that can be set on the command line."""

    def __init__(
        self,
        name: str,
        *,
        default_value: SomeSubstitutionsType,
        description: str,
        choices: Sequence[str] | None = None,
    ) -> None:
        """Keep the declaration; with `choices` no other value is accepted."""
        super().__init__()
        self.name = name
        self.default_value = normalize_to_list_of_substitutions(default_value)
        self.choices = choices
        stop = "" if description.endswith(".") else "."
        options = "" if choices is None else f"{stop} Valid choices are: {[*choices]}"
        self.description = description + options

    def execute(self, context: LaunchContext) -> None:
        """Use the default if no value is given, and check the value."""
        values = context.launch_configurations
        if self.name not in values:
            values[self.name] = perform_substitutions(context, self.default_value)
        if self.choices is not None and values[self.name] not in self.choices:
            message = (
                f'Argument "{self.name}" provided value "{values[self.name]}" is not valid. '
                f"Valid options are: {[*self.choices]}"
            )
            # like upstream, whose caller logs the message again
            get_logger("launch.actions.declare_launch_argument").error(message)
            raise RuntimeError(message)


class EmitEvent(Action):
    """Emits an event."""

    def __init__(self, *, event: Event) -> None:
        """Keep the event."""
        super().__init__()
        self.event = event

    def execute(self, context: LaunchContext) -> None:
        """Queue the event."""
        context.emit_event_sync(self.event)


class LogInfo(Action):
    """Logs a message as `[INFO] [launch.user]: ...`."""

    def __init__(self, *, msg: SomeSubstitutionsType) -> None:
        """Keep the message."""
        super().__init__()
        self.msg = normalize_to_list_of_substitutions(msg)

    def execute(self, context: LaunchContext) -> None:
        """Log it."""
        get_logger("launch.user").info("%s", perform_substitutions(context, self.msg))


class OpaqueFunction(Action):
    """Calls `function(context, *args)`, which may return entities to visit."""

    def __init__(self, *, function: Callable[..., Any], args: Iterable[Any] = ()) -> None:
        """Keep the function and its arguments."""
        super().__init__()
        self._function = function
        self._args = list(args)

    def execute(self, context: LaunchContext) -> Any:
        """Call the function."""
        return self._function(context, *self._args)


class RegisterEventHandler(Action):
    """Registers an event handler."""

    def __init__(self, event_handler: EventHandler) -> None:
        """Keep the handler."""
        super().__init__()
        self.event_handler = event_handler

    def execute(self, context: LaunchContext) -> None:
        """Register it."""
        context.register_event_handler(self.event_handler)


class SetLaunchConfiguration(Action):
    """Sets a launch configuration."""

    def __init__(self, name: str, value: SomeSubstitutionsType) -> None:
        """Keep name and value."""
        super().__init__()
        self.name = name
        self.value = normalize_to_list_of_substitutions(value)

    def execute(self, context: LaunchContext) -> None:
        """Set it."""
        context.launch_configurations[self.name] = perform_substitutions(context, self.value)
