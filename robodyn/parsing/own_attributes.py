# SPDX-License-Identifier: Apache-2.0

"""The element `<robodyn>`: data that other formats cannot represent.

A joint may contain `<robodyn armature="0.78" friction_backward="27.2"/>`: reflected inertia of the
motor [kg m^2 or kg], and Coulomb friction [N m or N] in the negative direction if it differs from
`<dynamics friction>`; `home`, the start position [rad or m], or the pose (7) [m, -] of a floating
joint; and `multi_turn="true"` for a continuous joint that counts its turns (otherwise positions a
full turn apart are equal).

The robot may contain `<robodyn type="closed_loop" gravity="0 0 -1.62" .../>` with optional
attributes: the kind of mechanism; gravity [m/s^2] in its base frame; `base_link` and `tip_link`, as
for `load`; comma-separated `actuated_joints`, which replaces all other data on drives; for a closed
loop, `independent_joints` and `weights` of the efforts; `base_cone` and `body_cone` [rad].

It may contain springs between points: `<spring name="strut" parent="base" child="platform"
parent_xyz="0 0 0" child_xyz="0 0 0.1" stiffness="2e4" rest="0.35" preload="0" damping="0"/>`, whose
last six attributes are optional.

Other parsers ignore the element. SDF and MJCF files contain the same attributes in other forms.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from robodyn.actuators.description import actuator_of_joint, describes
from robodyn.errors import ModelError
from robodyn.formats.xml_elements import TAG
from robodyn.formats.xml_text import numbers_in
from robodyn.model import Drives, Joint, LinearSpring, ModelBuilder, PointSpring

SETTINGS = ("type", "gravity", "base_link", "tip_link", "actuated_joints", "independent_joints",
            "weights", "base_cone", "body_cone")  # fmt: skip

_ENDS = ("parent", "child")


class Motor(NamedTuple):
    """Data of a joint from its element `<robodyn>`: motor, home and turn counting.

    `armature` is the reflected inertia [kg m^2 or kg], and `friction_backward` [N m or N] is None
    if friction is symmetric. `home` is a position (1,) [rad or m], the pose (7,) [m, -] of a
    floating joint, or None. `multi_turn` is True for continuous joints that count their turns.
    """

    armature: float = 0.0
    friction_backward: float | None = None
    home: tuple[float, ...] | None = None
    multi_turn: bool = False
    spring_stiffness: float = 0.0
    spring_rest: float = 0.0
    spring_preload: float = 0.0

    @property
    def stated(self) -> bool:
        """Whether the element specifies an armature or direction-dependent friction."""
        return bool(self.armature) or self.friction_backward is not None


def read_motors(robot: Element, source: str) -> dict[str, Motor]:
    """Read the `<robodyn>` elements of the joints of a URDF.

    Args:
        robot: root element of the URDF.
        source: name of the file, for messages.

    Returns:
        Motor data by joint name, for joints with such an element.

    Raises:
        ModelError: an attribute is unknown or invalid.
    """
    return {
        joint.get("name", ""): motor_of(
            joint.findall(TAG)[0].attrib,
            f"{source}: joint {joint.get('name', '')!r}: <{TAG}>",
            floats=joint.get("type") == "floating",
        )
        for joint in robot.iterfind(f"joint[{TAG}]")
    }


def motor_of(attributes: Mapping[str, str], where: str, *, floats: bool = False) -> Motor:
    """Create motor data from the attributes of a joint's `<robodyn>` element.

    Args:
        attributes: values of the attributes by name.
        where: name of the element, for messages.
        floats: whether the joint is floating, so that `home` is a pose (7,).

    Returns:
        The motor data.

    Raises:
        ModelError: an attribute is unknown or invalid.
    """
    _check_names(attributes, Motor._fields, where)
    values: dict[str, Any] = {}
    for key, text in attributes.items():
        if key == "multi_turn":
            values[key] = _switch(text, f"{where} {key}")
            continue
        size = 7 if key == "home" and floats else 1
        at_least = -math.inf if key in ("home", "spring_rest", "spring_preload") else 0.0
        numbers = numbers_in(text, size, f"{where} {key}", at_least=at_least)
        values[key] = tuple(numbers) if key == "home" else numbers[0]
    return Motor(**values)


def with_motor(joint: Joint, motor: Motor, params: Mapping[str, str]) -> Joint:
    """Return a joint with the friction, spring and actuator of its `<robodyn>`.

    Args:
        joint: joint with the same friction in both directions.
        motor: data of the `<robodyn>` element.
        params: `<param>` values of the actuator in `<ros2_control>`, by name.

    Returns:
        The joint.

    Raises:
        ModelError: a value is invalid, or is given twice with different values.
    """
    forward = float(joint.friction[0])
    backward = forward if motor.friction_backward is None else motor.friction_backward
    kind = "revolute" if joint.kind == "continuous" and motor.multi_turn else joint.kind
    friction = np.array([forward, backward])
    made = replace(joint, kind=kind, armature=motor.armature, friction=friction)
    made = replace(made, spring=_spring(joint.spring, motor))
    if joint.kind in ("fixed", "floating") or not describes(params):
        return made
    where = f"joint {joint.name!r}"
    actuator = actuator_of_joint(params, where, (forward, backward), motor.stated)
    # the attributes state the reflected inertia
    return replace(made.driven_by(actuator), armature=motor.armature if motor.stated else 0.0)


def _spring(stated: LinearSpring, motor: Motor) -> LinearSpring:
    """Return a joint's spring as described by robodyn's attributes in `motor`.

    If the attributes state only a preload, it is added to the spring `stated`.
    """
    if motor.spring_stiffness or not stated.stiffness:
        return LinearSpring(motor.spring_stiffness, motor.spring_rest, motor.spring_preload)
    shift = motor.spring_preload / stated.stiffness
    return LinearSpring(stated.stiffness, stated.rest + shift, motor.spring_preload)


def read_settings(builder: ModelBuilder, attributes: Mapping[str, str], where: str) -> None:
    """Set options of a model from the attributes of the robot's `<robodyn>` element.

    The options are, for example, the kind of mechanism, gravity and the driven joints.

    Args:
        builder: builder that receives the options.
        attributes: values of the attributes by name.
        where: name of the element, for messages.

    Raises:
        ModelError: an attribute is unknown or invalid.
    """
    _check_names(attributes, SETTINGS, where)
    given = dict(attributes)
    lists = {
        key: tuple(name.strip() for name in text.split(",") if name.strip())
        for key, text in given.items()
        if key.endswith("_joints")
    }
    builder.kind = given.get("type", builder.kind)
    for key in ("base_link", "tip_link"):
        setattr(builder, key, given.get(key, getattr(builder, key)))
    for key in ("base_cone", "body_cone"):
        if key in given:
            setattr(builder, key, numbers_in(given[key], 1, f"{where} {key}", at_least=0.0)[0])
    if "gravity" in given:
        builder.gravity = tuple(numbers_in(given["gravity"], 3, f"{where} gravity"))
    if "weights" in given:
        text = given["weights"]
        builder.weights = tuple(numbers_in(text, len(text.split()), f"{where} weights"))
    builder.independent = lists.get("independent_joints", builder.independent)
    if lists.get("actuated_joints"):
        builder.drives = Drives.of(lists["actuated_joints"])


def spring_of(attributes: Mapping[str, str], where: str) -> PointSpring:
    """Create a spring between points from the attributes of a `<spring>` element.

    Args:
        attributes: values of the attributes by name.
        where: name of the element, for messages.

    Returns:
        The spring.

    Raises:
        ModelError: an attribute is unknown, missing or invalid.
    """
    law = ("stiffness", "rest", "preload", "damping")
    known = ("name", *_ENDS, "parent_xyz", "child_xyz", "tension_only", *law)
    _check_names(attributes, known, where)
    for key in ("name", *_ENDS):
        if not attributes.get(key):
            raise ModelError(f"{where} has no {key}, which is required", value=dict(attributes))
    at, child_at = (
        np.array(numbers_in(attributes.get(f"{side}_xyz", "0 0 0"), 3, f"{where} {side}_xyz"))
        for side in _ENDS
    )
    *spring, damping = (numbers_in(attributes.get(key, "0"), 1, f"{where} {key}")[0] for key in law)
    name, parent, child = (attributes[key] for key in ("name", *_ENDS))
    pulls = _switch(attributes.get("tension_only", "false"), f"{where} tension_only")
    return PointSpring(name, parent, child, at, child_at, LinearSpring(*spring), damping, pulls)


def _switch(text: str, where: str) -> bool:
    if text not in ("true", "false"):
        raise ModelError(f"{where} is {text!r}, expected true or false", value=text)
    return text == "true"


def _check_names(attributes: Mapping[str, str], known: tuple[str, ...], where: str) -> None:
    for key in attributes:
        if key not in known:
            raise ModelError(
                f"{where} has an unknown attribute {key!r}, expected one of {', '.join(known)}",
                value=key,
            )
