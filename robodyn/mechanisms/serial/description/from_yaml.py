# SPDX-License-Identifier: Apache-2.0

"""A serial arm from the Denavit-Hartenberg table in its YAML file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.actuators.description import actuator_from_fields
from robodyn.errors import ModelError
from robodyn.formats.documents import Fields
from robodyn.formats.inertia import check_inertias
from robodyn.mechanisms.serial.dh import CONVENTIONS, DHRow, Placement, placements
from robodyn.mechanisms.serial.model import KINDS, SerialJoint, SerialModel
from robodyn.model.fields import GRAVITY
from robodyn.poses import pose_from_rpy, rotation_matrix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from robodyn.arrays import FloatArray


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


def serial_model_from_yaml(
    document: Mapping[str, Any], source: str, strict: bool = False
) -> SerialModel:
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
        places = [Placement(_frame(link, *_FRAMED, *_LINK), np.eye(4)) for link in links]
        tip = _frame(top.child("tip", {}), "xyz", "rpy")
    else:
        places, tip = placements([_row(link) for link in links], convention)
    joints = tuple(
        _joint(link, number, place.joint, place.link, framed)
        for number, (link, place) in enumerate(zip(links, places, strict=True), start=1)
    )
    check_inertias(source, ((joint.link, joint.inertia) for joint in joints), strict=strict)
    home = top.array("home", (len(joints),), "rad or m") if "home" in top else None
    return SerialModel(
        name=top.text("name"),
        joints=joints,
        tip_rotation=tip[:3, :3],
        tip_translation=tip[:3, 3],
        gravity=top.array("gravity", (3,), "m/s^2", default=GRAVITY.tolist()),
        home=home,
        base_link=top.text("base_link", default="base_link"),
        tip_link=top.text("tip_link", default="tool0"),
        source=source,
    )


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


def _frame(fields: Fields, *known: str) -> FloatArray:
    """(4, 4) of `xyz` and `rpy`, as a URDF states an origin."""
    fields.only(*known)
    rpy = fields.array("rpy", (3,), "rad", default=[0.0] * 3)
    out = np.eye(4)
    out[:3, :3] = rotation_matrix(pose_from_rpy(np.zeros(3), rpy))
    out[:3, 3] = fields.array("xyz", (3,), "m", default=[0.0] * 3)
    return out


def _joint(
    link: Fields, number: int, placement: FloatArray, frame: FloatArray, framed: bool
) -> SerialJoint:
    kind = link.text("joint")
    angle, force = ("m", "N") if kind == "prismatic" else ("rad", "N m")
    limits = link.child("limits", {})
    limits.only("position", "velocity", "effort")
    position = np.array([-np.inf, np.inf])
    if "position" in limits:
        position = limits.array("position", (2,), angle)
        if not position[0] <= position[1]:
            raise limits.refuse("position", position.tolist(), "[lower, upper], lower <= upper")
    R = frame[:3, :3]
    joint = SerialJoint(
        name=link.text("name", default=f"joint{number}"),
        kind=kind,
        rotation=placement[:3, :3],
        translation=placement[:3, 3],
        axis=link.array("axis", (3,), default=[0.0, 0.0, 1.0]) if framed else _Z,
        mass=link.number("mass", "kg", at_least=0.0),
        com=frame[:3, 3] + R @ link.array("com", (3,), "m"),
        inertia=R @ _inertia(link) @ R.T,
        armature=link.number("armature", default=0.0, at_least=0.0),
        damping=link.number("damping", f"{force} s/{angle}", default=0.0, at_least=0.0),
        friction=_friction(link),
        position=position,
        velocity=limits.number("velocity", f"{angle}/s", default=np.inf, above=0.0),
        effort=limits.number("effort", force, default=np.inf, above=0.0),
        link=f"link{number}",
    )
    return _driven(joint, link) if "actuator" in link else joint


def _driven(joint: SerialJoint, link: Fields) -> SerialJoint:
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
    try:
        driven = joint.driven_by(actuator)
        stated = {name: getattr(joint, name) for name in ("armature", "friction") if name in link}
        return replace(driven, **stated)
    except ModelError as error:
        raise ModelError(
            f"{link.source}: {link.where('actuator')}: {error}", value=error.value
        ) from error


def _inertia(link: Fields) -> FloatArray:
    tensor = link.array("inertia", (3, 3), "kg m^2")
    if np.abs(tensor - tensor.T).max() > 1e-9 * np.abs(tensor).max():
        raise link.refuse("inertia", tensor.tolist(), "a symmetric matrix [kg m^2]")
    return tensor


def _friction(link: Fields) -> FloatArray:
    if isinstance(link.data.get("friction"), list):
        both = link.array("friction", (2,))
        if (both < 0.0).any():
            raise link.refuse("friction", both.tolist(), _FRICTION)
        return both
    value = link.number("friction", default=0.0, at_least=0.0)
    return np.array([value, value])
