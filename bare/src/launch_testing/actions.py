"""Actions that a launch test adds to a launch description."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from launch import Action, LaunchContext


class ReadyToTest(Action):
    """From here on the tests may run."""

    def __init__(self, **kwargs: Any) -> None:
        """Take what every action takes."""
        super().__init__(**kwargs)
        self._ready: Callable[[], object] | None = None

    def _add_callback(self, ready: Callable[[], object]) -> None:
        self._ready = ready

    def execute(self, context: LaunchContext) -> None:
        """Let the tests begin."""
        if self._ready is not None:
            self._ready()
