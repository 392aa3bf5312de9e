# SPDX-License-Identifier: Apache-2.0

"""Creation of a figure from the visual or collision shapes of links."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from robodyn.errors import ModelError
from robodyn.formats.meshes import Mesh, mesh_file, read_mesh
from robodyn.model import Joint, Link
from robodyn.model.geometry import Geometry, MeshFile
from robodyn.presentation.figure import GRAY, Figure, Shape


def figure_of_links(
    links: Sequence[Link],
    joints: Sequence[Joint],
    source: str,
    file: Path | None = None,
    mesh_folders: Collection[Path] | None = None,
    kind: Literal["visuals", "collisions"] = "visuals",
) -> Figure:
    """Create the figure of a tree of links from their visual or collision shapes.

    Args:
        links, joints: links and joints of the tree.
        source: name of the description, for remarks.
        file: file to which mesh names are relative.
        mesh_folders: the only folders that meshes are read from, see `mesh_file`; None for any.
        kind: geometry of the links to draw.

    Returns:
        The figure; its remarks state how many meshes cannot be read, and why the first one cannot.
    """
    shapes: list[Shape] = []
    left_out: list[str] = []
    meshes: dict[MeshFile, Mesh] = {}
    for link in links:
        for visual in (part for whole in getattr(link, kind) for part in whole.without_capsules):
            form = visual.form
            try:
                if isinstance(form, MeshFile) and form not in meshes:
                    found = mesh_file(form.file, near=file, allowed=mesh_folders)
                    meshes[form] = read_mesh(found, np.array(form.scale))
            except ModelError as error:
                left_out.append(str(error))
                continue
            shapes.append(_shape(link.name, visual, meshes))
    remarks = []
    if left_out:
        remarks = [f"{source}: meshes not drawn: {len(left_out)}; the first: {left_out[0]}"]
    return Figure(joints, shapes, links[0].name if links else "base_link", remarks)


def _shape(link: str, visual: Geometry, meshes: dict[MeshFile, Mesh]) -> Shape:
    form, material = visual.form, visual.material
    color = None if material is None else material.color
    red, green, blue, opacity = color or (*GRAY, 1.0)
    place = visual.at.matrix
    if isinstance(form, MeshFile):
        return Shape(link, "mesh", (), place, (red, green, blue), opacity, meshes[form])
    return Shape(link, form.kind, form.size, place, (red, green, blue), opacity)
