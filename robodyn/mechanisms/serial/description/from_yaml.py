# SPDX-License-Identifier: Apache-2.0

"""A serial arm from the Denavit-Hartenberg table in its YAML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from robodyn.actuators.description import actuator_from_fields
from robodyn.arrays import FloatArray
from robodyn.formats.documents import Fields
from robodyn.formats.inertia import check_inertias
from robodyn.mechanisms.common.model_file import body_of, placement_of, stated_in
from robodyn.mechanisms.serial.chain import KINDS, as_arm, model_of_chain
from robodyn.model.body import Link
from robodyn.model.fields import GRAVITY
from robodyn.model.joint import Joint
from robodyn.model.model import Model
from robodyn.model.placement import Placement

_TOP = ("type", "name", "gravity", "convention", "home", "base_link", "tip_link", "tip", "links")
_LINK = (
    "name", "joint", "theta", "d", "a", "alpha", "offset", "mass", "com", "inertia",
    "armature", "damping", "friction", "limits", "actuator",
)  # fmt: skip
_Z = np.array([0.0, 0.0, 1.0])
# Of a link whose joint is given by its frame instead of a row of a table.
FRAMES = "joint_frames"
_FRAMED = ("xyz", "rpy", "axis")
_FRICTION = "a number, or [forward, backward], of at least 0 [N m or N]"


def serial_model_from_yaml(document: Mapping[str, Any], source: str, strict: bool = False) -> Model:
    """The model that a YAML document of `type: serial` describes.

    Args:
        document: as `read_yaml` returns it.
        source: file name, for messages.
        strict: reject unphysical inertias instead of warning.

    Raises:
        ModelError: a field that is missing, unknown or wrong; the message names the file and the
            dotted field.
        UnphysicalInertia: with `strict=True`.
    """
    top = Fields(document, source)
    top.only(*_TOP)
    top.text("type", choices=("serial",))
    convention = top.text("convention", default="standard_dh", choices=(*CONVENTIONS, FRAMES))
    links = top.children("links")
    if not links:
        raise top.refuse("links", [], "a list of at least one link")
    framed = convention == FRAMES
    if framed:
        for link in links:
            link.only(*_FRAMED, *_LINK)
        block = top.child("tip", {})
        block.only("xyz", "rpy")
        places = [DHFrames(placement_of(link).matrix, np.eye(4)) for link in links]
        tip = placement_of(block).matrix
    else:
        places, tip = placements([_row(link) for link in links], convention)
    base, end = (
        top.text(name, default=other)
        for name, other in (("base_link", "base_link"), ("tip_link", "tool0"))
    )
    parts = []
    for number, (link, place) in enumerate(zip(links, places, strict=True), start=1):
        name = f"link{number}"
        if name == base:
            name += "_body"
        parts.append((_joint(link, number, place.joint, framed), _link(link, name, place.link)))
    check_inertias(source, ((link.name, link.inertia) for _, link in parts), strict=strict)
    home = top.array("home", (len(parts),), "rad or m") if "home" in top else None
    gravity = top.array("gravity", (3,), "m/s^2", default=GRAVITY.tolist())
    model = model_of_chain(
        top.text("name"), base, parts, tip, end, gravity=gravity, home=home, source=source
    )
    return as_arm(model)


def _row(link: Fields) -> DHRow:
    link.only(*_LINK)
    prismatic = link.text("joint", choices=KINDS) == "prismatic"
    free, fixed = ("d", "theta") if prismatic else ("theta", "d")
    if link.number(free, default=0.0) != 0.0:
        raise link.refuse(
            free,
            link.get(free, ""),
            f"0, as it is the variable of this joint; a constant part goes into "
            f"{link.where('offset')}",
        )
    values = {
        free: link.number("offset", "m" if prismatic else "rad", default=0.0),
        fixed: link.number(fixed, "rad" if prismatic else "m", default=0.0),
    }
    return DHRow(
        prismatic=prismatic,
        a=link.number("a", "m", default=0.0),
        alpha=link.number("alpha", "rad", default=0.0),
        **values,
    )


def _link(fields: Fields, name: str, frame: FloatArray) -> Link:
    """A link, whose fields are in its own frame (4, 4) on the joint's."""
    R, body = frame[:3, :3], body_of(fields)
    return Link(name, body.mass, frame[:3, 3] + R @ body.com, R @ body.inertia @ R.T)


