"""The action that calls a Python function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..action import Action
from ..condition import Condition
from ..launch_context import LaunchContext
from ..launch_description_entity import LaunchDescriptionEntity


class OpaqueFunction(Action):
    """Calls `function(context, *args, **kwargs)`, which may return entities to visit."""

    def __init__(
        self,
        *,
        function: Callable[..., Iterable[LaunchDescriptionEntity] | None],
        args: Iterable[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        condition: Condition | None = None,
    ) -> None:
        """Keep the function and its arguments."""
        super().__init__(condition=condition)
        if not callable(function):
            raise TypeError(f"OpaqueFunction expected a callable for 'function', got {function!r}")
        self._function = function
        self._args = list(args or ())
        self._kwargs = dict(kwargs or {})

    def execute(self, context: LaunchContext) -> Any:
        """Call the function."""
        return self._function(context, *self._args, **self._kwargs)
