# SPDX-License-Identifier: Apache-2.0

"""URDF elements as XML trees: origins, inertials, visual and collision shapes."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.formats.xml_text import numbers_in
from robodyn.poses import pose_from_rpy, rotation_matrix, rpy_of_rotation

# As in SDFormat, a limit from here on means unlimited: XML has no portable infinity.
UNLIMITED = 1e16
# Of a tensor, the parts that are told.
INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
MATERIALS = {
    "frame": "0.25 0.27 0.30 1",
    "cylinder": "0.55 0.58 0.62 1",
    "rod": "0.85 0.86 0.88 1",
    "joint": "0.85 0.45 0.10 1",
    "platform": "0.20 0.40 0.65 1",
}


def number(value: float) -> str:
    """The shortest text that reads back as exactly this float."""
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def numbers(values: ArrayLike) -> str:
    """Floats separated by spaces, each formatted by `number`."""
    return " ".join(number(value) for value in np.asarray(values, dtype=np.float64).ravel())


def element(parent: ElementTree.Element | None, tag: str, **attributes: str) -> ElementTree.Element:
    """A new element, the last child of `parent` if there is one."""
    if parent is None:
        return ElementTree.Element(tag, attributes)
    return ElementTree.SubElement(parent, tag, attributes)


def origin(
    parent: ElementTree.Element,
    xyz: ArrayLike = (0.0, 0.0, 0.0),
    rpy: ArrayLike = (0.0, 0.0, 0.0),
    tag: str = "origin",
) -> None:
    """An `<origin>` [m, rad]."""
    element(parent, tag, xyz=numbers(xyz), rpy=numbers(rpy))


def frame_of(xyz: ArrayLike = (0.0, 0.0, 0.0), rpy: ArrayLike = (0.0, 0.0, 0.0)) -> FloatArray:
    """Homogeneous transform (4, 4) of an origin [m, rad], its frame to that which it is told in."""
    out = np.eye(4)
    out[:3, 3], out[:3, :3] = xyz, rotation_matrix(pose_from_rpy((0.0, 0.0, 0.0), rpy))
    return out


def read_frame(stated: ElementTree.Element | None, where: str = "origin") -> FloatArray:
    """Homogeneous transform (4, 4) of an `<origin>`, the identity if there is none.

    Raises:
        ModelError: it is no three numbers each; `where` names the file and the place.
    """
    texts = {} if stated is None else stated.attrib
    return frame_of(
        *(numbers_in(texts.get(k, "0 0 0"), 3, f"{where}: {k}") for k in ("xyz", "rpy"))
    )


def finite(value: float) -> float:
    """A limit, infinite from `UNLIMITED` on."""
    return float(np.copysign(np.inf, value)) if abs(value) >= UNLIMITED else float(value)


def frame_origin(parent: ElementTree.Element, place: FloatArray, tag: str = "origin") -> None:
    """An `<origin>` of a frame (4, 4), exact to rounding at every pitch."""
    origin(parent, place[:3, 3], rpy_of_rotation(place[:3, :3]), tag)


def write_joint(
    robot: ElementTree.Element,
    name: str,
    kind: str,
    parent: str,
    child: str,
    place: FloatArray | None = None,
) -> ElementTree.Element:
    """A joint between two links, at a frame (4, 4) of the parent if given."""
    joint = element(robot, "joint", name=name, type=kind)
    element(joint, "parent", link=parent)
    element(joint, "child", link=child)
    if place is not None:
        frame_origin(joint, place)
    return joint


def joints_in_order(robot: ElementTree.Element, names: Iterable[str]) -> None:
    """Bring the joints into an order; those that have no name in it stay behind the one before."""
    places = {name: n for n, name in enumerate(names)}
    key, keyed = -1, []
    for joint in robot.findall("joint"):
        key = places.get(joint.get("name", ""), key)
        keyed.append((key, joint))
        robot.remove(joint)
    robot.extend([joint for _, joint in sorted(keyed, key=lambda pair: pair[0])])


def massless(link: ElementTree.Element) -> None:
    """Say that a link has no mass, which its reader would warn of otherwise."""
    out = element(link, "inertial")
    element(out, "mass", value="0")
    element(out, "inertia", **dict.fromkeys(INERTIA, "0"))


def inertial(link: ElementTree.Element, mass: float, com: ArrayLike, inertia: FloatArray) -> None:
    """The `<inertial>` of a mass [kg] at (3,) [m], and inertia (3, 3) [kg m^2] about that point."""
    out = element(link, "inertial")
    origin(out, com)
    element(out, "mass", value=number(mass))
    parts = zip(INERTIA, inertia[np.triu_indices(3)], strict=True)
    element(out, "inertia", **{key: number(part) for key, part in parts})


def materials(robot: ElementTree.Element) -> None:
    """The palette of `MATERIALS`, at robot level."""
    for name, color in MATERIALS.items():
        element(element(robot, "material", name=name), "color", rgba=color)


def ball(link: ElementTree.Element, centre: ArrayLike, radius: float, material: str) -> None:
    """A sphere, visual only: joints overlap the links they join, and would always collide."""
    visual = element(link, "visual")
    origin(visual, centre)
    element(element(visual, "geometry"), "sphere", radius=_size(radius))
    element(visual, "material", name=material)


def beam(
    link: ElementTree.Element, start: ArrayLike, end: ArrayLike, radius: float, material: str
) -> None:
    """A cylinder between two points (3,) [m], visual and collision; nothing if they coincide."""
    a, b = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    x, y, z = b - a
    length = float(np.linalg.norm(b - a))
    if length < 1e-9:
        return
    # A URDF cylinder lies along z; pitch and yaw turn z into the beam's direction.
    rpy = (0.0, np.arctan2(np.hypot(x, y), z), np.arctan2(y, x))
    for tag in ("visual", "collision"):
        shape = element(link, tag)
        origin(shape, np.round(0.5 * (a + b), 9), np.round(rpy, 9))
        cylinder = element(element(shape, "geometry"), "cylinder", radius=_size(radius))
        cylinder.set("length", _size(length))
        if tag == "visual":
            element(shape, "material", name=material)


def ring(
    link: ElementTree.Element, points: Iterable[ArrayLike], radius: float, material: str
) -> None:
    """Beams that join points (3,) [m] in the order of their angle about the middle."""
    corners = np.asarray(list(points), dtype=np.float64)
    spokes = corners - corners.mean(axis=0)
    order = np.argsort(np.arctan2(spokes[:, 1], spokes[:, 0]), kind="stable")
    for index, corner in enumerate(order):
        beam(link, corners[order[index - 1]], corners[corner], radius, material)


def _size(value: float) -> str:
    return f"{value:.6g}"
