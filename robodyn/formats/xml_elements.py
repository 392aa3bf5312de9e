# SPDX-License-Identifier: Apache-2.0

"""Numbers, frames and elements in the XML of descriptions."""

from __future__ import annotations

from collections.abc import Container
from xml.etree import ElementTree

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import ModelError
from robodyn.formats.xml_text import numbers_in
from robodyn.poses import pose_from_rpy, rotation_matrix, rpy_of_rotation

# As in SDFormat, a limit of at least this is none: XML has no portable infinity.
UNLIMITED = 1e16
# Our own element, see `robodyn.parsing.own_attributes`.
TAG = "robodyn"
# Attribute of an `<origin>` from URDF 1.1 on.
QUATERNION = "quat_xyzw"
# Elements of a symmetric tensor in a file.
INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def number(value: float) -> str:
    """Return a float as a string, with the fewest digits that read back exactly."""
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def numbers(values: ArrayLike) -> str:
    """Return floats as a string, separated by spaces, each formatted by `number`."""
    return " ".join(number(value) for value in np.asarray(values, dtype=np.float64).ravel())


def element(parent: ElementTree.Element | None, tag: str, **attributes: str) -> ElementTree.Element:
    """Create an XML element, and append it to `parent` unless that is None.

    Returns the new element.
    """
    if parent is None:
        return ElementTree.Element(tag, attributes)
    return ElementTree.SubElement(parent, tag, attributes)


def document_text(robot: ElementTree.Element) -> str:
    """Return a document as XML text, with its declaration."""
    ElementTree.indent(robot)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(robot, encoding="unicode") + "\n"


def origin(
    parent: ElementTree.Element,
    xyz: ArrayLike = (0.0, 0.0, 0.0),
    rpy: ArrayLike = (0.0, 0.0, 0.0),
    tag: str = "origin",
) -> None:
    """Add an `<origin>` with `xyz` [m] and `rpy` [rad] to an element."""
    element(parent, tag, xyz=numbers(xyz), rpy=numbers(rpy))


def frame_of(xyz: ArrayLike = (0.0, 0.0, 0.0), rpy: ArrayLike = (0.0, 0.0, 0.0)) -> FloatArray:
    """Return the transform (4, 4) for xyz [m] and rpy [rad] of an `<origin>`."""
    out = np.eye(4)
    out[:3, 3], out[:3, :3] = xyz, rotation_matrix(pose_from_rpy((0.0, 0.0, 0.0), rpy))
    return out


def read_frame(stated: ElementTree.Element | None, where: str = "origin") -> FloatArray:
    """Return the transform (4, 4) of an `<origin>`; the identity if it is missing.

    Raises:
        ModelError: `xyz` or `rpy` does not consist of three numbers, or `quat_xyzw` is not a unit
            quaternion; `where` names the file and the element in the message.
    """
    texts = {} if stated is None else stated.attrib
    if QUATERNION in texts:
        return frame_of(
            numbers_in(texts.get("xyz", "0 0 0"), 3, f"{where}: xyz"),
            rpy_of_quaternion(texts[QUATERNION], f"{where}: {QUATERNION}"),
        )
    return frame_of(
        *(numbers_in(texts.get(k, "0 0 0"), 3, f"{where}: {k}") for k in ("xyz", "rpy"))
    )


def rpy_of_quaternion(text: str, where: str) -> FloatArray:
    """Convert a string x y z w of URDF 1.1 to roll, pitch and yaw (3,) [rad].

    Raises:
        ModelError: the string does not consist of four numbers, or the quaternion's length differs
            from 1 by more than 1e-3.
    """
    quaternion = np.array(numbers_in(text, 4, where))
    length = float(np.linalg.norm(quaternion))
    if not abs(length - 1.0) < 1e-3:
        raise ModelError(
            f"{where} is {text.strip()[:100]!r}, expected x y z w of length 1, not {length:.6g}",
            value=text,
        )
    pose = np.concatenate([np.zeros(3), quaternion / length])
    return rpy_of_rotation(rotation_matrix(pose))


def finite(value: float) -> float:
    """Return a limit; magnitudes of `UNLIMITED` and above become infinite."""
    return float(np.copysign(np.inf, value)) if abs(value) >= UNLIMITED else float(value)


def frame_origin(parent: ElementTree.Element, place: FloatArray, tag: str = "origin") -> None:
    """Add the `<origin>` for a transform (4, 4) to an element.

    It is exact within rounding at every pitch.
    """
    origin(parent, place[:3, 3], rpy_of_rotation(place[:3, :3]), tag)


def remove_params(robot: ElementTree.Element, names: Container[str]) -> None:
    """Remove the parameters of joints from `<ros2_control>`.

    Those of the hardware stay.
    """
    for joint in robot.iterfind("ros2_control/joint"):
        for param in joint.findall("param"):
            if param.get("name", "") in names:
                joint.remove(param)
