# SPDX-License-Identifier: Apache-2.0

"""Numbers and elements of URDF text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray


def add(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    """A new element inside another."""
    return ElementTree.SubElement(parent, tag, attributes)


def text_of(numbers: Any) -> str:
    """Numbers with every digit, apart by a space."""
    return " ".join(repr(float(number)) for number in numbers)


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
