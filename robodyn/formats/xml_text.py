# SPDX-License-Identifier: Apache-2.0

"""Parser for untrusted XML: bounded in size and depth, without DTD and entities."""

from __future__ import annotations

import math
import re
from typing import Any, NoReturn
from xml.etree import ElementTree
from xml.parsers import expat

from robodyn.checks import number_in
from robodyn.errors import ModelError
from robodyn.formats.yaml_text import MAX_BYTES

MAX_DEPTH = 64


def parse_xml(text: str, source: str, max_depth: int = MAX_DEPTH) -> ElementTree.Element:
    """Parse XML text from an untrusted source.

    Args:
        text: XML text.
        source: name of the text, for messages.
        max_depth: largest permitted nesting depth.

    Returns:
        The root element.

    Raises:
        ModelError: the text is too large, nested too deeply, or malformed (the error states file,
            line and column), or has a DTD, which could declare entities.
    """
    if len(text) > MAX_BYTES:
        raise ModelError(f"{source}: larger than {MAX_BYTES} bytes, refused", value=len(text))
    data = text.lstrip("\ufeff \t\r\n").encode("utf-8", "surrogatepass")
    return _parse(data, source, max_depth)


def numbers_in(
    text: str,
    count: int,
    where: str,
    *,
    infinite: bool = False,
    at_least: float = -math.inf,
    within: float = math.inf,
) -> list[float]:
    """Parse numbers separated by blanks, as in an XML attribute.

    Args:
        text: text to parse.
        count: number of values.
        where: name of the file and the element, for messages.
        infinite: whether infinite values are permitted.
        at_least: smallest permitted value.
        within: largest permitted magnitude.

    Returns:
        The values (count,).

    Raises:
        ModelError: the text does not consist of such numbers.
    """
    values = [number_in(part) for part in text.split()]
    bad = math.isnan if infinite else (lambda value: not math.isfinite(value))
    outside = any(bad(value) or value < at_least or abs(value) > within for value in values)
    if len(values) != count or outside:
        expected = "a finite number" if count == 1 else f"{count} finite numbers"
        if at_least > -math.inf:
            expected += f" of at least {at_least:g}"
        if within < math.inf:
            expected += f" from {-within:g} to {within:g}"
        if "${" in text:
            expected += "; an expression needs xacro, so name the file .xacro"
        raise ModelError(f"{where} is {text.strip()[:100]!r}, expected {expected}", value=text)
    return values


def without_comments(text: str) -> str:
    """Return XML text without comments; line numbers do not change.

    Comments in Gazebo's files contain `--`, which XML forbids.
    """
    parts, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts += [text[at:start], "\n" * text.count("\n", start, end)]
        at = end + 3
    return "".join([*parts, text[at:]])


def root_tag(text: str) -> str:
    """Return the tag of an XML text's root element; an empty string if there is none."""
    found = re.search(r"<([A-Za-z_][\w:.-]*)", without_comments(text))
    return found[1] if found else ""


def _parse(data: bytes, source: str, max_depth: int) -> ElementTree.Element:
    # without namespaces, like the ROS parsers: vendors' URDFs have undeclared prefixes, such as
    # <controller:gazebo_ros_controller_manager>
    parser, builder = expat.ParserCreate("utf-8"), ElementTree.TreeBuilder()
    parser.buffer_text = True
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > max_depth:
            raise ModelError(f"{source}: nested deeper than {max_depth} elements", value=depth)
        builder.start(name, attributes)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(name)

    def doctype(name: str, *_: Any) -> NoReturn:
        raise ModelError(
            f"{source}: has a DTD (<!DOCTYPE {name}>), refused: a URDF needs no entities",
            value=name,
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as failure:
        reason = expat.ErrorString(failure.code)
        raise ModelError(
            f"{source}, line {failure.lineno}, column {failure.offset + 1}: not well-formed XML: "
            f"{reason}",
            value=source,
        ) from failure
    return builder.close()
