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

"""Messages: their classes by name, their YAML, and setting their fields from YAML."""

from __future__ import annotations

import array
import importlib
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import yaml
from rosidl_parser.definition import AbstractNestedType, NamespacedType


def get_class(name: str, kind: str) -> Any:
    """Return the class of e.g. 'std_msgs/msg/String' or 'std_msgs/String'; `kind`: msg or srv."""
    parts = name.split("/")
    if len(parts) == 2:
        parts.insert(1, kind)
    wording = {"msg": "message", "srv": "service"}[kind]
    if len(parts) != 3 or parts[1] != kind or not all(parts):
        raise RuntimeError(f"The passed {wording} type is invalid: '{name}'")
    try:
        return getattr(importlib.import_module(".".join(parts[:2])), parts[2])
    except (AttributeError, ModuleNotFoundError) as error:
        raise RuntimeError(f"The passed {wording} type is invalid: '{name}'") from error


class MessageStyle:
    """How messages become YAML: upstream's options of `topic echo`."""

    def __init__(
        self,
        *,
        truncate_length: int | None = None,
        no_arr: bool = False,
        no_str: bool = False,
        flow_style: bool = False,
    ) -> None:
        """Keep the options; `truncate_length=None` shows everything."""
        self.truncate_length = truncate_length
        self.no_arr = no_arr
        self.no_str = no_str
        self.flow_style = flow_style

    def to_yaml(self, message: Any) -> str:
        """Return the message as YAML, fields in the order of its definition."""
        return yaml.dump(
            self._fields(message),
            allow_unicode=True,
            width=sys.maxsize,
            default_flow_style=self.flow_style,
            sort_keys=False,
        )

    def _fields(self, message: Any) -> dict[str, Any]:
        names = message.get_fields_and_field_types()
        return {name: self._plain(getattr(message, name), kind) for name, kind in names.items()}

    def _plain(self, value: Any, kind: str = "") -> Any:
        limit = self.truncate_length
        if isinstance(value, (bytes, str)):
            if self.no_str and isinstance(value, str):
                return f"<string length: <{len(value)}>>"
            text = value.decode("latin1") if isinstance(value, bytes) else value
            return text if limit is None or len(text) <= limit else f"{text[:limit]}..."
        if isinstance(value, (list, tuple, array.array, np.ndarray)):
            if self.no_arr and kind:
                return _array_summary(kind, len(value))
            shown = value if limit is None else value[:limit]
            items = [self._plain(item) for item in shown]
            return items if len(items) == len(value) else [*items, "..."]
        if isinstance(value, np.number):
            return value.item()
        if isinstance(value, (bool, int, float)):
            return value
        return self._fields(value)


def _array_summary(kind: str, length: int) -> str:
    # kind is 'double[36]', 'sequence<double>' or 'sequence<double, 3>'.
    if kind.startswith("sequence<"):
        return f"<sequence type: {kind[len('sequence<') : -1]}, length: {length}>"
    return f"<array type: {kind}>"


Stamp = Callable[[Any], None]


def set_fields(message: Any, values: Any) -> list[Stamp]:
    """Set the fields of a message from a dictionary; raise RuntimeError for what does not fit.

    As upstream's `topic pub`, a header may be 'auto' and a time 'now': what is returned are the
    functions that set those to a given time.
    """
    stamps: list[Stamp] = []
    try:
        _set_fields(message, values, stamps)
    except (AttributeError, AssertionError, TypeError, ValueError) as error:
        raise RuntimeError(f"Failed to populate field: {error}") from error
    return stamps


def _set_fields(message: Any, values: Any, stamps: list[Stamp]) -> None:
    if not isinstance(values, dict):
        raise TypeError(
            f"Value '{values}' is expected to be a dictionary but is a {type(values).__name__}"
        )
    types = dict(zip(message.get_fields_and_field_types(), message.SLOT_TYPES, strict=True))
    for name, value in values.items():
        if name not in types:
            raise AttributeError(f"'{type(message).__name__}' has no field '{name}'")
        setattr(message, name, _field(message, name, types[name], value, stamps))


def _field(message: Any, name: str, kind: Any, value: Any, stamps: list[Stamp]) -> Any:
    old = getattr(message, name)
    if hasattr(old, "SLOT_TYPES"):
        if value == "auto" and type(old).__name__ == "Header":
            stamps.append(lambda now: setattr(getattr(message, name), "stamp", now))
        elif value == "now" and type(old).__name__ == "Time":
            stamps.append(lambda now: setattr(message, name, now))
        else:
            _set_fields(old, value, stamps)
        return old
    if isinstance(kind, AbstractNestedType) and isinstance(kind.value_type, NamespacedType):
        return [_item(kind.value_type, item, stamps) for item in value]
    if isinstance(old, array.array):
        return array.array(old.typecode, value)
    if isinstance(old, np.ndarray):
        return np.array(value, dtype=old.dtype)
    return type(old)(value)


def _item(kind: NamespacedType, values: Any, stamps: list[Stamp]) -> Any:
    item = get_class("/".join(kind.namespaced_name()), "msg")()
    _set_fields(item, values, stamps)
    return item


def field_of(message: Any, path: Iterable[str]) -> Any:
    """Return a field of a field ...; raise RuntimeError if there is none."""
    for name in path:
        if not hasattr(message, name):
            raise RuntimeError(f"Invalid field '{'.'.join(path)}': no '{name}'")
        message = getattr(message, name)
    return message
