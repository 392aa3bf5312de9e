# SPDX-License-Identifier: Apache-2.0

"""Fields of a model file, read by name and checked.

An error names the file, the dotted path of the field, its value, and the expected value:
`arm.yaml: legs[2].lower.mass is -1.0, expected a number of at least 0 [kg]`.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import ModelError, RobodynError
from robodyn.formats.yaml_text import MAX_DEPTH, MAX_NODES, parse_yaml, read_text

REQUIRED: Final[Any] = object()


def read_yaml(path: Path | str, error: type[RobodynError] = ModelError) -> dict[str, Any]:
    """Read a YAML file that contains a mapping, and return it as a dictionary.

    Raises:
        RobodynError: the file cannot be read, or its content is not a valid mapping. The error is
            of class `error`; its message has file, line and column.
    """
    return parse_yaml(read_text(Path(path), error), str(path), error)


def plain_document(
    given: Mapping[str, Any], source: str, error: type[RobodynError] = ModelError
) -> dict[str, Any]:
    """Convert a mapping to a dictionary of YAML's types only.

    Tuples and arrays become lists, NumPy numbers become Python numbers, and paths become strings.

    Args:
        given: mapping to convert; it is not changed.
        source: name of the mapping, for messages.
        error: class of the errors raised.

    Returns:
        The dictionary.

    Raises:
        RobodynError: a key is not a string, or the document is nested too deeply or is too large.
    """
    left = MAX_NODES

    def plain(value: Any, path: str, depth: int) -> Any:
        nonlocal left
        left -= 1
        if depth > MAX_DEPTH or left < 0:
            most = f"{MAX_DEPTH} levels or {MAX_NODES} values"
            raise error(f"{source}: {path} contains more than {most}", value=path)
        if isinstance(value, Mapping):
            for key in value:
                if not isinstance(key, str):
                    raise error(
                        f"{source}: {path or 'the document'} has the key {format_value(key)}, "
                        "expected keys that are strings",
                        value=key,
                    )
            return {key: plain(part, f"{path}.{key}", depth + 1) for key, part in value.items()}
        if isinstance(value, np.ndarray) and value.size > left:
            raise error(
                f"{source}: {path} contains {value.size} values, too many for a document",
                value=path,
            )
        if isinstance(value, (np.ndarray, np.generic)):
            value = value.tolist()
        if isinstance(value, (list, tuple)):
            return [plain(part, f"{path}[{n}]", depth + 1) for n, part in enumerate(value)]
        return str(value) if isinstance(value, Path) else value

    document: dict[str, Any] = plain(given, "", 0)
    return document


@dataclass(frozen=True)
class Fields:
    """Mapping in a document, whose fields are read by name and checked.

    Attributes:
        data: the mapping.
        source: file name, for messages.
        path: dotted path of the mapping in its document, empty for the document itself.
        error: class of the errors raised.
    """

    data: Mapping[str, Any]
    source: str
    path: str = ""
    error: type[RobodynError] = ModelError

    def __contains__(self, name: str) -> bool:
        return self.data.get(name) is not None

    def only(self, *known: str) -> None:
        """Reject fields whose names are not among `known`.

        Raises:
            RobodynError: there is an unknown field; the message suggests the most similar name.
        """
        for name in self.data:
            if name not in known:
                near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
                hint = (
                    f"did you mean {near[0]!r}?" if near else f"known fields are {', '.join(known)}"
                )
                raise self.error(
                    f"{self.source}: unknown field {self.where(str(name))}; {hint}", value=name
                )

    def where(self, name: str) -> str:
        """Return the dotted path of a field in its document, such as `legs[2].mass`."""
        return f"{self.path}.{name}" if self.path else name

    def refuse(self, name: str, value: Any, expected: str) -> RobodynError:
        """Create the error for an invalid value of a field.

        Args:
            name: name of the field.
            value: invalid value.
            expected: description of the expected value.

        Returns:
            The error, to be raised by the caller.
        """
        return self.error(
            f"{self.source}: {self.where(name)} is {format_value(value)}, expected {expected}",
            value=value,
        )

    def get(self, name: str, expected: str, default: Any = REQUIRED) -> Any:
        """Return the unchecked value of a field, or `default` if it is missing.

        Raises:
            RobodynError: the field is missing and has no default; the message states what is
                `expected`.
        """
        value = self.data.get(name)
        if value is not None:
            return value
        if default is REQUIRED:
            raise self.error(
                f"{self.source}: {self.where(name)} is missing, expected {expected}", value=None
            )
        return default

    def child(self, name: str, default: Any = REQUIRED) -> Fields:
        """Return a field that is a mapping, as `Fields`.

        With `default={}` a missing field gives an empty mapping.

        Raises:
            RobodynError: the field is missing or not a mapping.
        """
        value = self.get(name, "a mapping of fields", default)
        if not isinstance(value, dict):
            raise self.refuse(name, value, "a mapping of fields")
        return Fields(value, self.source, self.where(name), self.error)

    def children(self, name: str) -> list[Fields]:
        """Return a field that is a list of mappings, as a list of `Fields`.

        Raises:
            RobodynError: the field is missing or not a list of mappings.
        """
        value = self.get(name, "a list of mappings")
        if not isinstance(value, list):
            raise self.refuse(name, value, "a list of mappings")
        for index, item in enumerate(value):
            if not isinstance(item, dict):
                raise self.refuse(f"{name}[{index}]", item, "a mapping of fields")
        return [
            Fields(item, self.source, self.where(f"{name}[{index}]"), self.error)
            for index, item in enumerate(value)
        ]

    def number(
        self,
        name: str,
        unit: str = "",
        *,
        default: Any = REQUIRED,
        at_least: float | None = None,
        above: float | None = None,
    ) -> float:
        """Return the value of a field that is a finite number.

        Args:
            name: name of the field.
            unit: unit, for messages.
            default: value if the field is missing, which may be infinite; without it the field is
                required.
            at_least: smallest permitted value.
            above: value that the number must exceed.

        Returns:
            The number.

        Raises:
            RobodynError: the field is missing, not a finite number, or out of range.
        """
        expected = "a number" + _bound(at_least, above) + _in(unit)
        value = self.get(name, expected, default)
        if value is default and default is not REQUIRED:
            return float(value)
        if not _is_number(value):
            raise self.refuse(name, value, expected)
        number = float(value)
        if (at_least is not None and number < at_least) or (above is not None and number <= above):
            raise self.refuse(name, value, expected)
        return number

    def array(
        self, name: str, shape: tuple[int, ...], unit: str = "", default: Any = REQUIRED
    ) -> FloatArray:
        """Return the value of a field with nested lists of finite numbers as an array.

        Args:
            name: name of the field.
            shape: required shape, such as (3,) or (3, 3).
            unit: unit, for messages.
            default: value if the field is missing; without it the field is required.

        Returns:
            The array.

        Raises:
            RobodynError: the field is missing, or has another shape or a value that is not finite.
        """
        expected = f"{_layout(shape)} of numbers{_in(unit)}"
        value = self.get(name, expected, default)
        self._check_shape(name, value, shape, expected)
        return np.array(value, dtype=np.float64)

    def flag(self, name: str, default: bool) -> bool:
        """Return the value of a field that is true or false; `default` if it is missing.

        Raises:
            RobodynError: the value is neither true nor false.
        """
        value = self.get(name, "true or false", default)
        if not isinstance(value, bool):
            raise self.refuse(name, value, "true or false")
        return value

    def names(self, name: str) -> tuple[str, ...]:
        """Return a field that is a list of joint names, as a tuple.

        Raises:
            RobodynError: the field is missing or not a list of nonempty strings.
        """
        value = self.get(name, "a list of joint names")
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise self.refuse(name, value, "a list of joint names")
        return tuple(value)

    def over(self, defaults: Mapping[str, Any]) -> Fields:
        """Return these fields with missing ones taken from `defaults`, recursively."""
        return Fields(_merge(defaults, self.data), self.source, self.path, self.error)

    def text(self, name: str, default: Any = REQUIRED, choices: Sequence[str] | None = None) -> str:
        """Return a field that is a nonempty string.

        Args:
            name: name of the field.
            default: value if the field is missing; without it the field is required.
            choices: permitted values; None for any string.

        Raises:
            RobodynError: the field is missing, not a string, or not one of `choices`.
        """
        expected = "one of " + ", ".join(choices) if choices else "a text"
        value = self.get(name, expected, default)
        if not isinstance(value, str) or not value or (choices and value not in choices):
            raise self.refuse(name, value, expected)
        return value

    def _check_shape(self, name: str, value: Any, shape: tuple[int, ...], expected: str) -> None:
        if not shape:
            if not _is_number(value):
                raise self.refuse(name, value, "a finite number")
            return
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if not isinstance(value, (list, tuple)) or len(value) != shape[0]:
            raise self.refuse(name, value, expected)
        for index, item in enumerate(value):
            self._check_shape(f"{name}[{index}]", item, shape[1:], expected)


def _merge(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    out = dict(defaults)
    for name, value in given.items():
        inherited = out.get(name)
        if isinstance(inherited, dict) and isinstance(value, dict):
            out[name] = _merge(inherited, value)
        elif value is not None:
            out[name] = value
    return out


def _is_number(value: Any) -> bool:
    # a bool is an int in Python, but `mass: true` is a mistake; an int may exceed any float
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _layout(shape: tuple[int, ...]) -> str:
    return f"a list of {shape[0]}" + "".join(f" lists of {size}" for size in shape[1:])


def _bound(at_least: float | None, above: float | None) -> str:
    if above is not None:
        return f" above {above:g}"
    return "" if at_least is None else f" of at least {at_least:g}"


def _in(unit: str) -> str:
    return f" [{unit}]" if unit else ""


def format_value(value: Any) -> str:
    """Format any value for a message, in at most 100 characters."""
    # sliced before formatting, so that a value of one megabyte does not lead to a message of one
    # megabyte
    if isinstance(value, (list, tuple)) and len(value) > 8:
        return f"a list of {len(value)}"
    if isinstance(value, (str, bytes)):
        value = value[:100]
    try:
        text = repr(value)
    except Exception:  # a foreign class may raise anything
        text = f"a {type(value).__name__}"
    return text if len(text) <= 100 else text[:97] + "..."
