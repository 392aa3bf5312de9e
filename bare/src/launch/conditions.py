# SPDX-License-Identifier: Apache-2.0

"""Conditions of actions."""

from __future__ import annotations

from .launch_context import LaunchContext
from .some_substitutions_type import SomeSubstitutionsType
from .utilities import normalize_to_list_of_substitutions, perform_substitutions

TRUTH = {"true": True, "1": True, "false": False, "0": False}


class Condition:
    """Decides whether an action is carried out: if its text says true, or 1."""

    def __init__(self, predicate_expression: SomeSubstitutionsType) -> None:
        """Keep the expression."""
        self._expression = normalize_to_list_of_substitutions(predicate_expression)

    def evaluate(self, context: LaunchContext) -> bool:
        """Return whether the condition holds; raise RuntimeError for any other text."""
        text = perform_substitutions(context, self._expression)
        truth = TRUTH.get(text.strip().lower())
        if truth is None:
            raise RuntimeError(
                f"invalid condition expression: expected one of {[*TRUTH]}, got '{text}'"
            )
        return truth


class IfCondition(Condition):
    """Holds if the expression is true."""


class UnlessCondition(Condition):
    """Holds if the expression is false."""

    def evaluate(self, context: LaunchContext) -> bool:
        """Return whether the expression is false."""
        return not super().evaluate(context)
