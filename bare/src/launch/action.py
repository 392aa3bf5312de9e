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
