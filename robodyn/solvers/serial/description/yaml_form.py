# SPDX-License-Identifier: Apache-2.0

"""Serial arms in YAML files: a Denavit-Hartenberg table or the joints' frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.actuators.description import actuator_from_fields
from robodyn.arrays import FloatArray
from robodyn.formats.documents import Fields
from robodyn.formats.inertia import check_inertias
from robodyn.mechanism.kind import ReadOptions
from robodyn.model.body import Link
from robodyn.model.fields import GRAVITY
from robodyn.model.joint import UNBOUNDED, Joint
from robodyn.model.model import Model
from robodyn.model.placement import Placement
from robodyn.parsing import model_file
from robodyn.solvers.serial.chain import KINDS, as_arm, model_of_chain

_TOP = ("type", "name", "gravity", "convention", "home", "base_link", "tip_link", "tip", "links")
_LINK = (
    "name", "joint", "theta", "d", "a", "alpha", "offset", "mass", "com", "inertia",
    "armature", "damping", "friction", "limits", "actuator",
)  # fmt: skip
# Fields of a link whose joint is given by its frame instead of a row of a table.
FRAMES = "joint_frames"
_FRAMED = ("xyz", "rpy", "axis")
_FRICTION = "a number of at least 0 [N m or N], or two of them: [forward, backward]"
X, Z = 0, 2


def serial_model_from_yaml(document: Mapping[str, Any], source: str, options: ReadOptions) -> Model:
    """Create the model that a YAML document of `type: serial` describes.

    Args:
        document: mapping from `read_yaml`.
        source: file name, for messages.
        options: `strict` rejects unphysical inertias instead of issuing a warning.

    Returns:
        The model.

    Raises:
        ModelError: a field is missing, unknown or wrong; the error names the file and the dotted
            field.
        UnphysicalInertia: with `strict=True`.
    """
    top = Fields(document, source)
    top.only(*_TOP, *model_file.SPRINGS)
    top.text("type", choices=("serial",))
    conventions = ("standard_dh", "modified_dh", FRAMES)
    convention = top.text("convention", default=conventions[0], choices=conventions)
    links = top.children("links")
    if not links:
        raise top.refuse("links", [], "a list of at least one link")
    base, end = (
        top.text(name, default=other)
        for name, other in (("base_link", "base_link"), ("tip_link", "tool0"))
    )
    parts = []
    # the frame of a row in that of the joint before; of a table's link in its joint's
    before = np.eye(4)
    for number, link in enumerate(links, start=1):
        link.only(*_LINK, *(_FRAMED if convention == FRAMES else ()))
        axis, own = np.array([0.0, 0.0, 1.0]), np.eye(4)
        if convention == FRAMES:
            frame = model_file.placement_of(link).matrix
            axis = link.array("axis", (3,), default=axis)
        else:
            frame, own, before = _frames(link, convention, before)
        name = f"link{number}"
        if name == base:
            name += "_body"
        parts.append((_joint(link, number, frame, axis), _link(link, name, own)))
    tip = before
    if convention == FRAMES:
        block = top.child("tip", {})
        block.only("xyz", "rpy")
        tip = model_file.placement_of(block).matrix
    check_inertias(source, ((link.name, link.inertia) for _, link in parts), strict=options.strict)
    home = top.array("home", (len(parts),), "rad or m") if "home" in top else None
    gravity = top.array("gravity", (3,), "m/s^2", default=GRAVITY.tolist())
    model = model_of_chain(
        top.text("name"), base, parts, tip, end, gravity=gravity, home=home, source=source
    )
    return as_arm(model)


def _frames(
    link: Fields, convention: str, before: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return three frames (4, 4) of a link, from its Denavit-Hartenberg parameters.

    The first is the joint's frame relative to that of the previous joint. The other two are
    relative to the joint's frame: the frame of the table's row, in which the table states center
    of mass and inertia, and the frame at the end of the link.
    """
    prismatic = link.text("joint", choices=KINDS) == "prismatic"
    free, fixed = ("d", "theta") if prismatic else ("theta", "d")
    if link.number(free, default=0.0) != 0.0:
        raise link.refuse(
            free,
            link.get(free, ""),
            f"0, as it is the variable of this joint; a constant part goes into "
            f"{link.where('offset')}",
        )
    row = {
        free: link.number("offset", "m" if prismatic else "rad", default=0.0),
        fixed: link.number(fixed, "rad" if prismatic else "m", default=0.0),
    }
    across = _screw(X, link.number("alpha", "rad", default=0.0), link.number("a", "m", default=0.0))
    if convention == "modified_dh":
        # translation along z and rotation about it commute, so both may come before the motion
        return before @ across @ _screw(Z, row["theta"], row["d"]), np.eye(4), np.eye(4)
    if prismatic:
        return before @ _screw(Z, row["theta"], row["d"]), across, across
    own = _screw(Z, 0.0, row["d"]) @ across
    return before @ _screw(Z, row["theta"], 0.0), own, own


