# SPDX-License-Identifier: Apache-2.0

"""Visual and collision geometry of links as elements of a URDF."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from xml.etree.ElementTree import Element

from robodyn.formats.meshes import mesh_address
from robodyn.formats.xml_elements import element, frame_origin, numbers
from robodyn.model.body import Link
from robodyn.model.geometry import Geometry, Material, MeshFile


class GeometryWriter:
    """Writer of the visual and collision shapes of links as URDF elements.

    Args:
        robot: root element, which gets the materials that several visuals share.
        links: links of the model.
        source: file to which the names of meshes are relative.
    """

    def __init__(self, robot: Element, links: Iterable[Link], source: str) -> None:
        self._near = Path(source)
        known: dict[str, set[Material]] = {}
        for material in (shape.material for link in links for shape in link.visuals):
            if material is not None and material.name:
                known.setdefault(material.name, set()).add(material)
        self._shared = {name for name, same in known.items() if len(same) == 1}
        for name in (name for name in known if name in self._shared):
            _write_material(robot, next(iter(known[name])))

    def write(self, out: Element, link: Link) -> None:
        """Append the visual and collision shapes of a link to its URDF element `out`."""
        for tag, shapes in (("visual", link.visuals), ("collision", link.collisions)):
            for shape in (part for whole in shapes for part in whole.without_capsules):
                self._write(element(out, tag), shape)

    def _write(self, out: Element, shape: Geometry) -> None:
        if shape.name:
            out.set("name", shape.name)
        if not shape.at.is_link_frame:
            frame_origin(out, shape.at.matrix)
        geometry, form = element(out, "geometry"), shape.form
        if isinstance(form, MeshFile):
            mesh = element(geometry, "mesh", filename=mesh_address(form.file, self._near))
            if form.scale != (1.0, 1.0, 1.0):
                mesh.set("scale", numbers(form.scale))
        else:
            sizes = {key: numbers(values) for key, values in form.attributes.items()}
            element(geometry, form.kind, **sizes)
        if shape.material is None:
            return
        if shape.material.name in self._shared:
            element(out, "material", name=shape.material.name)
        elif shape.material != Material():
            _write_material(out, shape.material)


def _write_material(parent: Element, material: Material) -> None:
    name = material.name or "color_" + "".join(
        f"{round(255 * c):02x}" for c in material.color or ()
    )
    out = element(parent, "material", name=name)
    if material.color is not None:
        element(out, "color", rgba=numbers(material.color))
    if material.texture:
        element(out, "texture", filename=material.texture)
