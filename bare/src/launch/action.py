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

"""Base of all actions: entities that execute when their condition holds."""

from __future__ import annotations

from collections.abc import Iterable

from .condition import Condition
from .launch_context import LaunchContext
from .launch_description_entity import LaunchDescriptionEntity


class Action(LaunchDescriptionEntity):
    """An intention, carried out when it is visited and its condition holds."""

    def __init__(self, *, condition: Condition | None = None) -> None:
        """Keep the condition; None means always."""
        self.__condition = condition

    @property
    def condition(self) -> Condition | None:
        """The condition, or None."""
        return self.__condition

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the entities this action yields, as far as they are known before launching."""
        return []

    def describe_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the sub-entities if nothing conditional stands before them."""
        return self.get_sub_entities() if self.condition is None else []

    def describe_conditional_sub_entities(
        self,
    ) -> list[tuple[str, Iterable[LaunchDescriptionEntity]]]:
        """Return the sub-entities if a condition stands before them."""
        if self.condition is None:
            return []
        return [(f"Conditionally included by {self.describe()}", self.get_sub_entities())]

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Execute if the condition holds."""
        if self.__condition is None or self.__condition.evaluate(context):
            return self.execute(context)
        return None

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Do the work; may return entities to visit next."""
        return None
