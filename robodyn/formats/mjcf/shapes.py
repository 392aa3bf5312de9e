# SPDX-License-Identifier: Apache-2.0

"""Geoms of plain shapes as URDF visuals; meshes are left to MuJoCo."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

# Geoms of higher groups are not drawn by MuJoCo's viewer either, as long as it is not told to.
DRAWN_GROUPS = 3


def add_shapes(mujoco: Any, model: Any, body: int, link: ElementTree.Element) -> None:
    """Add a visual for each sphere, box, cylinder and capsule of a body to its link."""
    kinds = mujoco.mjtGeom
    first, count = int(model.body_geomadr[body]), int(model.body_geomnum[body])
    for n in range(first, first + count):
        kind, size = int(model.geom_type[n]), [float(value) for value in model.geom_size[n]]
        if kind == int(kinds.mjGEOM_SPHERE):
            shape, sizes = "sphere", {"radius": repr(size[0])}
        elif kind == int(kinds.mjGEOM_BOX):
            shape, sizes = "box", {"size": " ".join(repr(2.0 * value) for value in size)}
        elif kind in (int(kinds.mjGEOM_CYLINDER), int(kinds.mjGEOM_CAPSULE)):
            shape = "cylinder"
            sizes = {"radius": repr(size[0]), "length": repr(2.0 * size[1])}
        else:
            continue
        if model.geom_group[n] >= DRAWN_GROUPS:
            continue
        w, x, y, z = model.geom_quat[n]
        # a picture: what is lost where the pitch is a right angle cannot be seen
        with np.errstate(all="ignore"):
            angles = Rotation.from_quat([x, y, z, w]).as_euler("xyz", suppress_warnings=True)
        visual = ElementTree.SubElement(link, "visual")
        place = {
            "xyz": " ".join(repr(float(value)) for value in model.geom_pos[n]),
            "rpy": " ".join(repr(float(value)) for value in angles),
        }
        ElementTree.SubElement(visual, "origin", place)
        geometry = ElementTree.SubElement(visual, "geometry")
        ElementTree.SubElement(geometry, shape, sizes)
        material = ElementTree.SubElement(visual, "material", {"name": f"geom{n}"})
        rgba = " ".join(repr(round(float(value), 4)) for value in model.geom_rgba[n])
        ElementTree.SubElement(material, "color", {"rgba": rgba})
