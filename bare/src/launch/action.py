# SPDX-License-Identifier: Apache-2.0

"""Base class of all actions."""

from __future__ import annotations

from collections.abc import Iterable

from .conditions import Condition
from .launch_context import LaunchContext
from .launch_description_entity import LaunchDescriptionEntity


class Action(LaunchDescriptionEntity):
    """Something to do when it is visited, if its condition holds."""

    def __init__(self, *, condition: Condition | None = None) -> None:
        """Keep the condition; without one the action is always carried out."""
        self.condition = condition

    def visit(self, context: LaunchContext) -> Iterable[LaunchDescriptionEntity] | None:
        """Execute the action if its condition holds."""
        if self.condition is None or self.condition.evaluate(context):
            return self.execute(context)
        return None

    def execute(self, context: LaunchContext) -> Iterable[LaunchDescriptionEntity] | None:
        """Do the work; may return entities to visit next."""
        raise NotImplementedError(f"{type(self).__name__}.execute")
