# SPDX-License-Identifier: Apache-2.0

"""A figure from URDF text: its links, its joints and its visuals."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from robodyn.model.joint import Joint
from robodyn.parsing.urdf import parse_urdf
from robodyn.presentation.figure import Figure
from robodyn.presentation.figure_of_links import figure_of_links


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
    builder = parse_urdf(text, source)
    joints, links = list(builder.joints.values()), list(builder.links.values())
    return figure_of_links(links, joints, source, file, mesh_folders)


def joints_of_urdf(text: str, source: str = "URDF text") -> list[Joint]:
    """The joints of a URDF alone, as `figure_from_urdf` has them; no mesh is read.

    Raises:
        ModelError: as `figure_from_urdf`.
    """
    return list(parse_urdf(text, source).joints.values())
