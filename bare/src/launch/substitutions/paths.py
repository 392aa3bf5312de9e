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

"""Substitutions that give a path."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable

from ..launch_context import LaunchContext
from ..some_types import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities import (
    normalize_to_list_of_substitutions,
    perform_substitutions,
)
from .substitution_failure import SubstitutionFailure
from .values import describe_all


class PathJoinSubstitution(Substitution):
    """Path components joined with the separator; a component may be a list to concatenate."""

    def __init__(self, substitutions: Iterable[SomeSubstitutionsType]) -> None:
        """Keep the components."""
        self.substitutions = [normalize_to_list_of_substitutions(part) for part in substitutions]

    def describe(self) -> str:
        """Return the components."""
        return f"PathJoin('{' + '.join(describe_all(part) for part in self.substitutions)}')"

    def perform(self, context: LaunchContext) -> str:
        """Return the joined path."""
        return os.path.join(*(perform_substitutions(context, x) for x in self.substitutions))


class FindExecutable(Substitution):
    """The path of a program on the PATH."""

    def __init__(self, *, name: SomeSubstitutionsType) -> None:
        """Keep the name."""
        self.name = normalize_to_list_of_substitutions(name)

    def describe(self) -> str:
        """Return the name."""
        return f"FindExec({describe_all(self.name)})"

    def perform(self, context: LaunchContext) -> str:
        """Return the path or fail."""
        name = perform_substitutions(context, self.name)
        path = shutil.which(name, path=context.environment.get("PATH"))
        if path is None:
            raise SubstitutionFailure(f"executable '{name}' not found on the PATH")
        return path


class ThisLaunchFile(Substitution):
    """The path of the launch file being run."""

    def describe(self) -> str:
        """Return the class's name."""
        return "ThisLaunchFile()"

    def perform(self, context: LaunchContext) -> str:
        """Return the path or fail outside of a launch file."""
        return _current(context, "current_launch_file_path", "ThisLaunchFile")


class ThisLaunchFileDir(Substitution):
    """The folder of the launch file being run."""

    def describe(self) -> str:
        """Return the class's name."""
        return "ThisLaunchFileDir()"

    def perform(self, context: LaunchContext) -> str:
        """Return the folder or fail outside of a launch file."""
        return _current(context, "current_launch_file_directory", "ThisLaunchFileDir")


def _current(context: LaunchContext, key: str, who: str) -> str:
    values = context.get_locals_as_dict()
    if key not in values:
        raise SubstitutionFailure(f"{who} used outside of a launch file (in a script)")
    return values[key]
