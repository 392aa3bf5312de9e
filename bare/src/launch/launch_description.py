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

"""A launch description: entities in order, and the arguments they declare."""

from __future__ import annotations

from collections.abc import Iterable

from .action import Action
from .actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    ResetLaunchConfigurations,
)
from .launch_context import LaunchContext
from .launch_description_entity import LaunchDescriptionEntity

__all__ = ["LaunchDescription"]


class LaunchDescription(LaunchDescriptionEntity):
    """What is to be launched."""

    def __init__(self, initial_entities: Iterable[LaunchDescriptionEntity] | None = None) -> None:
        """Keep the entities."""
        self.entities = list(initial_entities) if initial_entities is not None else []

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Yield the entities."""
        return self.entities

    def describe_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the entities."""
        return self.entities

    def add_entity(self, entity: LaunchDescriptionEntity) -> None:
        """Append an entity."""
        self.entities.append(entity)

    def add_action(self, action: Action) -> None:
        """Append an action."""
        self.add_entity(action)

    def get_launch_arguments(
        self, conditional_inclusion: bool = False
    ) -> list[DeclareLaunchArgument]:
        """Return the declared arguments, also those of included files that can be read already.

        The first declaration of a name counts. What stands behind a condition is marked, and what
        follows a reset of the launch configurations cannot be set from outside and is left out.
        """
        found = self.get_launch_arguments_with_include_launch_description_actions(
            conditional_inclusion
        )
        return [argument for argument, _ in found]

    def get_launch_arguments_with_include_launch_description_actions(
        self, conditional_inclusion: bool = False
    ) -> list[tuple[DeclareLaunchArgument, list[IncludeLaunchDescription]]]:
        """Return the declared arguments, each with the includes that lead to it."""
        found: dict[str, tuple[DeclareLaunchArgument, list[IncludeLaunchDescription]]] = {}

        def search(
            entities: Iterable[LaunchDescriptionEntity],
            conditional: bool,
            includes: list[IncludeLaunchDescription],
        ) -> None:
            for entity in entities:
                if isinstance(entity, ResetLaunchConfigurations):
                    return
                if isinstance(entity, DeclareLaunchArgument) and entity.name not in found:
                    entity._conditionally_included = conditional or entity.condition is not None
                    found[entity.name] = entity, includes
                is_include = isinstance(entity, IncludeLaunchDescription)
                inside = [*includes, entity] if is_include else includes
                search(entity.describe_sub_entities(), conditional, inside)
                for _, sub_entities in entity.describe_conditional_sub_entities():
                    search(sub_entities, True, inside)

        search(self.entities, conditional_inclusion, [])
        return list(found.values())
