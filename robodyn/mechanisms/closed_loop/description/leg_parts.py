# SPDX-License-Identifier: Apache-2.0

"""Links and joints of which the short forms of legs are made, as elements of a URDF."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.formats import urdf_shapes as draw
from robodyn.formats.documents import Fields
from robodyn.formats.urdf_motors import TAG
from robodyn.formats.urdf_shapes import element, frame_of, number, write_closure
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
            draw.inertial(element(parts.robot, "link", name=link))
        follow(parts, leg, f"{name}_passive{suffix}{index}", (parent, link, at), axis)
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
    own = leg.array("platform", (3,), "m") + (0.0 if shift is None else shift)
    axes: tuple[FloatArray | None, FloatArray | None] = (None, None)
    if kind == "revolute":
        axes = direction(leg), parts.rotation.T @ direction(leg)
    ends = (link, frame_of(at), axes[0]), (parts.name, frame_of(own), axes[1])
    write_closure(parts.robot, name, kind, ends, damping)


def joint_at(
    parts: Parts, name: str, kind: str, ends: tuple[str, str, FloatArray]
) -> ElementTree.Element:
    """A joint of a parent and a child link, at a point (3,) [m] of the parent."""
    parent, child, at = ends
    return draw.write_joint(parts.robot, name, kind, parent, child, frame_of(at))


def drive(
    parts: Parts,
    leg: Fields,
    kind: str,
    ends: tuple[str, str, FloatArray],
    axis: FloatArray,
    home: float,
) -> None:
    """The driven joint of a leg: with its limits, friction, armature and home."""
    limits = leg.child("limits", {})
    limits.only(*_LIMITS)
    motion: dict[str, Any] = {}
    if "position" in limits:
        motion["position"] = limits.array("position", (2,))
    elif kind == "revolute":
        kind = "continuous"
    single = "velocity", "effort"  # of efforts that differ in sign the actuator tells
    both = isinstance(limits.data.get("effort"), list)
    for key in single[: 2 - both]:
        motion[key] = limits.number(key, default=np.inf, above=0.0)
    for key in ("damping", "friction"):
        motion[key] = leg.number(key, default=0.0, at_least=0.0)
    joint = joint_at(parts, leg.text("name"), kind, ends)
    draw.write_motion(joint, axis, **motion)
    armature = leg.number("armature", default=0.0, at_least=0.0)
    own = {"armature": number(armature)} if armature else {}
    element(joint, TAG, **own, home=number(home))


def follow(
    parts: Parts, leg: Fields, name: str, ends: tuple[str, str, FloatArray], axis: FloatArray
) -> None:
    """A joint that nothing drives, with its friction."""
    damping = leg.number("passive_damping", "N m s/rad", default=0.0, at_least=0.0)
    draw.write_motion(joint_at(parts, name, "continuous", ends), axis, damping=damping)
