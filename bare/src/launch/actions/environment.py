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

"""Actions on the environment that processes inherit."""

from __future__ import annotations

import os

from ..action import Action
from ..condition import Condition
from ..launch_context import LaunchContext
from ..some_types import SomeSubstitutionsType
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions


class SetEnvironmentVariable(Action):
    """Sets an environment variable."""

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
        context.environment[name] = perform_substitutions(context, self.value)


class AppendEnvironmentVariable(SetEnvironmentVariable):
    """Appends to an environment variable, or prepends with `prepend=True`."""

    def __init__(
        self,
        name: SomeSubstitutionsType,
        value: SomeSubstitutionsType,
        *,
        prepend: bool = False,
        separator: str = os.pathsep,
        condition: Condition | None = None,
    ) -> None:
        """Keep name, value and how to join."""
        super().__init__(name, value, condition=condition)
        self.prepend = prepend
        self.separator = separator

    def execute(self, context: LaunchContext) -> None:
        """Append or prepend."""
        name = perform_substitutions(context, self.name)
        parts = [perform_substitutions(context, self.value)]
        if name in context.environment:
            parts.insert(1 if self.prepend else 0, context.environment[name])
        context.environment[name] = self.separator.join(parts)


class UnsetEnvironmentVariable(Action):
    """Removes an environment variable if it is set."""

    def __init__(self, name: SomeSubstitutionsType, *, condition: Condition | None = None) -> None:
        """Keep the name."""
        super().__init__(condition=condition)
        self.name = normalize_to_list_of_substitutions(name)

    def execute(self, context: LaunchContext) -> None:
        """Remove it."""
        context.environment.pop(perform_substitutions(context, self.name), None)


class PushEnvironment(Action):
    """Saves the environment."""

    def execute(self, context: LaunchContext) -> None:
        """Save it."""
        context._push_environment()


class PopEnvironment(Action):
    """Restores the environment saved last."""

    def execute(self, context: LaunchContext) -> None:
        """Restore it."""
        context._pop_environment()


class ResetEnvironment(Action):
    """Restores the environment the launch began with."""

    def execute(self, context: LaunchContext) -> None:
        """Restore it."""
        context._reset_environment()
