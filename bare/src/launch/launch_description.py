# SPDX-License-Identifier: Apache-2.0

"""A launch description: entities in order, and the arguments that they declare."""

from __future__ import annotations

from collections.abc import Iterable

from .actions import DeclareLaunchArgument
from .launch_context import LaunchContext
from .launch_description_entity import LaunchDescriptionEntity


class LaunchDescription(LaunchDescriptionEntity):
    """Description of a launch: its entities."""

    def __init__(self, initial_entities: Iterable[LaunchDescriptionEntity] = ()) -> None:
        """Keep the entities."""
        self.entities = list(initial_entities)

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Yield the entities."""
        return self.entities

    def get_launch_arguments(self) -> list[DeclareLaunchArgument]:
        """Return the declared arguments."""
        return [entity for entity in self.entities if isinstance(entity, DeclareLaunchArgument)]
