# SPDX-License-Identifier: Apache-2.0

"""Substitutions: plain text, launch configurations, paths, Python expressions."""

from __future__ import annotations

import math
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
    "PythonExpression",
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


class PythonExpression(Substitution):
    """The value of a Python expression, in which the names of `math` are defined."""

    def __init__(self, expression: SomeSubstitutionsType) -> None:
        """Keep the expression."""
        self.expression = normalize_to_list_of_substitutions(expression)

    def describe(self) -> str:
        """Return the expression."""
        return f"PythonExpr({describe_substitutions(self.expression)})"

    def perform(self, context: LaunchContext) -> str:
        """Return the value as text; raise SubstitutionFailure if there is none."""
        expression = perform_substitutions(context, self.expression)
        try:
            return str(eval(expression, {}, vars(math)))
        except Exception as error:
            raise SubstitutionFailure(
                f"the Python expression {expression!r} failed: {error}"
            ) from error
