# SPDX-License-Identifier: Apache-2.0

"""Base class of all actions."""

from __future__ import annotations

from collections.abc import Iterable

from .launch_context import LaunchContext
from .launch_description_entity import LaunchDescriptionEntity


class Action(LaunchDescriptionEntity):
    """Something to do when it is visited."""

    def visit(self, context: LaunchContext) -> Iterable[LaunchDescriptionEntity] | None:
        """Execute the action."""
        return self.execute(context)

    def execute(self, context: LaunchContext) -> Iterable[LaunchDescriptionEntity] | None:
        """Do the work; may return entities to visit next."""
        raise NotImplementedError(f"{type(self).__name__}.execute")
