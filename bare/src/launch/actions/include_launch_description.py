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

"""The action that includes another launch file."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ..action import Action
from ..condition import Condition
from ..launch_context import LaunchContext
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_types import SomeSubstitutionsType
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions
from .configurations import SetLaunchConfiguration


class IncludeLaunchDescription(Action):
    """Includes a launch description and sets its arguments.

    As upstream, the arguments are launch configurations that stay set after the include (put it
    into a GroupAction to avoid that), an unknown argument is no error, and a required one that is
    missing is an error before anything of the file is visited.
    """

    def __init__(
        self,
        launch_description_source: object,
        *,
        launch_arguments: Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]]
        | None = None,
        condition: Condition | None = None,
    ) -> None:
        """Keep the source (a path is a source too) and the arguments."""
        from ..launch_description_source import LaunchDescriptionSource
        from ..launch_description_sources import AnyLaunchDescriptionSource

        super().__init__(condition=condition)
        if not isinstance(launch_description_source, LaunchDescriptionSource):
            launch_description_source = AnyLaunchDescriptionSource(launch_description_source)
        self.launch_description_source: LaunchDescriptionSource = launch_description_source
        self.launch_arguments = tuple(launch_arguments or ())

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the included description if it can be loaded already."""
        found = self.launch_description_source.try_get_launch_description_without_context()
        return [] if found is None else [found]

    def _argument_names(self, context: LaunchContext) -> list[str]:
        return [
            perform_substitutions(context, normalize_to_list_of_substitutions(name))
            for name, _ in self.launch_arguments
        ]

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Load the description and yield its arguments and itself."""
        description = self.launch_description_source.get_launch_description(context)
        path = os.path.abspath(self.launch_description_source.location)
        exists = os.path.exists(path)
        context.extend_locals(
            {
                "current_launch_file_path": path,
                "current_launch_file_directory": os.path.dirname(path)
                if exists
                else self.launch_description_source.location,
            }
        )
        given = self._argument_names(context)
        found = description.get_launch_arguments_with_include_launch_description_actions()
        for argument, includes in found:
            required = argument.default_value is None and not argument._conditionally_included
            # An include further down may give what its file requires.
            known = {*given, *(n for i in includes for n in i._argument_names(LaunchContext()))}
            if required and argument.name not in known:
                raise RuntimeError(
                    f"Included launch description missing required argument '{argument.name}' "
                    f"(description: '{argument.description}'), given: [{', '.join(given)}]"
                )
        settings = [SetLaunchConfiguration(name, value) for name, value in self.launch_arguments]
        return [*settings, description]
