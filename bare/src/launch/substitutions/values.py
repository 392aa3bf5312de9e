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

"""Substitutions that look a value up: plain text, launch configuration, environment, locals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..launch_context import LaunchContext
from ..some_types import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions
from .substitution_failure import SubstitutionFailure


def describe_all(subs: Iterable[Substitution]) -> str:
    """Return the readable form of several substitutions in a row."""
    return " + ".join(sub.describe() for sub in subs)


class TextSubstitution(Substitution):
    """Plain text."""

    def __init__(self, *, text: str) -> None:
        """Keep the text."""
        if not isinstance(text, str):
            raise TypeError(f"TextSubstitution expected text, got {text!r}")
        self.text = text

    def describe(self) -> str:
        """Return the text in quotes."""
        return f"'{self.text}'"

    def perform(self, context: LaunchContext) -> str:
        """Return the text."""
        return self.text


class LaunchConfiguration(Substitution):
    """The value of a launch configuration, such as a launch argument."""

    def __init__(self, variable_name: SomeSubstitutionsType, *, default: Any = None) -> None:
        """Keep the name; a default that is not text is converted with `str`."""
        self.variable_name = normalize_to_list_of_substitutions(variable_name)
        self._default: list[Substitution] | None = None
        if default is not None:
            is_list = isinstance(default, Iterable) and not isinstance(default, str)
            items = default if is_list else [default]
            self._default = normalize_to_list_of_substitutions(
                [x if isinstance(x, (str, Substitution)) else str(x) for x in items]
            )

    def describe(self) -> str:
        """Return the name."""
        return f"LaunchConfig({describe_all(self.variable_name)})"

    def perform(self, context: LaunchContext) -> str:
        """Return the configuration, the default, or fail."""
        name = perform_substitutions(context, self.variable_name)
        if name in context.launch_configurations:
            return context.launch_configurations[name]
        if self._default is None:
            raise SubstitutionFailure(f"launch configuration '{name}' does not exist")
        return perform_substitutions(context, self._default)


class EnvironmentVariable(Substitution):
    """The value of an environment variable of the launch."""

    def __init__(
        self, name: SomeSubstitutionsType, *, default_value: SomeSubstitutionsType | None = None
    ) -> None:
        """Keep the name and what to return if it is not set."""
        self.name = normalize_to_list_of_substitutions(name)
        self.default_value = (
            None if default_value is None else normalize_to_list_of_substitutions(default_value)
        )

    def describe(self) -> str:
        """Return the name."""
        return f"EnvVar({describe_all(self.name)})"

    def perform(self, context: LaunchContext) -> str:
        """Return the variable, the default, or fail."""
        name = perform_substitutions(context, self.name)
        value = context.environment.get(name)
        if value is not None:
            return value
        if self.default_value is None:
            raise SubstitutionFailure(f"environment variable '{name}' does not exist")
        return perform_substitutions(context, self.default_value)


class LocalSubstitution(Substitution):
    """An expression on the context's locals, such as 'event.returncode' in an event handler."""

    def __init__(self, expression: str, *, description: str | None = None) -> None:
        """Keep the expression."""
        self.expression = expression
        self.description = description

    def describe(self) -> str:
        """Return the description or the expression."""
        return f"LocalVar('{self.description or self.expression}')"

    def perform(self, context: LaunchContext) -> str:
        """Return the expression's value as text."""
        return str(eval(f"context.locals.{self.expression}", {}, {"context": context}))