def _joint(link: Fields, number: int, frame: FloatArray, framed: bool) -> Joint:
    kind = link.text("joint")
    angle, force = ("m", "N") if kind == "prismatic" else ("rad", "N m")
    limits = link.child("limits", {})
    limits.only("position", "velocity", "effort")
    position = np.array([-np.inf, np.inf])
    if "position" in limits:
        position = limits.array("position", (2,), angle)
        if not position[0] <= position[1]:
            raise limits.refuse("position", position.tolist(), "[lower, upper], lower <= upper")
    joint = Joint(
        link.text("name", default=f"joint{number}"),
        kind,
        "",
        "",
        Placement(frame[:3, :3], frame[:3, 3]),
        axis=link.array("axis", (3,), default=[0.0, 0.0, 1.0]) if framed else _Z,
        armature=link.number("armature", default=0.0, at_least=0.0),
        damping=link.number("damping", f"{force} s/{angle}", default=0.0, at_least=0.0),
        friction=_friction(link),
        position=position,
        velocity=limits.number("velocity", f"{angle}/s", default=np.inf, above=0.0),
        effort=limits.number("effort", force, default=np.inf, above=0.0),
    )
    return _driven(joint, link) if "actuator" in link else joint


def _driven(joint: Joint, link: Fields) -> Joint:
    block = link.child("actuator")
    actuator = actuator_from_fields(block)
    for name, of_actuator in (("armature", "rotor_inertia"), ("friction", "coulomb")):
        if name in link and of_actuator in block:
            raise link.refuse(
                name,
                link.get(name, ""),
                f"nothing beside {link.where('actuator')}, whose {of_actuator} says the same; "
                "remove one of the two",
            )
    stated = {name: getattr(joint, name) for name in ("armature", "friction") if name in link}
    with stated_in(link, "actuator"):
        return replace(joint.driven_by(actuator), **stated)


def _friction(link: Fields) -> FloatArray:
    if isinstance(link.data.get("friction"), list):
        both = link.array("friction", (2,))
        if (both < 0.0).any():
            raise link.refuse("friction", both.tolist(), _FRICTION)
        return both
    value = link.number("friction", default=0.0, at_least=0.0)
    return np.array([value, value])


CONVENTIONS = ("standard_dh", "modified_dh")


@dataclass(frozen=True)
class DHRow:
    """One row: theta, alpha [rad], d, a [m]; the joint variable's own entry is its offset."""

    prismatic: bool
    theta: float
    d: float
    a: float
    alpha: float


class DHFrames(NamedTuple):
    """A joint's frame in the previous moving frame, and the link's frame in its own."""

    joint: FloatArray
    link: FloatArray


def placements(rows: list[DHRow], convention: str) -> tuple[list[DHFrames], FloatArray]:
    """(4, 4) transforms of each joint and link, and of the tip in the last moving frame.

    The link's frame is the one in which a DH table states centre of mass and inertia.
    """
    out = []
    before = np.eye(4)
    for row in rows:
        turn = rotation_z(row.theta) if row.prismatic else np.eye(4)
        start = translation(z=row.d) if row.prismatic else rotation_z(row.theta)
        along = np.eye(4) if row.prismatic else translation(z=row.d)
        across = translation(x=row.a) @ rotation_x(row.alpha)
        if convention == "modified_dh":
            # a slide along z and a turn about it commute, so both may come before the motion
            out.append(DHFrames(before @ across @ turn @ start @ along, np.eye(4)))
            before = np.eye(4)
        else:
            link = along @ across
            out.append(DHFrames(before @ turn @ start, link))
            before = link
    return out, before


def rotation_z(angle: float) -> FloatArray:
    """Homogeneous (4, 4) rotation about z."""
    out = np.eye(4)
    out[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return out


def rotation_x(angle: float) -> FloatArray:
    """Homogeneous (4, 4) rotation about x."""
    out = np.eye(4)
    out[1:3, 1:3] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return out


def translation(x: float = 0.0, z: float = 0.0) -> FloatArray:
    """Homogeneous (4, 4) translation [m]."""
    out = np.eye(4)
    out[0, 3], out[2, 3] = x, z
    return out
