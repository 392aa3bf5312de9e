# SPDX-License-Identifier: Apache-2.0

"""Visuals of an SDF's link in the words of URDF: plain shapes and meshes."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from robodyn.formats.urdf_shapes import element, numbers, origin
from robodyn.poses import rpy_of_rotation

if TYPE_CHECKING:
    from robodyn.formats.sdf.frames import Frames

SHAPES = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"),
          "capsule": ("radius", "length")}  # fmt: skip


def add_shapes(out: ElementTree.Element, link: ElementTree.Element, frames: Frames) -> None:
    """Add what is drawn of a link to that of a URDF; other shapes are passed over."""
    for visual in link.iterfind("visual"):
        shape = next(iter(visual.find("geometry") or ()), None)
        if shape is None or shape.tag not in (*SHAPES, "mesh"):
            continue
        place = frames.matrix(visual.find("pose"), f"visual {visual.get('name')!r}")
        drawn = element(out, "visual")
        origin(drawn, place[:3, 3], rpy_of_rotation(place[:3, :3]))
        geometry = element(drawn, "geometry")
        if shape.tag == "mesh":
            told = {"filename": (shape.findtext("uri") or "").strip()}
            scale = shape.findtext("scale")
            element(geometry, "mesh", **told | ({"scale": scale.strip()} if scale else {}))
        else:
            sizes = {key: (shape.findtext(key) or "1").strip() for key in SHAPES[shape.tag]}
            tag = "cylinder" if shape.tag == "capsule" else shape.tag
            element(geometry, tag, **sizes)
        color = visual.findtext("material/diffuse")
        if color:
            parts = (*(float(part) for part in color.split()), 1.0)[:4]
            material = element(drawn, "material", name=f"{link.get('name')} {visual.get('name')}")
            element(material, "color", rgba=numbers(parts))
