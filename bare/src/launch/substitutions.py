# SPDX-License-Identifier: Apache-2.0

"""Substitutions: plain text, launch configurations, paths."""

from __future__ import annotations

import os
from collections.abc import Iterable

from .launch_context import LaunchContext
from .some_substitutions_type import SomeSubstitutionsType
from .substitution import Substitution, SubstitutionFailure, TextSubstitution
from .utilities import (
    describe_substitutions,
    normalize_to_list_of_substitutions,
    perform_substitutions,
)

__all__ = [
    "LaunchConfiguration",
    "PathJoinSubstitution",
    "SubstitutionFailure",
    "TextSubstitution",
]


class LaunchConfiguration(Substitution):
    """The value of a launch configuration, such as a launch argument."""

    def __init__(self, variable_name: str) -> None:
        """Keep the name."""
        self.variable_name = variable_name

    def describe(self) -> str:
        """Return the name."""
        return f"LaunchConfig('{self.variable_name}')"

    def perform(self, context: LaunchContext) -> str:
        """Return the value; raise SubstitutionFailure if there is none."""
        try:
            return context.launch_configurations[self.variable_name]
        except KeyError:
            raise SubstitutionFailure(
                f"launch configuration '{self.variable_name}' does not exist"
            ) from None


class PathJoinSubstitution(Substitution):
    """Path components joined with the separator; a component may be a list to concatenate."""

    def __init__(self, substitutions: Iterable[SomeSubstitutionsType]) -> None:
        """Keep the components."""
        self.substitutions = [normalize_to_list_of_substitutions(part) for part in substitutions]

    def describe(self) -> str:
        """Return the components."""
        return f"PathJoin('{' + '.join(describe_substitutions(x) for x in self.substitutions)}')"

    def perform(self, context: LaunchContext) -> str:
        """Return the joined path."""
        return os.path.join(*(perform_substitutions(context, x) for x in self.substitutions))
