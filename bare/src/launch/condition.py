"""Base of what decides whether an action is executed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class Condition:
    """A predicate on the launch context."""

    def __init__(self, *, predicate: Callable[[LaunchContext], bool] | None = None) -> None:
        """Keep the predicate; a subclass may override `_predicate_func` by passing its own."""
        self._predicate = predicate

    def describe(self) -> str:
        """Return a readable form."""
        return repr(self)

    def evaluate(self, context: LaunchContext) -> bool:
        """Return whether the condition holds."""
        return True if self._predicate is None else self._predicate(context)
