# SPDX-License-Identifier: Apache-2.0

"""Base class of everything a launch description may contain."""

from __future__ import annotations

from collections.abc import Iterable

from .launch_context import LaunchContext


class LaunchDescriptionEntity:
    """Something to visit; visiting it may yield further entities."""

    def visit(self, context: LaunchContext) -> Iterable[LaunchDescriptionEntity] | None:
        """Carry it out and return the entities to visit next."""
        return None
