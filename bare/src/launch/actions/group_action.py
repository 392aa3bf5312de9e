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

"""The action that groups others in a scope of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..action import Action
from ..condition import Condition
from ..launch_context import LaunchContext
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_types import SomeSubstitutionsType
from .configurations import (
    PopLaunchConfigurations,
    PushLaunchConfigurations,
    ResetLaunchConfigurations,
    SetLaunchConfiguration,
)
from .environment import PopEnvironment, PushEnvironment, ResetEnvironment


class GroupAction(Action):
    """Yields actions; with `scoped`, what they set ends with the group.

    With `forwarding=False` the group sees no launch configurations but those given to it.
    """

    def __init__(
        self,
        actions: Iterable[LaunchDescriptionEntity],
        *,
        scoped: bool = True,
        forwarding: bool = True,
        launch_configurations: Mapping[SomeSubstitutionsType, SomeSubstitutionsType] | None = None,
        condition: Condition | None = None,
    ) -> None:
        """Keep the actions and the scope."""
        super().__init__(condition=condition)
        configurations = dict(launch_configurations or {})
        inside: list[LaunchDescriptionEntity] = []
        if scoped and not forwarding:
            inside = [ResetEnvironment(), ResetLaunchConfigurations(configurations)]
        else:
            inside = [SetLaunchConfiguration(k, v) for k, v in configurations.items()]
        inside += actions
        if scoped:
            before = [PushLaunchConfigurations(), PushEnvironment()]
            inside = [*before, *inside, PopEnvironment(), PopLaunchConfigurations()]
        self._entities = inside

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the actions with what makes the scope around them."""
        return self._entities

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Yield them."""
        return self._entities
