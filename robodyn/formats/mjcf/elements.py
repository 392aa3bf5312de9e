# SPDX-License-Identifier: Apache-2.0

"""Frames and plain shapes of MuJoCo's; meshes are left to it."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from robodyn.arrays import FloatArray
from robodyn.formats.urdf_shapes import element, frame_origin, numbers


def frame(place: Any, rotation: FloatArray | None = None) -> FloatArray:
    """A homogeneous transform (4, 4)."""
    out = np.eye(4)
    out[:3, 3] = place
    if rotation is not None:
        out[:3, :3] = rotation
    return out


def rotation(quaternion: Any) -> FloatArray:
    """(3, 3) of MuJoCo's w x y z."""
    w, x, y, z = quaternion
    return np.asarray(Rotation.from_quat([x, y, z, w]).as_matrix(), dtype=np.float64)


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
            shape, sizes = "box", {"size": numbers(2.0 * model.geom_size[n])}
        elif kind in (int(kinds.mjGEOM_CYLINDER), int(kinds.mjGEOM_CAPSULE)):
            shape = "cylinder"
            sizes = {"radius": repr(size[0]), "length": repr(2.0 * size[1])}
        else:
            continue
        if model.geom_group[n] >= DRAWN_GROUPS:
            continue
        visual = element(link, "visual")
        frame_origin(visual, frame(model.geom_pos[n], rotation(model.geom_quat[n])))
        element(element(visual, "geometry"), shape, **sizes)
        material = element(visual, "material", name=f"geom{n}")
        rgba = numbers([round(float(value), 4) for value in model.geom_rgba[n]])
        element(material, "color", rgba=rgba)
