# SPDX-License-Identifier: Apache-2.0

"""A figure from URDF text: its links, its joints, and the visuals that are primitives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import ModelError
from robodyn.formats.meshes import Mesh, mesh_file, read_mesh
from robodyn.formats.xml_text import parse_xml
from robodyn.mechanisms.common.figure import GREY, DrawnJoint, Figure, Shape

if TYPE_CHECKING:
    from pathlib import Path
    from xml.etree.ElementTree import Element

    from robodyn.arrays import FloatArray


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
    joints = _joints(root, source)
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
    return _joints(parse_xml(text, source), source)


def _joints(root: Element, source: str) -> list[DrawnJoint]:
    return [_joint(joint, source) for joint in root.iterfind("joint")]


def _joint(joint: Element, source: str) -> DrawnJoint:
    name = str(joint.get("name"))
    where = f"{source}: joint {name!r}"
    parent, child = (_child(joint, tag, where).get("link", "") for tag in ("parent", "child"))
    axis = joint.find("axis")
    direction = np.array([1.0, 0.0, 0.0])
    if axis is not None:
        direction = _numbers(axis.get("xyz", "1 0 0"), 3, f"{where}: axis")
    length = float(np.linalg.norm(direction))
    if length == 0.0:
        raise ModelError(f"{where}: axis has no direction", value=direction)
    mimic = joint.find("mimic")
    follows = None
    if mimic is not None:
        factor, offset = (
            float(_numbers(mimic.get(key, default), 1, f"{where}: mimic {key}")[0])
            for key, default in (("multiplier", "1"), ("offset", "0"))
        )
        follows = (str(mimic.get("joint")), factor, offset)
    return DrawnJoint(
        name,
        joint.get("type", "fixed"),
        parent,
        child,
        _place(joint, where),
        direction / length,
        follows,
        _travel(joint, where),
    )


def _travel(joint: Element, where: str) -> float:
    limit = joint.find("limit")
    if joint.get("type") != "prismatic" or limit is None:
        return 0.0
    return float(_numbers(limit.get("upper", "0"), 1, f"{where}: limit upper")[0])


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
    roll, pitch, yaw = _numbers(origin.get("rpy", "0 0 0"), 3, f"{where}: rpy")
    (sr, sp, sy), (cr, cp, cy) = np.sin([roll, pitch, yaw]), np.cos([roll, pitch, yaw])
    frame[:3, :3] = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
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
