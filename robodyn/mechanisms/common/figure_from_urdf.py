# SPDX-License-Identifier: Apache-2.0

"""A figure from URDF text: its links, its joints and its visuals."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from robodyn.formats.urdf_text import parse_urdf
from robodyn.mechanisms.common.figure import Figure
from robodyn.mechanisms.common.figure_of_links import figure_of_links
from robodyn.mechanisms.common.urdf_model import urdf_joints, urdf_links
from robodyn.model.joint import Joint


def figure_from_urdf(
    text: str,
    source: str = "URDF text",
    file: Path | None = None,
    mesh_folders: Collection[Path] | None = None,
) -> Figure:
    """The figure of a URDF; `source` names it in messages.

    Meshes are read from where `file`, the URDF's own, says they are, if `mesh_folders` allows it.

    Raises:
        ModelError: the text is no URDF.
    """
    document = parse_urdf(text, source)
    joints, links = urdf_joints(document), urdf_links(document)
    return figure_of_links(links, joints, source, file, mesh_folders)


def joints_of_urdf(text: str, source: str = "URDF text") -> list[Joint]:
    """The joints of a URDF alone, as `figure_from_urdf` has them; no mesh is read.

    Raises:
        ModelError: as `figure_from_urdf`.
    """
    return urdf_joints(parse_urdf(text, source))
