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

"""A launch description: entities in order, and the arguments that they declare."""

from __future__ import annotations

from collections.abc import Iterable

from .actions import DeclareLaunchArgument
from .launch_context import LaunchContext
from .launch_description_entity import LaunchDescriptionEntity


class LaunchDescription(LaunchDescriptionEntity):
    """What is to be launched."""

    def __init__(self, initial_entities: Iterable[LaunchDescriptionEntity] = ()) -> None:
        """Keep the entities."""
        self.entities = list(initial_entities)

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Yield the entities."""
        return self.entities

    def get_launch_arguments(self) -> list[DeclareLaunchArgument]:
        """Return the declared arguments."""
        return [entity for entity in self.entities if isinstance(entity, DeclareLaunchArgument)]
