# SPDX-License-Identifier: Apache-2.0

"""A figure from URDF text: its links, its joints, and the visuals that are primitives."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from robodyn.errors import ModelError
from robodyn.formats.meshes import Mesh, mesh_file, read_mesh
from robodyn.formats.urdf_shapes import read_frame
from robodyn.formats.urdf_text import parse_urdf
from robodyn.formats.xml_text import numbers_in, parse_xml
from robodyn.mechanisms.common.figure import GREY, Figure, Shape
from robodyn.mechanisms.common.urdf_model import urdf_joints
from robodyn.model.joint import Joint

_SIZES = {"cylinder": {"radius": 1, "length": 1}, "sphere": {"radius": 1}, "box": {"size": 3}}


def figure_from_urdf(
    text: str,
    source: str = "URDF text",
    file: Path | None = None,
    mesh_folders: Collection[Path] | None = None,
) -> Figure:
    """The figure of a URDF; `source` names it in messages.

    Meshes are read from where `file`, the URDF's own, says they are, if `mesh_folders` allows it
    (see `mesh_file`); the figure's remarks say how many cannot be read, and why the first one
    cannot.

    Raises:
        ModelError: the text is not well-formed, or a number cannot be read; names the link and
            the value.
    """
    root = parse_xml(text, source)
    palette = {material.get("name"): _color(material) for material in root.iterfind("material")}
    shapes: list[Shape] = []
    left_out: list[str] = []
    meshes: dict[tuple[str, str], Mesh] = {}
    find = partial(mesh_file, near=file, allowed=mesh_folders)
    for link in root.iterfind("link"):
        for visual in link.iterfind("visual"):
            try:
                mesh = _mesh(visual, find, source, meshes)
            except ModelError as error:
                left_out.append(str(error))
                continue
            shapes += _shapes(visual, link.get("name", ""), palette, source, mesh)
    remarks = []
    if left_out:
        remarks = [f"{source}: {len(left_out)} meshes are not drawn; of the first, {left_out[0]}"]
    first = next((link.get("name", "") for link in root.iterfind("link")), "base_link")
    return Figure(joints_of_urdf(text, source), shapes, first, remarks)


def joints_of_urdf(text: str, source: str = "URDF text") -> list[Joint]:
    """The joints of a URDF alone, as `figure_from_urdf` has them; no mesh is read.

    Raises:
        ModelError: as `figure_from_urdf`.
    """
    return urdf_joints(parse_urdf(text, source))


def _mesh(
    visual: Element,
    find: Callable[[str], Path],
    source: str,
    known: dict[tuple[str, str], Mesh],
) -> Mesh | None:
    """The mesh of a visual, read once however often it is drawn; None for a primitive."""
    form = visual.find("geometry/mesh")
    if form is None:
        return None
    name, scale = form.get("filename", ""), form.get("scale", "1 1 1")
    if (name, scale) not in known:
        factors = numbers_in(scale, 3, f"{source}: scale of mesh {name}")
        known[name, scale] = read_mesh(find(name), np.array(factors))
    return known[name, scale]


def _shapes(
    visual: Element,
    link: str,
    palette: dict[str | None, tuple[float, ...] | None],
    source: str,
    mesh: Mesh | None,
) -> list[Shape]:
    """The shape of a visual, none for one of another kind."""
    where = f"{source}: visual of link {link!r}"
    geometry, material = visual.find("geometry"), visual.find("material")
    if geometry is None:
        raise ModelError(f"{where}: no <geometry>", value="geometry")
    color = None if material is None else _color(material) or palette.get(material.get("name"))
    red, green, blue, opacity = color or (*GREY, 1.0)
    kind, size = "mesh", []
    if mesh is None:
        form = next((form for form in geometry if form.tag in _SIZES), None)
        if form is None:
            return []
        kind = form.tag
        for key, count in _SIZES[kind].items():
            size += numbers_in(form.get(key, ""), count, f"{where}: {key}")
        if min(size) <= 0.0:
            raise ModelError(f"{where}: {kind} of size {size}", value=size)
    place = read_frame(visual.find("origin"), where)
    return [Shape(link, kind, tuple(size), place, (red, green, blue), opacity, mesh)]


def _color(material: Element) -> tuple[float, ...] | None:
    color = material.find("color")
    if color is None:
        return None
    rgba = numbers_in(color.get("rgba", ""), 4, f"material {material.get('name')!r}: rgba")
    return tuple(np.clip(rgba, 0.0, 1.0).tolist())
