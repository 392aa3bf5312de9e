# SPDX-License-Identifier: Apache-2.0

"""Parser for untrusted YAML: safe, bounded, without duplicate keys.

Numbers follow YAML 1.2, so `1e-4` is a number and `010` is ten. PyYAML would read these as a string
and as eight, which would be wrong in a list of masses.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from robodyn.errors import ModelError, RobodynError

MAX_BYTES = 4 * 2**20
# PyYAML reads about 100 kB per second: a larger file would take minutes, and is not a model file.
MAX_YAML = 2**19
# Aliases let a short text expand to a huge document; this bounds the expansion.
MAX_NODES = 200_000
MAX_DEPTH = 64


def read_text(path: Path, error: type[RobodynError] = ModelError) -> str:
    """Return the content of a regular UTF-8 file of at most 4 MiB.

    Raises:
        RobodynError: the file is missing, too large or not UTF-8 text. The error is of class
            `error`.
    """
    try:
        if not path.is_file():
            other = "is a pipe, a socket or a device" if path.exists() else "not found"
            what = "is a directory" if path.is_dir() else other
            raise error(f"{path}: {what}, expected a file", value=str(path))
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as failure:
        raise error(
            f"{path}: cannot be read: {failure.strerror or failure}", value=str(path)
        ) from failure
    if len(data) > MAX_BYTES:
        raise error(f"{path}: larger than {MAX_BYTES} bytes, refused", value=path.stat().st_size)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        raise error(
            f"{path}: not UTF-8 text, byte {failure.start} is {data[failure.start]:#04x}",
            value=str(path),
        ) from failure


def parse_yaml(text: str, source: str, error: type[RobodynError] = ModelError) -> dict[str, Any]:
    """Parse YAML text from an untrusted source.

    Args:
        text: YAML text that contains a mapping.
        source: name of the text, for messages.
        error: class of the errors raised.

    Returns:
        The mapping as a dictionary.

    Raises:
        RobodynError: the text is malformed or not a mapping, a key occurs twice, a tag is not plain
            data, or aliases expand beyond limits; the message has file, line and column.
    """
    if len(text) > MAX_YAML:
        raise error(f"{source}: larger than {MAX_YAML} characters, refused", value=len(text))
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is not None:
            _Bounds().check(node, 0)
        document = None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as failure:
        reason = " ".join(filter(None, (failure.context, failure.problem)))
        raise error(f"{source}{_place(failure)}: {reason}", value=source) from failure
    except yaml.YAMLError as failure:
        message = " ".join(str(failure).split())
        raise error(f"{source}: not YAML: {message}", value=source) from failure
    except RecursionError as failure:
        raise error(f"{source}: nested deeper than {MAX_DEPTH} levels", value=source) from failure
    except (ValueError, TypeError, AttributeError, OverflowError) as failure:
        raise error(f"{source}: a value does not match its tag: {failure}", value=source) from None
    if not isinstance(document, dict):
        found = "empty" if document is None else f"a {type(document).__name__}"
        raise error(
            f"{source}: the document is {found}, expected a mapping of fields", value=document
        )
    return document


class _Loader(yaml.SafeLoader):
    """YAML loader that accepts only plain data and reads numbers as in YAML 1.2."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012, the base class's interface

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != _MERGE:
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"the key {key.value!r} is given twice", key.start_mark
                    )
                seen.add(key.value)
        return super().construct_mapping(node, deep)


_TAG = "tag:yaml.org,2002:"
_MERGE = _TAG + "merge"
_PLAIN = {_TAG + kind for kind in ("str", "int", "float", "bool", "null", "merge", "seq", "map")}
for _kind, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        "-+0123456789.",
    ),
    ("null", r"~|null|Null|NULL|", ("~", "n", "N", "")),
    ("merge", r"<<", "<"),
):
    _Loader.add_implicit_resolver(_TAG + _kind, re.compile(rf"(?:{_pattern})\Z"), list(_first))


class _Bounds:
    """Node counter of an expanded YAML document; rejects cycles and foreign tags."""

    def __init__(self) -> None:
        self._sizes: dict[int, int | None] = {}

    def check(self, node: yaml.Node, depth: int) -> int:
        key = id(node)
        if key in self._sizes:
            size = self._sizes[key]
            if size is None:
                _refuse("an alias that contains itself", node)
            return size or 0
        if depth > MAX_DEPTH:
            _refuse(f"nested deeper than {MAX_DEPTH} levels", node)
        if node.tag not in _PLAIN:
            _refuse(f"the tag {node.tag!r} is not plain data", node)
        self._sizes[key] = None
        size = 1
        if isinstance(node, yaml.SequenceNode):
            size += sum(self.check(child, depth + 1) for child in node.value)
        elif isinstance(node, yaml.MappingNode):
            size += sum(self.check(part, depth + 1) for pair in node.value for part in pair)
        if size > MAX_NODES:
            _refuse(f"it expands to more than {MAX_NODES} values", node)
        self._sizes[key] = size
        return size


def _refuse(problem: str, node: yaml.Node) -> None:
    raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _place(failure: yaml.MarkedYAMLError) -> str:
    mark = failure.problem_mark or failure.context_mark
    return "" if mark is None else f", line {mark.line + 1}, column {mark.column + 1}"
