# SPDX-License-Identifier: Apache-2.0

"""Size limits of an MJCF file, checked before MuJoCo expands and compiles it."""

from __future__ import annotations

import math
from pathlib import Path
from xml.etree.ElementTree import Element

from robodyn.checks import number_in
from robodyn.errors import ModelError
from robodyn.formats.xml_text import parse_xml, without_comments
from robodyn.formats.yaml_text import MAX_BYTES, read_text

# Largest number of elements of an expanded file, and the deepest nesting, which is MuJoCo's.
MAX_ELEMENTS = 200_000
MAX_DEPTH = 500
# Largest number of files that a file includes, itself among them.
MAX_FILES = 100
# Largest number that determines an amount of memory.
MAX_SIZE = 10_000_000
# Elements that are replaced by `count` copies of their content or of themselves.
COPIES = ("replicate", "composite", "flexcomp")
SIZES = {"numeric": ("size",), "hfield": ("nrow", "ncol"), "texture": ("width", "height"),
         "plugin": ("size",)}  # fmt: skip
FOLDERS = ("meshdir", "texturedir", "assetdir")


def check_bounds(source: Path | str, name: str) -> None:
    """Reject MJCF that expands beyond size limits or references missing files.

    Args:
        source: file, or MJCF text.
        name: name of the source for messages.

    Raises:
        ModelError: the error names the file and the element.
    """
    folder = source.parent if isinstance(source, Path) else Path()
    text = read_text(source) if isinstance(source, Path) else source
    waiting = [(_root(text, name), name)]
    seen = {source.resolve()} if isinstance(source, Path) else set()
    elements, length = 0.0, 0
    while waiting:
        root, where = waiting.pop()
        elements += _expanded_count(root, where)
        if elements > MAX_ELEMENTS:
            raise ModelError(
                f"{where}: the file expands to more than the permitted {MAX_ELEMENTS} elements",
                value=elements,
            )
        for file, path in _files(root, folder):
            if path.exists() and not path.is_file():
                raise ModelError(f"{where}: {path} is not a regular file", value=str(path))
            if file.tag != "include" or not path.is_file() or path.resolve() in seen:
                continue
            seen.add(path.resolve())
            included = read_text(path)
            length += len(included)
            if len(seen) > MAX_FILES or length > MAX_BYTES:
                raise ModelError(
                    f"{where}: the file includes more than the permitted {MAX_FILES} files or "
                    f"{MAX_BYTES} bytes",
                    value=str(path),
                )
            waiting.append((_root(included, str(path)), str(path)))


def _root(text: str, where: str) -> Element:
    return parse_xml(without_comments(text), where, MAX_DEPTH)


def _files(root: Element, folder: Path) -> list[tuple[Element, Path]]:
    """Return every element that references a file, with each path it may have.

    There is one pair for each element and candidate folder.
    """
    folders = {folder}
    for compiler in root.iter("compiler"):
        folders |= {folder / compiler.attrib[key] for key in FOLDERS if key in compiler.attrib}
    return [
        (part, below / part.attrib["file"])
        for part in root.iter()
        if part.get("file")
        for below in folders
    ]


def _expanded_count(root: Element, where: str) -> float:
    """Count the elements after the expansion of all copies (`<replicate>`)."""
    total, waiting = 0.0, [(root, 1.0)]
    while waiting:
        part, factor = waiting.pop()
        if part.tag in COPIES:
            counts = [abs(number_in(text)) for text in part.get("count", "1").split()]
            factor *= math.prod(max(count, 1.0) for count in counts if math.isfinite(count))
        sizes = SIZES.get(part.tag, tuple(part.attrib) if part.tag == "size" else ())
        for key in sizes:
            if number_in(part.get(key, "0")) > MAX_SIZE:
                raise ModelError(
                    f"{where}: {key} of a <{part.tag}> is {part.get(key)}, expected at most "
                    f"{MAX_SIZE}",
                    value=part.get(key),
                )
        total += factor
        if total > MAX_ELEMENTS:
            return total
        waiting += [(inner, factor) for inner in part]
    return total
