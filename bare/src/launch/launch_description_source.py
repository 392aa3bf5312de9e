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

"""Where a launch description comes from."""

from __future__ import annotations

from .invalid_launch_file_error import InvalidLaunchFileError
from .launch_context import LaunchContext
from .launch_description import LaunchDescription
from .logging import get_logger
from .some_types import SomeSubstitutionsType
from .utilities import normalize_to_list_of_substitutions, perform_substitutions


class LaunchDescriptionSource:
    """A launch description, or the place to load it from once that is known."""

    def __init__(
        self,
        launch_description: LaunchDescription | None = None,
        location: SomeSubstitutionsType = "<string>",
        method: str = "unspecified mechanism from a script",
    ) -> None:
        """Keep the description or its location."""
        self._launch_description = launch_description
        self._location = normalize_to_list_of_substitutions(location)
        self._expanded_location: str | None = None
        self.method = method

    @property
    def location(self) -> str:
        """The location, expanded as soon as it can be."""
        if self._expanded_location is None:
            return " + ".join(sub.describe() for sub in self._location)
        return self._expanded_location

    def try_get_launch_description_without_context(self) -> LaunchDescription | None:
        """Return the description if it can be loaded without a running launch, else None."""
        if self._launch_description is not None:
            return self._launch_description
        try:
            return self._load(perform_substitutions(LaunchContext(), self._location))
        except Exception as error:
            get_logger("launch").debug("cannot load a launch file ahead of time: %s", error)
            return None

    def get_launch_description(self, context: LaunchContext) -> LaunchDescription:
        """Return the description, loading it if necessary."""
        if self._expanded_location is None:
            self._expanded_location = perform_substitutions(context, self._location)
        if self._launch_description is None:
            self._launch_description = self._load(self._expanded_location)
        return self._launch_description

    def _load(self, location: str) -> LaunchDescription:
        raise InvalidLaunchFileError(f"no launch description was given for '{location}'")
