# SPDX-License-Identifier: Apache-2.0

"""Visual and collision geometry of a URDF's links."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

import numpy as np

from robodyn.errors import ModelError, warn
from robodyn.formats.xml_elements import read_frame
from robodyn.formats.xml_text import numbers_in
from robodyn.model.geometry import SIZES, Geometry, Material, MeshFile, Primitive
from robodyn.model.placement import Placement


class UrdfGeometry:
    """Reader of the geometry of a URDF's links.

    A shape that cannot be read does not affect the motion, so it is left out with a warning.

    Args:
        robot: root element, with the materials that visuals reference.
        source: name of the file for messages.
    """

    def __init__(self, robot: Element, source: str) -> None:
        self._source, self._palette = source, dict[str, Material]()
        elements = [*robot.iterfind("material"), *robot.iterfind("link/visual/material")]
        for element in elements:
            try:
                material = _material(element, f"{source}: material {element.get('name')!r}")
            except ModelError as error:
                warn(f"{error}; the color is ignored")
                continue
            if material.color is not None or material.texture:
                self._palette.setdefault(material.name, material)

    def visuals(self, link: Element) -> tuple[Geometry, ...]:
        """Return the visual shapes of a link, with their materials."""
        return tuple(self._read(link, "visual"))

    def collisions(self, link: Element) -> tuple[Geometry, ...]:
        """Return the collision shapes of a link."""
        return tuple(self._read(link, "collision"))

    def _read(self, link: Element, tag: str) -> Iterator[Geometry]:
        for shape in link.iterfind(tag):
            where = f"{self._source}: {tag} of link {link.get('name')!r}"
            try:
                form = _form(shape, where)
                at = Placement.of(read_frame(shape.find("origin"), where))
            except ModelError as error:
                text = str(error)
                warn(f"{text if text.startswith(where) else f'{where}: {text}'}; ignored")
                continue
            if form is not None:
                material = self._material_of(shape) if tag == "visual" else None
                yield Geometry(form, at, material, shape.get("name", ""))

    def _material_of(self, visual: Element) -> Material | None:
        element = visual.find("material")
        if element is None:
            return None
        try:
            own = _material(element, "")
        except ModelError:  # reported above
            own = Material(element.get("name", ""))
        stated = own.color is not None or own.texture
        return own if stated else self._palette.get(own.name, own)


def _form(shape: Element, where: str) -> Primitive | MeshFile | None:
    """Return the primitive or mesh of a visual or collision body; None if unsupported."""
    geometry = shape.find("geometry")
    if geometry is None:
        raise ModelError(f"{where}: no <geometry>", value="geometry")
    for form in geometry:
        if form.tag == "mesh":
            name = form.get("filename", "")
            scale = numbers_in(form.get("scale", "1 1 1"), 3, f"{where}: scale of mesh {name}")
            return MeshFile(name, (scale[0], scale[1], scale[2]))
        if form.tag in SIZES:
            size: list[float] = []
            for key, count in SIZES[form.tag].items():
                size += numbers_in(form.get(key, ""), count, f"{where}: {key}")
            return Primitive(form.tag, tuple(size))
    return None


def _material(element: Element, where: str) -> Material:
    color, texture = element.find("color"), element.find("texture")
    rgba = None
    if color is not None:
        rgba = tuple(np.clip(numbers_in(color.get("rgba", ""), 4, f"{where}: rgba"), 0, 1).tolist())
    name = "" if texture is None else texture.get("filename", "")
    return Material(element.get("name", ""), rgba, name)
