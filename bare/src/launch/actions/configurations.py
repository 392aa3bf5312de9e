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

"""Actions on launch configurations."""

from __future__ import annotations

from collections.abc import Mapping

from ..action import Action
from ..condition import Condition
from ..launch_context import LaunchContext
from ..some_types import SomeSubstitutionsType
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions


class SetLaunchConfiguration(Action):
    """Sets a launch configuration, for what follows and what is included."""

    def __init__(
        self,
        name: SomeSubstitutionsType,
        value: SomeSubstitutionsType,
        *,
        condition: Condition | None = None,
    ) -> None:
        """Keep name and value."""
        super().__init__(condition=condition)
        self.name = normalize_to_list_of_substitutions(name)
        self.value = normalize_to_list_of_substitutions(value)

    def execute(self, context: LaunchContext) -> None:
        """Set it."""
        name = perform_substitutions(context, self.name)
        context.launch_configurations[name] = perform_substitutions(context, self.value)


class UnsetLaunchConfiguration(Action):
    """Removes a launch configuration if it is set."""

    def __init__(self, name: SomeSubstitutionsType, *, condition: Condition | None = None) -> None:
        """Keep the name."""
        super().__init__(condition=condition)
        self.name = normalize_to_list_of_substitutions(name)

    def execute(self, context: LaunchContext) -> None:
        """Remove it."""
        context.launch_configurations.pop(perform_substitutions(context, self.name), None)


class PushLaunchConfigurations(Action):
    """Saves the launch configurations."""

    def execute(self, context: LaunchContext) -> None:
        """Save them."""
        context._push_launch_configurations()


class PopLaunchConfigurations(Action):
    """Restores the launch configurations saved last."""

    def execute(self, context: LaunchContext) -> None:
        """Restore them."""
        context._pop_launch_configurations()


class ResetLaunchConfigurations(Action):
    """Clears the launch configurations, except for those given."""

    def __init__(
        self,
        launch_configurations: Mapping[SomeSubstitutionsType, SomeSubstitutionsType] | None = None,
        *,
        condition: Condition | None = None,
    ) -> None:
        """Keep what remains."""
        super().__init__(condition=condition)
        self.launch_configurations = dict(launch_configurations or {})

    def execute(self, context: LaunchContext) -> None:
        """Evaluate what remains, then clear."""
        remaining = {
            perform_substitutions(
                context, normalize_to_list_of_substitutions(name)
            ): perform_substitutions(context, normalize_to_list_of_substitutions(value))
            for name, value in self.launch_configurations.items()
        }
        context.launch_configurations.clear()
        context.launch_configurations.update(remaining)
