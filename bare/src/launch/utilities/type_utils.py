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

"""Values that may be given as substitutions and must come out as a certain type."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, get_args, get_origin

import yaml

from ..substitution import Substitution
from . import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext

SCALARS = (bool, int, float, str)


def extract_type(data_type: Any) -> tuple[type, bool]:
    """Return (scalar type, is a list) of `int`, `List[int]` and so on."""
    is_list = get_origin(data_type) is list
    scalar = get_args(data_type)[0] if is_list else data_type
    if scalar not in SCALARS:
        raise ValueError(f"Unrecognized data type: {data_type}")
    return scalar, is_list


def is_instance_of(value: Any, data_type: Any = None) -> bool:
    """Return whether the value is a scalar or uniform list, and of the type if one is given."""
    if data_type is None:
        if isinstance(value, list):
            return all(isinstance(x, SCALARS) and type(x) is type(value[0]) for x in value)
        return isinstance(value, SCALARS)
    scalar, is_list = extract_type(data_type)
    if is_list:
        return isinstance(value, list) and all(isinstance(x, scalar) for x in value)
    return isinstance(value, scalar)


def is_substitution(x: Any) -> bool:
    """Return whether x is a substitution, or a mixed list with at least one."""
    if isinstance(x, Substitution):
        return True
    return (
        isinstance(x, (list, tuple))
        and all(isinstance(item, (Substitution, str)) for item in x)
        and any(isinstance(item, Substitution) for item in x)
    )


def coerce_to_type(value: str, data_type: Any = None) -> Any:
    """Turn text into the type; without one by YAML rules, the result a scalar or uniform list."""
    if data_type is None:
        return _coerce_as_yaml(value, None)
    scalar, is_list = extract_type(data_type)
    if is_list:
        return _coerce_as_yaml(value, data_type)
    if scalar is str:
        return value
    if scalar in (int, float):
        return scalar(value)
    return _coerce_as_yaml({"1": "true", "0": "false"}.get(value, value), bool)


def _coerce_as_yaml(value: str, data_type: Any) -> Any:
    if not value and data_type is None:
        return value
    try:
        result = yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise ValueError(f"cannot convert '{value}' using yaml rules: {error}") from error
    if not is_instance_of(result, data_type):
        wanted = data_type or "bool, int, float, str or a uniform list of one of them"
        raise ValueError(f"cannot convert value '{value}' to {wanted}, got {result!r}")
    return result


def normalize_typed_substitution(value: Any, data_type: Any) -> Any:
    """Check a value, or normalize the substitutions that will give it.

    As upstream, a mixed list of text and substitutions is one substitution; a list of values has
    its own lists for the items that are substitutions.
    """
    if isinstance(value, SCALARS):
        if not is_instance_of(value, data_type):
            raise TypeError(f"value='{value}' is not an instance of {data_type}")
        return value
    if is_substitution(value):
        return normalize_to_list_of_substitutions(value)
    if not isinstance(value, Iterable):
        raise TypeError(f"expected a scalar, a substitution or a list of them, got {value!r}")
    if data_type is not None and not extract_type(data_type)[1]:
        raise TypeError(f"got a list where {data_type} is required: {value!r}")
    items = [normalize_to_list_of_substitutions(x) if is_substitution(x) else x for x in value]
    plain = [x for x in items if not isinstance(x, list)]
    kinds = {type(x) for x in plain}
    if kinds == {int, float} or (data_type is not None and extract_type(data_type)[0] is float):
        items = [float(x) if isinstance(x, int) else x for x in items]
        plain = [x for x in items if not isinstance(x, list)]
    if not is_instance_of(plain, data_type):
        raise TypeError(f"expected a uniform list of {data_type or 'scalars'}, got {value!r}")
    return items


def perform_typed_substitution(context: LaunchContext, value: Any, data_type: Any) -> Any:
    """Return the value of what `normalize_typed_substitution` returned."""
    if isinstance(value, SCALARS):
        return value
    if value and all(isinstance(item, Substitution) for item in value):
        return coerce_to_type(perform_substitutions(context, value), data_type)
    scalar = None if data_type is None else extract_type(data_type)[0]
    result = [
        coerce_to_type(perform_substitutions(context, x), scalar) if isinstance(x, list) else x
        for x in value
    ]
    if not is_instance_of(result, data_type):
        raise ValueError(f"expected {data_type or 'a uniform list'}, got {result!r}")
    return result
