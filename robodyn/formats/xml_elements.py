# SPDX-License-Identifier: Apache-2.0

"""Helpers to read and write numbers, frames and elements of URDF, SDF and MJCF."""

from __future__ import annotations

from collections.abc import Container
from xml.etree import ElementTree

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import ModelError
from robodyn.formats.xml_text import numbers_in
from robodyn.poses import pose_from_rpy, rotation_matrix, rpy_of_rotation

# As in SDFormat, a limit of at least this value means no limit, as XML has no portable infinity.
UNLIMITED = 1e16
# Our own element, see `robodyn.parsing.own_attributes`.
TAG = "robodyn"
# Attribute of an `<origin>` from URDF 1.1 on.
QUATERNION = "quat_xyzw"
# Elements of a symmetric tensor in a file.
INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def number(value: float) -> str:
    """Format a float with the fewest digits that read back as the same float."""
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def numbers(values: ArrayLike) -> str:
    """Format floats, separated by spaces, so that they read back as the same floats."""
    return " ".join(number(value) for value in np.asarray(values, dtype=np.float64).ravel())


def element(parent: ElementTree.Element | None, tag: str, **attributes: str) -> ElementTree.Element:
    """Create an XML element, append it to `parent` unless that is None, and return it.

    Args:
        parent: parent element, or None.
        tag: name of the element.
        attributes: values of its attributes.
    """
    if parent is None:
        return ElementTree.Element(tag, attributes)
    return ElementTree.SubElement(parent, tag, attributes)


def document_text(robot: ElementTree.Element) -> str:
    """Format an XML document, given its root element, as indented text."""
    ElementTree.indent(robot)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(robot, encoding="unicode") + "\n"


def origin(
    parent: ElementTree.Element,
    xyz: ArrayLike = (0.0, 0.0, 0.0),
    rpy: ArrayLike = (0.0, 0.0, 0.0),
    tag: str = "origin",
) -> None:
    """Append an `<origin>` with `xyz` [m] and `rpy` [rad] to an element."""
    element(parent, tag, xyz=numbers(xyz), rpy=numbers(rpy))


def frame_of(xyz: ArrayLike = (0.0, 0.0, 0.0), rpy: ArrayLike = (0.0, 0.0, 0.0)) -> FloatArray:
    """Return the transform (4, 4) of an `<origin>` with `xyz` [m] and `rpy` [rad]."""
    out = np.eye(4)
    out[:3, 3], out[:3, :3] = xyz, rotation_matrix(pose_from_rpy((0.0, 0.0, 0.0), rpy))
    return out


def read_frame(stated: ElementTree.Element | None, where: str = "origin") -> FloatArray:
    """Read an `<origin>` element.

    Args:
        stated: the element; None gives the identity.
        where: name of the file and the element, for messages.

    Returns:
        Transform (4, 4).

    Raises:
        ModelError: `xyz` or `rpy` does not consist of three numbers, or `quat_xyzw` is not a unit
            quaternion.
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
    """Convert URDF 1.1's `quat_xyzw` string to roll, pitch and yaw (3,) [rad].

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


def limit_from_file(value: float) -> float:
    """Return a limit read from a file; magnitudes from 1e16 on become infinite.

    SDF and URDF files state such values instead of infinity.
    """
    return float(np.copysign(np.inf, value)) if abs(value) >= UNLIMITED else float(value)


def frame_origin(parent: ElementTree.Element, place: FloatArray, tag: str = "origin") -> None:
    """Append the `<origin>` of a transform (4, 4) to an element.

    Its angles reproduce the rotation to rounding, also near gimbal lock.

    Args:
        parent: element to extend.
        place: (4, 4) transform.
        tag: name of the new element.
    """
    origin(parent, place[:3, 3], rpy_of_rotation(place[:3, :3]), tag)


def remove_params(robot: ElementTree.Element, names: Container[str]) -> None:
    """Remove parameters of the given names from the joints of `<ros2_control>`.

    Parameters of `<hardware>` are kept.

    Args:
        robot: root element of the URDF, which is changed.
        names: names of the parameters to remove.
    """
    for joint in robot.iterfind("ros2_control/joint"):
        for param in joint.findall("param"):
            if param.get("name", "") in names:
                joint.remove(param)