def _screw(axis: int, angle: float, shift: float) -> FloatArray:
    """Return the transform (4, 4) of a rotation about x or z and a shift along it."""
    out = np.eye(4)
    i, j = sorted(((axis + 1) % 3, (axis + 2) % 3))
    out[i, i] = out[j, j] = np.cos(angle)
    out[i, j], out[j, i] = -np.sin(angle), np.sin(angle)
    out[axis, 3] = shift
    return out


def _link(fields: Fields, name: str, frame: FloatArray) -> Link:
    """Create a link from mass, center of mass and inertia stated in `frame` (4, 4).

    `frame` is given relative to the frame of the link's joint.
    """
    R, body = frame[:3, :3], model_file.body_of(fields)
    return Link(name, body.mass, frame[:3, 3] + R @ body.com, R @ body.inertia @ R.T)


def _joint(link: Fields, number: int, frame: FloatArray, axis: FloatArray) -> Joint:
    kind = link.text("joint")
    angle, force = ("m", "N") if kind == "prismatic" else ("rad", "N m")
    block = link.child("limits", {})
    limits = model_file.limits_of(block, "position", angle, force)
    lower, upper = limits.get("position", UNBOUNDED)
    if not lower <= upper:
        expected = "[lower, upper], lower <= upper"
        raise block.refuse("position", [float(lower), float(upper)], expected)
    joint = Joint(
        link.text("name", default=f"joint{number}"),
        kind,
        "",
        "",
        Placement.of(frame),
        axis=axis,
        armature=link.number("armature", default=0.0, at_least=0.0),
        damping=link.number("damping", f"{force} s/{angle}", default=0.0, at_least=0.0),
        friction=_friction(link),
        **limits,
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
                f"no value, as {of_actuator} of {link.where('actuator')} states the same property; "
                "remove one of the two",
            )
    stated = {name: getattr(joint, name) for name in ("armature", "friction") if name in link}
    with model_file.field_context(link, "actuator"):
        return replace(joint.driven_by(actuator), **stated)


def _friction(link: Fields) -> FloatArray:
    if isinstance(link.data.get("friction"), list):
        both = link.array("friction", (2,))
        if (both < 0.0).any():
            raise link.refuse("friction", both.tolist(), _FRICTION)
        return both
    return np.full(2, link.number("friction", default=0.0, at_least=0.0))


def write_serial(mechanism: Any, path: Path) -> list[Path]:
    """Write an arm as a file that `load` reads; each joint is described by its frame.

    Returns:
        Paths of the files written.

    Raises:
        OutputError: the file cannot be written.
    """
    model, chain = mechanism.model, mechanism.chain
    document = {
        "type": "serial",
        "name": model.name,
        "gravity": model_file.numbers(model.gravity),
        "convention": FRAMES,
        "home": model_file.numbers(mechanism.home),
        "base_link": model.base_link,
        "tip_link": model.tip_link,
        "tip": model_file.placement_fields(chain.tip),
        "links": [_written(*part) for part in zip(chain.joints, chain.links, strict=True)],
    }
    return [model_file.write_yaml(path, document | model_file.spring_fields(model))]


def _written(joint: Joint, link: Link) -> dict[str, Any]:
    out = {
        "name": joint.name,
        "joint": joint.kind,
        **model_file.placement_fields(joint.at),
        "axis": model_file.numbers(joint.axis),
        **model_file.body_fields(link),
        "damping": joint.damping,
        "armature": joint.armature,
        "friction": model_file.numbers(joint.friction),
        "actuator": model_file.actuator_fields(joint.drive),
        "limits": model_file.limits_fields(joint, "position"),
    }
    return {name: value for name, value in out.items() if value or isinstance(value, float)}
