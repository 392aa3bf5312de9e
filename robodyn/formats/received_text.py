# SPDX-License-Identifier: Apache-2.0

"""Descriptions received on a topic or in a bag, whose text must not open files."""

from __future__ import annotations

from xml.etree import ElementTree

from robodyn.errors import ModelError
from robodyn.formats.xml_text import parse_xml, root_tag


def received_description(text: str, source: str) -> str:
    """Check that URDF, SDF or MJCF text from an untrusted source references no files.

    `rd.load` would open a path as a file, and MuJoCo would open the files that MJCF references.
    Loading a URDF does not open its meshes; see `mesh_file`.

    Args:
        text: received text.
        source: origin of the text, for messages.

    Returns:
        The text, unchanged.

    Raises:
        ModelError: the text is not XML, or is MJCF that references files.
    """
    if not text.lstrip("\ufeff \t\r\n").startswith("<"):
        raise ModelError(
            f"{source}: expected the text of a description, which starts with '<', not "
            f"{text[:60]!r}: to use a file or a bundled model, name it in a parameter",
            value=text,
        )
    if root_tag(text) != "mujoco":
        return text
    root = parse_xml(text, source)
    for element in root.iter():
        for name, value in element.attrib.items():
            if name.lower().startswith("file") or element.tag.lower() == "include":
                raise ModelError(
                    f"{source}: <{element.tag}> names the file {value!r}: received MJCF must be "
                    "self-contained; name the file of this MJCF in a parameter instead",
                    value=value,
                )
    # the checked elements, as another parser may read the same text differently
    return ElementTree.tostring(root, encoding="unicode")
