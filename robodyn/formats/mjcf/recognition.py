# SPDX-License-Identifier: Apache-2.0

"""Of which format an XML is: by its root element."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from robodyn.formats.xml_text import without_comments
from robodyn.formats.yaml_text import read_text

if TYPE_CHECKING:
    from pathlib import Path


def is_mjcf(source: Path | str) -> bool:
    """Whether a file, or text, is MJCF: its root element is `<mujoco>`."""
    return root_tag(source if isinstance(source, str) else read_text(source)) == "mujoco"


def root_tag(text: str) -> str:
    """Name of the root element; empty if it is no XML."""
    try:
        for _, element in ElementTree.iterparse(_Text(without_comments(text)), events=("start",)):
            return str(element.tag)
    except (ElementTree.ParseError, ValueError):
        pass
    return ""


class _Text:
    """A text as a file, of which the parser reads no more than it needs."""

    def __init__(self, text: str) -> None:
        self._rest = text.lstrip("\ufeff \t\r\n").encode("utf-8", "surrogatepass")

    def read(self, count: int = 4096) -> bytes:
        """The next bytes."""
        part, self._rest = self._rest[:count], self._rest[count:]
        return part
