# SPDX-License-Identifier: Apache-2.0

"""Common parts of model files, for reading and writing: frames, bodies, actuators, springs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robodyn.actuators import Actuator
from robodyn.arrays import FloatArray
from robodyn.errors import ModelError, RobodynError
from robodyn.formats.documents import Fields
from robodyn.formats.output_file import write_text
from robodyn.formats.xml_elements import frame_of
from robodyn.model import Body, LinearSpring, Model, Placement, PointSpring
from robodyn.model.fields import inertia_tensor
from robodyn.poses import rpy_of_rotation

# Fields of a document that state springs.
SPRINGS = ("joints", "springs")
_LAW = ("stiffness", "rest", "preload")
_GAS = ("force", "rate")
HEADER = "# Written by robodyn; `robodyn check {name}` shows how it is read.\n"


def numbers(values: FloatArray) -> Any:
    """Convert an array to nested lists of floats."""
    return np.asarray(values, dtype=np.float64).tolist()


@contextmanager
def field_context(block: Fields, name: str = "") -> Iterator[None]:
    """Add file and field to the message of an error raised within this context.

    Raises:
        ModelError: a RobodynError was raised within the context.
    """
    try:
        yield
    except RobodynError as error:
        where = block.where(name) if name else block.path
        raise ModelError(f"{block.source}: {where}: {error}", value=error.value) from error


def placement_of(block: Fields) -> Placement:
    """Return the frame that the fields `xyz` [m] and `rpy` [rad] describe.

    Missing fields are zero. The angles are roll, pitch and yaw, as in a URDF.
    """
    rpy = block.array("rpy", (3,), "rad", default=[0.0] * 3)
    return Placement.of(frame_of(block.array("xyz", (3,), "m", default=[0.0] * 3), rpy))


def placement_fields(at: Placement) -> dict[str, Any]:
    """Return a frame as the fields `xyz` [m] and `rpy` [rad] of a model file."""
    return {"xyz": numbers(at.translation), "rpy": numbers(rpy_of_rotation(at.rotation))}


def body_of(block: Fields) -> Body:
    """Return the body with the fields `mass` [kg], `com` [m] and `inertia` [kg m^2].

    Raises:
        ModelError: a field is missing or invalid.
    """
    mass, com = block.number("mass", "kg", at_least=0.0), block.array("com", (3,), "m")
    inertia, where = block.array("inertia", (3, 3), "kg m^2"), block.where("inertia")
    return Body(mass, com, inertia_tensor(f"{block.source}: {where}", inertia))


def body_fields(body: Any) -> dict[str, Any]:
    """Return a body as the fields `mass`, `com` and `inertia` of a model file."""
    return {"mass": float(body.mass), "com": numbers(body.com), "inertia": numbers(body.inertia)}


def actuator_fields(actuator: Actuator) -> dict[str, Any]:
    """Return an actuator as fields of a model file; ideal properties are omitted."""
    ideal = Actuator()
    out: dict[str, Any] = {}
    for item in fields(Actuator):
        value = getattr(actuator, item.name)
        if value != getattr(ideal, item.name):
            out[item.name] = [list(pair) for pair in value] if isinstance(value, tuple) else value
    return out


def with_document_springs(top: Fields, model: Model) -> Model:
    """Return the model with the springs that a YAML model file describes.

    The field `joints` describes springs on joints, the field `springs` those between points.

    Args:
        top: fields of the model file.
        model: model without these springs.

    Returns:
        The model with the springs.

    Raises:
        ModelError: a field is unknown or invalid, or a joint or link is unknown.
    """
    joints = {}
    blocks = top.child("joints", {})
    for name in blocks.data:
        block = blocks.child(name)
        block.only("spring")
        spring = block.child("spring")
        spring.only(*_LAW)
        joints[name] = _law(spring)
    points = (
        [_point_spring(block, model) for block in top.children("springs")]
        if ("springs" in top)
        else []
    )
    if joints:
        with field_context(top, "joints"):
            model = model.with_joint_springs(joints)
    if not points:
        return model
    with field_context(top, "springs"):
        return replace(model, springs=(*model.springs, *points))


def _law(block: Fields) -> LinearSpring:
    """Read a linear spring from the fields `stiffness`, `rest` and `preload`."""
    with field_context(block):
        return LinearSpring(*(block.number(key, default=0.0) for key in _LAW))


def _point_spring(block: Fields, model: Model) -> PointSpring:
    """Return the spring between two points that a block of YAML fields describes.

    The fields `force` and `rate` describe a gas spring, which pushes the points apart.
    """
    block.only("name", "parent", "child", "damping", "tension_only", *_LAW, *_GAS)
    ends = []
    for side in ("parent", "child"):
        end = block.child(side)
        end.only("link", "xyz")
        ends.append((end.text("link"), end.array("xyz", (3,), "m", default=[0.0] * 3)))
    if any(key in block for key in _GAS):
        for key in ("stiffness", "preload"):
            if key in block:
                raise block.refuse(
                    key, block.data[key], f"no value together with {' or '.join(_GAS)}"
                )
        rate = block.number("rate", "N/m", default=0.0, at_least=0.0)
        rest = block.number("rest", "m", default=0.0)
        law = LinearSpring(rate, rest, -block.number("force", "N", default=0.0))
    else:
        law = _law(block)
    names = {link.name for link in model.links}
    called = {"base": model.base_link, "platform": model.tip_link}
    (parent, at), (child, child_at) = (
        (link if link in names else called.get(link, link), point) for link, point in ends
    )
    damping = block.number("damping", "N s/m", default=0.0, at_least=0.0)
    ends_at, pulls = (parent, child, at, child_at), block.flag("tension_only", False)
    with field_context(block):
        return PointSpring(block.text("name"), *ends_at, law, damping, pulls)


def spring_fields(model: Model) -> dict[str, Any]:
    """Return the springs of a model as the fields `joints` and `springs` of its file."""
    joints = {j.name: {"spring": asdict(j.spring)} for j in model.joints if j.spring.acts}
    points = [
        {
            "name": spring.name,
            "parent": {"link": spring.parent, "xyz": numbers(spring.at)},
            "child": {"link": spring.child, "xyz": numbers(spring.child_at)},
            **asdict(spring.spring),
            "damping": spring.damping,
            **({"tension_only": True} if spring.tension_only else {}),
        }
        for spring in model.springs
    ]
    found = {"joints": joints, "springs": points}
    return {name: value for name, value in found.items() if value}


def limits_of(
    block: Fields, travel: str, unit: str, effort: str, also: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Read the velocity, effort and travel limits of a joint or a motor.

    Args:
        block: fields of the joint or motor.
        travel: name of the field with the position limits.
        unit, effort: units of positions and of efforts.
        also: further fields that are permitted; the caller reads them.

    Returns:
        The limits by name. Velocity and effort are infinite by default; position limits (2,) are
        missing if the file does not state them.

    Raises:
        ModelError: a field is unknown or invalid.
    """
    block.only(travel, "velocity", "effort", *also)
    limits: dict[str, Any] = {
        name: block.number(name, named, default=np.inf, above=0.0)
        for name, named in (("velocity", f"{unit}/s"), ("effort", effort))
    }
    if travel in block:
        limits[travel] = block.array(travel, (2,), unit)
    return limits


def limits_fields(limits: Any, *travel: str) -> dict[str, Any]:
    """Return a joint's or motor's finite limits as fields that `limits_of` can read.

    `travel` names its attributes with position limits, such as `position`.
    """
    known = ((name, getattr(limits, name)) for name in ("velocity", "effort", *travel))
    return {name: numbers(value) for name, value in known if np.isfinite(value).all()}


def write_yaml(path: Path, document: dict[str, Any]) -> Path:
    """Write a document to a YAML file that `load` can read; return its path.

    Raises:
        OutputError: the file cannot be written.
    """
    text = yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=100)
    return write_text(path, HEADER.format(name=path.name) + text)
