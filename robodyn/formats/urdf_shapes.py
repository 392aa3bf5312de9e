# SPDX-License-Identifier: Apache-2.0

"""URDF elements as XML trees: origins, inertials, visual and collision shapes."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from xml.etree import ElementTree

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import ModelError
from robodyn.formats.xml_text import numbers_in
from robodyn.poses import pose_from_rpy, rotation_matrix, rpy_of_rotation

# As in SDFormat, a limit from here on means unlimited: XML has no portable infinity.
UNLIMITED = 1e16
# Our own element, see `robodyn.parsing.own_attributes`.
TAG = "robodyn"
# The attribute of an `<origin>` that URDF has from version 1.1 on.
QUATERNION = "quat_xyzw"
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


def document_text(robot: ElementTree.Element) -> str:
    """The whole document."""
    ElementTree.indent(robot)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(robot, encoding="unicode") + "\n"


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
        ModelError: `xyz` or `rpy` is not three numbers, or `quat_xyzw` no unit quaternion; `where`
            names the file and the place.
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
    """Roll, pitch and yaw (3,) [rad] of a quaternion x y z w, as URDF 1.1 has it.

    Raises:
        ModelError: it is no four numbers, or its length differs from 1 by more than 1e-3.
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


def write_motion(
    joint: ElementTree.Element,
    axis: ArrayLike,
    *,
    position: ArrayLike = (-np.inf, np.inf),
    velocity: float = np.inf,
    effort: float = np.inf,
    damping: float = 0.0,
    friction: float = 0.0,
    mimic: tuple[str, float, float] | None = None,
) -> None:
    """Axis, limits and friction of a joint, and the joint that it follows with factor and offset.

    Limits of position that are both infinite are left out.
    """
    element(joint, "axis", xyz=numbers(axis))
    limit = element(joint, "limit")
    if np.isfinite(position).any():
        for key, end in zip(("lower", "upper"), np.asarray(position), strict=True):
            limit.set(key, number(np.clip(end, -UNLIMITED, UNLIMITED)))
    for key, value in (("effort", effort), ("velocity", velocity)):
        limit.set(key, number(min(value, UNLIMITED)))
    element(joint, "dynamics", damping=number(damping), friction=number(friction))
    if mimic is not None:
        leader, factor, offset = mimic
        element(joint, "mimic", joint=leader, multiplier=number(factor), offset=number(offset))


def write_closure(
    robot: ElementTree.Element | None,
    name: str,
    kind: str,
    ends: Iterable[tuple[str, FloatArray, ArrayLike | None]],
    damping: float = 0.0,
) -> ElementTree.Element:
    """A `<constraint>` of a parent and a child: a link, a frame (4, 4) on it, an axis or none."""
    out = element(robot, "constraint", name=name, type=kind, damping=number(damping))
    for side, (link, place, axis) in zip(("parent", "child"), ends, strict=True):
        element(out, side, link=link)
        frame_origin(out, place, f"{side}_origin")
        if axis is not None:
            element(out, f"{side}_axis", xyz=numbers(axis))
    return out


def write_params(robot: ElementTree.Element, params: Mapping[str, Mapping[str, str]]) -> None:
    """Parameters of joints, by joint, in `<ros2_control>`, which is made where there is none."""
    known: dict[str, ElementTree.Element] = {}
    for joint in robot.iterfind("ros2_control/joint"):
        known.setdefault(joint.get("name", ""), joint)
    for name, texts in params.items():
        if not texts:
            continue
        if name not in known:
            system = robot.find("ros2_control")
            if system is None:
                title = robot.get("name", "robot")
                system = element(robot, "ros2_control", name=title, type="system")
            known[name] = element(system, "joint", name=name)
        for key, text in texts.items():
            element(known[name], "param", name=key).text = text


def remove_params(robot: ElementTree.Element, names: Container[str]) -> None:
    """Remove parameters of joints from `<ros2_control>`; whose hardware moves them stays."""
    for joint in robot.iterfind("ros2_control/joint"):
        for param in joint.findall("param"):
            if param.get("name", "") in names:
                joint.remove(param)


def renewed(parent: ElementTree.Element, *tags: str) -> None:
    """Remove the children that are going to be written anew."""
    for tag in tags:
        for old in parent.findall(tag):
            parent.remove(old)


def put_in_order(robot: ElementTree.Element, tag: str, names: Iterable[str]) -> None:
    """Bring elements into an order by name; one without a place in it stays behind the last."""
    order = {name: n for n, name in enumerate(names)}
    places = [n for n, each in enumerate(robot) if each.tag == tag]
    key, keyed = -1, []
    for each in (robot[n] for n in places):
        key = order.get(each.get("name", ""), key)
        keyed.append((key, each))
    for n, (_, each) in zip(places, sorted(keyed, key=lambda pair: pair[0]), strict=True):
        robot[n] = each


def inertial(
    link: ElementTree.Element,
    mass: float = 0.0,
    com: ArrayLike = (0.0, 0.0, 0.0),
    inertia: ArrayLike = ((0.0,) * 3,) * 3,
) -> None:
    """The `<inertial>` of a mass [kg] at (3,) [m], and inertia (3, 3) [kg m^2] about that point.

    Its reader warns of a link without any, so one that has no mass says so.
    """
    out = element(link, "inertial")
    origin(out, com)
    element(out, "mass", value=number(mass))
    parts = zip(INERTIA, np.asarray(inertia)[np.triu_indices(3)], strict=True)
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
