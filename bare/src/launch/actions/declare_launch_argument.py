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

"""The action that declares an argument of a launch file."""

from __future__ import annotations

from collections.abc import Sequence

from ..action import Action
from ..condition import Condition
from ..launch_context import LaunchContext
from ..logging import get_logger
from ..some_types import SomeSubstitutionsType
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions


class DeclareLaunchArgument(Action):
    """Declares an argument; its value is the launch configuration of the same name.

    Without a default the argument is required; with choices any other value is refused.
    """

    def __init__(
        self,
        name: str,
        *,
        default_value: SomeSubstitutionsType | None = None,
        description: str | None = None,
        choices: Sequence[str] | None = None,
        condition: Condition | None = None,
    ) -> None:
        """Keep the declaration; a plain default outside the choices is an error at once."""
        super().__init__(condition=condition)
        self.name = name
        self.choices = None if choices is None else list(choices)
        self.default_value = (
            None if default_value is None else normalize_to_list_of_substitutions(default_value)
        )
        if self.choices is not None:
            if not self.choices:
                raise RuntimeError(
                    "Provided choices arg is empty. Use None to ignore the choice list."
                )
            if isinstance(default_value, str) and default_value not in self.choices:
                raise RuntimeError(
                    f'Provided default_value "{default_value}" is not in provided choices '
                    f'"{self.choices}".'
                )
        self.description = self._describe(description)
        # Set while the arguments of a launch description are listed.
        self._conditionally_included = False

    def _describe(self, description: str | None) -> str:
        if self.choices is None:
            return description or "no description given"
        if description is None:
            return f"One of: {self.choices}"
        stop = "" if description.endswith(".") else "."
        return f"{description}{stop} Valid choices are: {self.choices}"

    def execute(self, context: LaunchContext) -> None:
        """Take the default if no value is given, and check the value."""
        logger = get_logger("launch.actions.declare_launch_argument")
        if self.name not in context.launch_configurations:
            if self.default_value is None:
                logger.error(
                    'Required launch argument "%s" (description: "%s") was not provided',
                    self.name,
                    self.description,
                )
                raise RuntimeError(f'Required launch argument "{self.name}" was not provided.')
            value = perform_substitutions(context, self.default_value)
            context.launch_configurations[self.name] = value
        value = context.launch_configurations[self.name]
        if self.choices is not None and value not in self.choices:
            message = (
                f'Argument "{self.name}" provided value "{value}" is not valid. '
                f"Valid options are: {self.choices}"
            )
            logger.error("%s", message)
            raise RuntimeError(message)
