# SPDX-License-Identifier: Apache-2.0

"""A figure from URDF text: its links, its joints, and the visuals that are primitives."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import ModelError
from robodyn.formats.meshes import Mesh, mesh_file, read_mesh
from robodyn.formats.urdf_joints import axis, position_limits, transform
from robodyn.formats.urdf_text import parse_urdf
from robodyn.formats.xml_text import parse_xml
from robodyn.mechanisms.common.figure import GREY, DrawnJoint, Figure, Shape
from robodyn.poses import pose_from_rpy, rotation_matrix

_SIZES = {"cylinder": ("radius", "length"), "sphere": ("radius",), "box": ("size",)}


def figure_from_urdf(text: str, source: str = "URDF text", file: Path | None = None) -> Figure:
    """The figure of a URDF; `source` names it in messages.

    Meshes are read from where `file`, the URDF's own, says they are; the figure's remarks say how
    many cannot be read, and why the first one cannot.

    Raises:
        ModelError: the text is not well-formed, or a number cannot be read; names the link and
            the value.
    """
    root = parse_xml(text, source)
    palette = {
        str(material.get("name")): color
        for material in root.iterfind("material")
        if (color := _color(material)) is not None
    }
    shapes: list[Shape] = []
    left_out: list[str] = []
    meshes: dict[tuple[str, str], Mesh] = {}
    for link in root.iterfind("link"):
        for visual in link.iterfind("visual"):
            try:
                mesh = _mesh(visual, file, source, meshes)
            except ModelError as error:
                left_out.append(str(error))
                continue
            shape = _shape(visual, str(link.get("name")), palette, source, mesh)
            if shape is not None:
                shapes.append(shape)
    joints = joints_of_urdf(text, source)
    names = [str(link.get("name")) for link in root.iterfind("link")]
    remarks = []
    if left_out:
        remarks = [f"{source}: {len(left_out)} meshes are not drawn; of the first, {left_out[0]}"]
    return Figure(joints, shapes, names[0] if names else "base_link", remarks)


def joints_of_urdf(text: str, source: str = "URDF text") -> list[DrawnJoint]:
    """The joints of a URDF alone, as `figure_from_urdf` has them; no mesh is read.

    Raises:
        ModelError: as `figure_from_urdf`.
    """
    return [_joint(joint) for joint in parse_urdf(text, source).robot.joints]


def _joint(joint: Any) -> DrawnJoint:
    direction, mimic = axis(joint), joint.mimic
    follows = None
    if mimic is not None:
        factor = 1.0 if mimic.multiplier is None else float(mimic.multiplier)
        follows = (str(mimic.joint), factor, float(mimic.offset or 0.0))
    travel = float(position_limits(joint)[1]) if joint.type == "prismatic" else 0.0
    return DrawnJoint(
        joint.name,
        joint.type,
        joint.parent,
        joint.child,
        transform(joint.origin),
        direction / np.linalg.norm(direction),
        follows,
        travel if np.isfinite(travel) else 0.0,
    )


def _mesh(
    visual: Element, file: Path | None, source: str, known: dict[tuple[str, str], Mesh]
) -> Mesh | None:
    """The mesh of a visual, read once however often it is drawn; None for a primitive."""
    form = visual.find("geometry/mesh")
    if form is None:
        return None
    name, scale = form.get("filename", ""), form.get("scale", "1 1 1")
    if (name, scale) not in known:
        factors = _numbers(scale, 3, f"{source}: scale of mesh {name}")
        known[name, scale] = read_mesh(mesh_file(name, file), factors)
    return known[name, scale]


def _shape(
    visual: Element,
    link: str,
    palette: dict[str, tuple[float, ...]],
    source: str,
    mesh: Mesh | None,
) -> Shape | None:
    """The shape of a visual, or None for one of another kind."""
    where = f"{source}: visual of link {link!r}"
    geometry = _child(visual, "geometry", where)
    material = visual.find("material")
    color: tuple[float, ...] | None = None
    if material is not None:
        color = _color(material) or palette.get(str(material.get("name")))
    red, green, blue, opacity = color or (*GREY, 1.0)
    if mesh is not None:
        place = _place(visual, where)
        return Shape(link, "mesh", (), place, (red, green, blue), opacity, mesh)
    for kind, keys in _SIZES.items():
        form = geometry.find(kind)
        if form is None:
            continue
        count = 3 if kind == "box" else 1
        size = np.concatenate(
            [_numbers(form.get(key, ""), count, f"{where}: {key}") for key in keys]
        )
        if (size <= 0.0).any():
            raise ModelError(f"{where}: {kind} of size {size.tolist()}", value=size.tolist())
        place = _place(visual, where)
        return Shape(link, kind, tuple(size.tolist()), place, (red, green, blue), opacity)
    return None


def _color(material: Element) -> tuple[float, ...] | None:
    color = material.find("color")
    if color is None:
        return None
    values = _numbers(color.get("rgba", ""), 4, f"material {material.get('name')!r}: rgba")
    return tuple(np.clip(values, 0.0, 1.0).tolist())


def _place(element: Element, where: str) -> FloatArray:
    """(4, 4) of an `<origin>`, R = Rz(yaw) Ry(pitch) Rx(roll)."""
    frame = np.eye(4)
    origin = element.find("origin")
    if origin is None:
        return frame
    frame[:3, 3] = _numbers(origin.get("xyz", "0 0 0"), 3, f"{where}: xyz")
    rpy = _numbers(origin.get("rpy", "0 0 0"), 3, f"{where}: rpy")
    frame[:3, :3] = rotation_matrix(pose_from_rpy(np.zeros(3), rpy))
    return frame


def _child(element: Element, tag: str, where: str) -> Element:
    found = element.find(tag)
    if found is None:
        raise ModelError(f"{where}: no <{tag}>", value=tag)
    return found


def _numbers(text: str, count: int, where: str) -> FloatArray:
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError:
        values = np.array([])
    if len(values) != count or not np.isfinite(values).all():
        raise ModelError(f"{where} is {text!r}, expected {count} finite numbers", value=text)
    return values
