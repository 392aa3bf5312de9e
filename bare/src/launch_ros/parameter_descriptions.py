# SPDX-License-Identifier: Apache-2.0

"""Values of parameters, of a given type."""

from __future__ import annotations

from typing import Any, List  # noqa: UP035 - as launch files write value_type

from launch.launch_context import LaunchContext
from launch.substitution import Substitution

__all__ = ["ParameterValue"]

Evaluated = bool | int | float | str | list[str]
SCALARS = (bool, int, float, str)
_TRUTHS = {"true": True, "false": False}


class ParameterValue:
    """A value, or a substitution for it, with the type that it is to have.

    `value_type` is bool, int, float or str, or List[str] for a list of texts without substitutions.
    """

    def __init__(self, value: Any, *, value_type: Any) -> None:
        """Keep both; raise TypeError if they do not fit."""
        if value_type == List[str]:  # noqa: UP006
            fits = isinstance(value, list) and all(isinstance(item, str) for item in value)
        else:
            fits = value_type in SCALARS and isinstance(value, (value_type, Substitution))
        if not fits:
            raise TypeError(f"{value!r} is not a valid value of a parameter of type {value_type}")
        self.value = value
        self.value_type = value_type

    def evaluate(self, context: LaunchContext) -> Evaluated:
        """Return the value; raise ValueError for a text that is not of the type."""
        if isinstance(self.value, Substitution):
            text = self.value.perform(context)
            if self.value_type is not bool:
                return self.value_type(text)
            if text.lower() not in _TRUTHS:
                raise ValueError(f"{text!r} is neither true nor false")
            return _TRUTHS[text.lower()]
        return self.value


def evaluate_parameter(context: LaunchContext, name: str, value: Any) -> Evaluated:
    """Return the value of a parameter that is given as a scalar or as a ParameterValue."""
    if isinstance(value, ParameterValue):
        return value.evaluate(context)
    if isinstance(value, SCALARS):
        return value
    raise TypeError(f"parameter {name} is {value!r}: expected {SCALARS} or a ParameterValue")
