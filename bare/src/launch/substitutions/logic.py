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

"""Substitutions that compare or decide; their text is 'true' or 'false' as upstream."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..launch_context import LaunchContext
from ..some_types import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions
from ..utilities.type_utils import is_substitution, perform_typed_substitution
from .substitution_failure import SubstitutionFailure

TRUE = ("true", "1")
BOOLEANS = ("true", "false", "1", "0")


def _text(value: bool) -> str:
    return str(value).lower()


def _as_bool(context: LaunchContext, value: list[Substitution]) -> bool:
    try:
        return perform_typed_substitution(context, value, bool)
    except (TypeError, ValueError) as error:
        raise SubstitutionFailure(str(error)) from error


class EqualsSubstitution(Substitution):
    """'true' if both sides are equal as booleans, as numbers (nearly), or as text."""

    def __init__(self, left: Any, right: Any) -> None:
        """Keep both sides, each a substitution or a plain value."""
        self.left = self._normalize(left)
        self.right = self._normalize(right)

    @staticmethod
    def _normalize(side: Any) -> list[Substitution]:
        if not is_substitution(side):
            side = "" if side is None else _text(side) if isinstance(side, bool) else str(side)
        return normalize_to_list_of_substitutions(side)

    def describe(self) -> str:
        """Return both sides."""
        return f"{type(self).__name__}({self.left} {self.right})"

    def _equal(self, context: LaunchContext) -> bool:
        left = perform_substitutions(context, self.left)
        right = perform_substitutions(context, self.right)
        if left.lower() in BOOLEANS and right.lower() in BOOLEANS:
            return (left.lower() in TRUE) == (right.lower() in TRUE)
        try:
            return math.isclose(float(left), float(right))
        except ValueError:
            return left == right

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'."""
        return _text(self._equal(context))


class NotEqualsSubstitution(EqualsSubstitution):
    """The opposite of `EqualsSubstitution`."""

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'."""
        return _text(not self._equal(context))


class NotSubstitution(Substitution):
    """'true' if the value is false."""

    def __init__(self, value: SomeSubstitutionsType) -> None:
        """Keep the value."""
        self.value = normalize_to_list_of_substitutions(value)

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'."""
        return _text(not _as_bool(context, self.value))


class AnySubstitution(Substitution):
    """'true' if at least one value is true."""

    def __init__(self, *args: SomeSubstitutionsType) -> None:
        """Keep the values."""
        self.args = [normalize_to_list_of_substitutions(arg) for arg in args]

    def _values(self, context: LaunchContext) -> Iterable[bool]:
        return [_as_bool(context, arg) for arg in self.args]

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'."""
        return _text(any(self._values(context)))


class AllSubstitution(AnySubstitution):
    """'true' if all values are true."""

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'."""
        return _text(all(self._values(context)))


class OrSubstitution(AnySubstitution):
    """'true' if one of two values is true."""

    def __init__(self, left: SomeSubstitutionsType, right: SomeSubstitutionsType) -> None:
        """Keep both."""
        super().__init__(left, right)


class AndSubstitution(AllSubstitution):
    """'true' if both values are true."""

    def __init__(self, left: SomeSubstitutionsType, right: SomeSubstitutionsType) -> None:
        """Keep both."""
        super().__init__(left, right)


class IfElseSubstitution(Substitution):
    """One of two texts, by a condition."""

    def __init__(
        self,
        condition: SomeSubstitutionsType,
        if_value: SomeSubstitutionsType = "",
        else_value: SomeSubstitutionsType = "",
    ) -> None:
        """Keep the condition and both texts."""
        if if_value == else_value == "":
            raise RuntimeError("One of if_value and else_value must be specified")
        self.condition = normalize_to_list_of_substitutions(condition)
        self.if_value = normalize_to_list_of_substitutions(if_value)
        self.else_value = normalize_to_list_of_substitutions(else_value)

    def perform(self, context: LaunchContext) -> str:
        """Return the text the condition selects."""
        chosen = self.if_value if _as_bool(context, self.condition) else self.else_value
        return perform_substitutions(context, chosen)
