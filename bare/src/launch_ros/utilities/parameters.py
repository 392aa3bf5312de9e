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

"""Dictionaries of parameters, from what a launch file says to plain values.

Upstream's rules: plain values keep their type; a substitution becomes text that is read as YAML;
a list of plain values must be uniform (ints among floats become floats); a list of text and
substitutions is one text; a list whose items are lists of substitutions is a list of values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from launch.launch_context import LaunchContext
from launch.substitution import Substitution
from launch.substitutions import TextSubstitution
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

from ..parameter_descriptions import ParameterValue

SCALARS = (bool, int, float, str)
Key = tuple[Substitution, ...]
WRAP = (
    "If the parameter is meant to be a string, try wrapping it in "
    "launch_ros.parameter_descriptions.ParameterValue(value, value_type=str)"
)


class _Literal:
    """A value that is complete already."""

    def __init__(self, value: Any) -> None:
        self.value = value


class _Texts:
    """Items that each become text and are then read as YAML, together a list."""

    def __init__(self, items: list[list[Substitution]]) -> None:
        self.items = items


def normalize_parameter_dict(parameters: Mapping[Any, Any]) -> dict[Key, Any]:
    """Check a dictionary of parameters; nested ones become names joined with dots."""
    if not isinstance(parameters, Mapping):
        raise TypeError(f"expected a dictionary of parameters, got {parameters!r}")
    normalized: dict[Key, Any] = {}
    for name, value in parameters.items():
        key = tuple(normalize_to_list_of_substitutions(name))
        if isinstance(value, Mapping):
            dot = TextSubstitution(text=".")
            for inner, inner_value in normalize_parameter_dict(value).items():
                normalized[(*key, dot, *inner)] = inner_value
        else:
            normalized[key] = _normalize_value(value)
    return normalized


def _normalize_value(value: Any) -> Any:
    if isinstance(value, ParameterValue):
        return value
    if isinstance(value, Substitution):
        return [value]
    if isinstance(value, (*SCALARS, bytes)):
        return _Literal(value)
    if isinstance(value, Sequence) and len(value):
        return _normalize_sequence(list(value))
    raise TypeError(f"Unexpected type for parameter value {value!r}")


def _normalize_sequence(value: list[Any]) -> Any:
    types = {type(x) for x in value}
    if types <= {int, float} and float in types:
        return _Literal([float(x) for x in value])
    if len(types) == 1 and types <= set(SCALARS):
        return _Literal(value)
    if all(isinstance(x, (str, Substitution)) for x in value):
        return normalize_to_list_of_substitutions(value)
    if all(isinstance(x, (*SCALARS, Substitution, Sequence)) for x in value):
        # Literal text stays text even if it looks like something else.
        texts = [yaml.safe_dump(x) if isinstance(x, SCALARS) else x for x in value]
        return _Texts([normalize_to_list_of_substitutions(x) for x in texts])
    raise TypeError(f"Unexpected type in the parameter value {value!r}")


def evaluate_parameter_dict(
    context: LaunchContext, parameters: Mapping[Key, Any]
) -> dict[str, Any]:
    """Return names and values of a normalized dictionary."""
    return {
        (name := perform_substitutions(context, key)): _evaluate(context, name, value)
        for key, value in parameters.items()
    }


def _evaluate(context: LaunchContext, name: str, value: Any) -> Any:
    if isinstance(value, ParameterValue):
        return value.evaluate(context)
    if isinstance(value, _Literal):
        return value.value
    if isinstance(value, _Texts):
        items = [yaml.safe_load(perform_substitutions(context, item)) for item in value.items]
        return _checked_list(name, items)
    text = perform_substitutions(context, value)
    try:
        # YAML reads an empty text as nothing; it is an empty string.
        result = yaml.safe_load(text) if text else ""
    except yaml.YAMLError as error:
        raise TypeError(f"Unable to parse the value of parameter {name} as yaml. {WRAP}") from error
    if isinstance(result, list):
        return _checked_list(name, result)
    if not isinstance(result, (*SCALARS, bytes)):
        raise TypeError(
            "Allowed value types are bytes, bool, int, float, str, Sequence[bool], Sequence[int], "
            f'Sequence[float], Sequence[str]. Got {type(result)} for "{name}". {WRAP}'
        )
    return result


def _checked_list(name: str, items: list[Any]) -> list[Any]:
    uniform = items and all(type(x) is type(items[0]) for x in items)
    if not uniform or not isinstance(items[0], SCALARS):
        raise TypeError(
            "Expected a non-empty sequence, with items of uniform type. Allowed sequence item "
            f'types are bool, int, float, str. Got inconsistent input for "{name}"'
        )
    return items
