# SPDX-License-Identifier: Apache-2.0

"""Links and joints of which the short forms of legs are made, as elements of a URDF."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.etree import ElementTree

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.formats import urdf_shapes as draw
from robodyn.formats.documents import Fields
from robodyn.formats.urdf_motors import TAG
from robodyn.formats.urdf_shapes import element, number, numbers
from robodyn.mechanisms.common import urdf_writer as write
from robodyn.model.body import Body

_BAR = ("mass", "com", "inertia", "radius", "length", "to", "apart")
# bars that need not span what they are between
_FREE = ("lower", "upper")
_LIMITS = ("position", "velocity", "effort")


@dataclass
class Parts:
    """What is written, and the platform on which legs end.

    Attributes:
        robot: the URDF.
        name: of the platform's link.
        rotation, origin: (3, 3), (3,) [m] of the platform at home, base frame.
        size: [m] of what is drawn.
        driven: names of the driven joints.
        params: of their actuators.
    """

    robot: ElementTree.Element
    name: str
    rotation: FloatArray
    origin: FloatArray
    size: float = 0.1
    driven: list[str] = field(default_factory=list)
    params: dict[str, dict[str, str]] = field(default_factory=dict)


def direction(leg: Fields) -> FloatArray:
    """The leg's axis (3,), unit, base frame.

    Raises:
        ModelError: it is missing or zero.
    """
    axis = leg.array("axis", (3,))
    size = float(np.linalg.norm(axis))
    if not size > 1e-9:
        raise leg.refuse("axis", axis.tolist(), "a direction, not zero")
    return axis / size


def bar(parts: Parts, name: str, leg: Fields, key: str, way: FloatArray) -> str:
    """A link along a vector (3,) [m] from its origin; returns its name.

    It is a cylinder or, without a radius, a thin rod, unless it says its inertia. A leg's upper
    part points back to the base; its `length` may differ from what it spans.
    """
    block = leg.child(key, {})
    block.only(*_BAR)
    span = float(np.linalg.norm(way))
    length = block.number("length", "m", default=span, above=0.0) if key in _FREE else span
    along = way / span
    mass = block.number("mass", "kg", default=0.0, at_least=0.0)
    radius = block.number("radius", "m", default=0.0, at_least=0.0)
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    # x along the leg or the bar, away from the base
    R = _frame(leg, -along if key == "upper" else along)
    com = block.array("com", (3,), "m", (R.T @ (0.5 * length * along)).tolist())
    inertia = np.diag([0.5 * mass * radius**2, across, across])
    if "inertia" in block:
        inertia = block.array("inertia", (3, 3), "kg m^2")
    made = element(parts.robot, "link", name=name)
    body = Body(mass, R @ com, R @ inertia @ R.T)
    draw.inertial(made, body.mass, body.com, body.inertia)
    width = radius or 0.015 * parts.size
    draw.beam(made, np.zeros(3), length * along, width, "rod" if key == "rod" else "cylinder")
    return name


def _frame(leg: Fields, x: FloatArray) -> FloatArray:
    """(3, 3) axes of a bar: x along it, y across the leg's axis, z."""
    y = np.cross(_first_axis(leg, x), x)
    size = float(np.linalg.norm(y))
    if size < 0.1:
        raise leg.refuse("axis", leg.get("axis", ""), "a direction across the leg and its bars")
    y = y / size
    return np.stack([x, y, np.cross(x, y)], axis=1)


def _first_axis(leg: Fields, along: FloatArray) -> FloatArray:
    """The first axis of a universal joint: the leg's, or else a level one across the bar."""
    if "axis" in leg and leg.text("form")[0] != "P":
        return direction(leg)
    up = np.array([0.0, 0.0, 1.0] if abs(along[2]) < 0.99 else [1.0, 0.0, 0.0])
    first = np.cross(up, along)
    return np.asarray(first / np.linalg.norm(first))


def passive_joint(
    parts: Parts,
    leg: Fields,
    letter: str,
    ends: tuple[str, str, FloatArray],
    way: FloatArray,
    suffix: str = "",
) -> None:
    """The joint between a link and what goes on along a direction: R, U, or U and a spin for S.

    A universal joint's first axis is the leg's, its second at right angles to it and to the bar.
    """
    name, along = leg.text("name"), way / np.linalg.norm(way)
    axes = [_first_axis(leg, along)]
    if letter != "R":
        axes.append(_frame(leg, along)[:, 1])
    if letter == "S":
        axes.append(along)
    parent, child, at = ends
    for index, axis in enumerate(axes, start=1):
        last = index == len(axes)
        link = child if last else f"{name}_cross{suffix}{index}"
        if not last:
            draw.massless(element(parts.robot, "link", name=link))
        joint = joint_at(
            parts, f"{name}_passive{suffix}{index}", "continuous", parent, link, at, axis
        )
        damp(joint, leg)
        parent, at = link, np.zeros(3)


def end(
    parts: Parts,
    leg: Fields,
    letter: str,
    link: str,
    at: FloatArray,
    suffix: str = "",
    shift: FloatArray | None = None,
) -> None:
    """What holds a leg's end to the platform: a ball joint, or a hinge about the leg's axis."""
    kind = "spherical" if letter == "S" else "revolute"
    name = f"{leg.text('name')}_end{suffix}"
    damping = leg.number("passive_damping", "N m s/rad", default=0.0, at_least=0.0)
    out = element(parts.robot, "constraint", name=name, type=kind, damping=number(damping))
    own = leg.array("platform", (3,), "m") + (0.0 if shift is None else shift)
    for side, link_, point, R in (
        ("parent", link, at, np.eye(3)),
        ("child", parts.name, own, parts.rotation),
    ):
        element(out, side, link=link_)
        draw.origin(out, point, tag=f"{side}_origin")
        if kind == "revolute":
            element(out, f"{side}_axis", xyz=numbers(R.T @ direction(leg)))


def joint_at(
    parts: Parts, name: str, kind: str, parent: str, child: str, at: FloatArray, axis: FloatArray
) -> ElementTree.Element:
    """A joint at a point (3,) [m] of its parent, about or along an axis (3,)."""
    joint = draw.write_joint(parts.robot, name, kind, parent, child)
    draw.origin(joint, at)
    element(joint, "axis", xyz=numbers(axis))
    return joint


def drive(joint: ElementTree.Element, leg: Fields, home: float) -> None:
    """Limits, friction, armature and home of a driven joint."""
    limits = leg.child("limits", {})
    limits.only(*_LIMITS)
    ends = limits.array("position", (2,)) if "position" in limits else None
    if ends is None and joint.get("type") == "revolute":
        joint.set("type", "continuous")
    single = "velocity", "effort"  # of efforts that differ in sign the actuator tells
    both = isinstance(limits.data.get("effort"), list)
    values = {key: limits.number(key, default=np.inf, above=0.0) for key in single[: 2 - both]}
    write.write_limits(joint, ends, **{"velocity": np.inf, "effort": np.inf} | values)
    dynamics = {
        key: number(leg.number(key, default=0.0, at_least=0.0)) for key in ("damping", "friction")
    }
    element(joint, "dynamics", **dynamics)
    armature = leg.number("armature", default=0.0, at_least=0.0)
    own = {"armature": number(armature)} if armature else {}
    element(joint, TAG, **own, home=number(home))


def damp(joint: ElementTree.Element, leg: Fields) -> None:
    """The friction of a joint that nothing drives."""
    damping = leg.number("passive_damping", "N m s/rad", default=0.0, at_least=0.0)
    element(joint, "dynamics", damping=number(damping), friction="0")
