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

"""Conditions on actions."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from .condition import Condition
from .launch_context import LaunchContext
from .some_types import SomeSubstitutionsType
from .substitution import Substitution
from .utilities import normalize_to_list_of_substitutions, perform_substitutions

__all__ = [
    "IfCondition",
    "InvalidConditionExpressionError",
    "LaunchConfigurationEquals",
    "LaunchConfigurationNotEquals",
    "UnlessCondition",
    "evaluate_condition_expression",
]


class InvalidConditionExpressionError(RuntimeError):
    """The expression is neither true nor false."""


def evaluate_condition_expression(
    context: LaunchContext, expression: Iterable[Substitution]
) -> bool:
    """Return the truth of 'true', '1', 'false' or '0' (any case); anything else is an error."""
    text = perform_substitutions(context, expression)
    truth = {"true": True, "1": True, "false": False, "0": False}.get(text.strip().lower())
    if truth is None:
        raise InvalidConditionExpressionError(
            f"invalid condition expression: expected one of ['true', '1', 'false', '0'], "
            f"got '{text}'"
        )
    return truth


class IfCondition(Condition):
    """Holds if the expression is true."""

    def __init__(self, predicate_expression: SomeSubstitutionsType) -> None:
        """Keep the expression."""
        expression = normalize_to_list_of_substitutions(predicate_expression)
        super().__init__(predicate=lambda c: evaluate_condition_expression(c, expression))


class UnlessCondition(Condition):
    """Holds if the expression is false."""

    def __init__(self, predicate_expression: SomeSubstitutionsType) -> None:
        """Keep the expression."""
        expression = normalize_to_list_of_substitutions(predicate_expression)
        super().__init__(predicate=lambda c: not evaluate_condition_expression(c, expression))


class LaunchConfigurationEquals(Condition):
    """Holds if a launch configuration has the value; None asks that it is not set.

    Deprecated upstream in favour of IfCondition(EqualsSubstitution(...)).
    """

    def __init__(
        self, launch_configuration_name: str, expected_value: SomeSubstitutionsType | None
    ) -> None:
        """Keep the name and the value."""
        warnings.warn(
            f"{type(self).__name__} is deprecated, use "
            "IfCondition(EqualsSubstitution(LaunchConfiguration(name), value))",
            UserWarning,
            stacklevel=2,
        )
        self._name = launch_configuration_name
        self._expected = (
            None if expected_value is None else normalize_to_list_of_substitutions(expected_value)
        )
        super().__init__(predicate=self._equals)

    def _equals(self, context: LaunchContext) -> bool:
        expected = None
        if self._expected is not None:
            expected = perform_substitutions(context, self._expected)
        return context.launch_configurations.get(self._name) == expected


class LaunchConfigurationNotEquals(LaunchConfigurationEquals):
    """The opposite of `LaunchConfigurationEquals`."""

    def evaluate(self, context: LaunchContext) -> bool:
        """Return whether the value differs."""
        return not super().evaluate(context)
