# SPDX-License-Identifier: Apache-2.0

"""Writer of a model as URDF.

Numbers are written so that they read back as the same floats. Data that URDF cannot represent is in
the element that `robodyn.parsing.own_attributes` describes.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree

import numpy as np

from robodyn.actuators.description import params_of
from robodyn.errors import OutputError
from robodyn.formats.xml_elements import (
    INERTIA,
    TAG,
    UNLIMITED,
    document_text,
    element,
    frame_origin,
    number,
    numbers,
    origin,
)
from robodyn.model import Closure, Joint, Link, Model, PointSpring
from robodyn.model.fields import GRAVITY
from robodyn.writing.urdf_geometry import GeometryWriter


def mechanism_urdf(mechanism: Any) -> str:
    """Return a mechanism as URDF text, from which `load` recreates it.

    Raises:
        OutputError: a URDF cannot represent the mechanism.
    """
    return tree_urdf(mechanism.model, mechanism.kind)


def tree_urdf(model: Model, kind: str) -> str:
    """Format a model, a tree with loop closures, as URDF text.

    Args:
        model: model to write.
        kind: name of the kind of mechanism that `load` creates from the text.

    Returns:
        The URDF text.

    Raises:
        OutputError: a URDF cannot represent the model.
    """
    return document_text(tree_of(model, kind))


def tree_of(model: Model, kind: str) -> ElementTree.Element:
    """Create the `<robot>` element of a model, a tree with loop closures.

    Args:
        model: model to write.
        kind: name of the kind of mechanism that `load` creates from the URDF.

    Returns:
        The element.

    Raises:
        OutputError: a URDF cannot represent the model.
    """
    robot = element(None, "robot", name=model.name)
    geometry = GeometryWriter(robot, model.links, model.source)
    moved = {joint.child for joint in model.joints if joint.moves}
    for link in model.links:
        out = element(robot, "link", name=link.name)
        if link.has_inertia or link.name in moved:
            _inertial(out, link)
        geometry.write(out, link)
    home = dict(model.home)
    for joint in model.joints:
        _joint(robot, joint, home.get(joint.name))
    _params(robot, model)
    for closure in model.closures:
        closure_element(robot, closure)
    own = element(robot, TAG, **settings_of(model, kind))
    for spring in model.springs:
        made = element(own, "spring", name=spring.name)
        for side, (name, point) in zip(("parent", "child"), spring.ends, strict=True):
            made.attrib.update({side: name, f"{side}_xyz": numbers(point)})
        for key, value in (asdict(spring.spring) | {"damping": spring.damping}).items():
            made.set(key, number(value))
        if spring.tension_only:
            made.set("tension_only", "true")
    return robot


def _inertial(out: ElementTree.Element, link: Link) -> None:
    """Write the inertia of a link, even if 0, because readers warn if it is missing."""
    inertial = element(out, "inertial")
    origin(inertial, link.com)
    element(inertial, "mass", value=number(link.mass))
    parts = zip(INERTIA, link.inertia[np.triu_indices(3)], strict=True)
    element(inertial, "inertia", **{key: number(part) for key, part in parts})


def _params(robot: ElementTree.Element, model: Model) -> None:
    """Write the actuators' parameters as joints of a `<ros2_control>` element."""
    system: ElementTree.Element | None = None
    for joint in model.joints:
        params = params_of_joint(joint)
        if params and system is None:
            system = element(robot, "ros2_control", name=model.name, type="system")
        if params:
            out = element(system, "joint", name=joint.name)
            for key, text in params.items():
                element(out, "param", name=key).text = text


def _joint(
    robot: ElementTree.Element,
    joint: Joint,
    home: tuple[float, ...] | None,
) -> None:
    where = f"joint {joint.name!r}"
    if not joint.child_at.is_link_frame:
        raise OutputError(
            f"{where}: a joint of a URDF is at the origin of its child's frame ({joint.child!r}), "
            "expected child_at without rotation and translation",
            value=joint.child_at.matrix,
        )
    lower, upper = joint.position
    bounded, single = np.isfinite(joint.position).any(), joint.kind not in ("fixed", "floating")
    if single and ((lower == upper == 0.0) or (bounded and joint.kind == "continuous")):
        raise OutputError(
            f"{where}: a URDF cannot describe a {joint.kind} joint with the limits [{lower:g}, "
            f"{upper:g}]; write a .yaml file, or change them",
            value=joint.position,
        )
    out = element(robot, "joint", name=joint.name, type=joint.kind)
    element(out, "parent", link=joint.parent)
    element(out, "child", link=joint.child)
    frame_origin(out, joint.at.matrix)
    if single:
        _motion(out, joint)
    own = own_attributes(joint, home) | spring_attributes(joint)
    if own:
        element(out, TAG, **own)


def _motion(out: ElementTree.Element, joint: Joint) -> None:
    """Write axis, limits and friction of a joint, and its `<mimic>`.

    Position limits are omitted if both are infinite.
    """
    element(out, "axis", xyz=numbers(joint.axis))
    limit = element(out, "limit")
    if np.isfinite(joint.position).any():
        for key, end in zip(("lower", "upper"), joint.position, strict=True):
            limit.set(key, number(np.clip(end, -UNLIMITED, UNLIMITED)))
    for key, value in (("effort", joint.effort), ("velocity", joint.velocity)):
        limit.set(key, number(min(value, UNLIMITED)))
    friction = {"damping": number(joint.damping), "friction": number(joint.friction[0])}
    element(out, "dynamics", **friction)
    if joint.mimic is not None:
        numbers_of = {key: number(getattr(joint.mimic, key)) for key in ("multiplier", "offset")}
        element(out, "mimic", joint=joint.mimic.joint, **numbers_of)


def closure_element(robot: ElementTree.Element | None, closure: Closure) -> ElementTree.Element:
    """Create the `<constraint>` element of a loop closure, and return it.

    It is appended to `robot` unless that is None.
    """
    out = element(
        robot, "constraint", name=closure.name, type=closure.kind, damping=number(closure.damping)
    )
    if closure.stiffness:
        out.set("stiffness", number(closure.stiffness))
    for side, (link, place, axis) in zip(("parent", "child"), closure.ends, strict=True):
        element(out, side, link=link)
        frame_origin(out, place.matrix, f"{side}_origin")
        element(out, f"{side}_axis", xyz=numbers(axis))
    return out


def settings_of(model: Model, kind: str) -> dict[str, str]:
    """Return the attributes of the robot's `<robodyn>` element, as strings by name.

    They contain the kind of mechanism, `kind`, and the data of the model that URDF cannot
    represent, such as gravity, base and tip, and driven joints.
    """
    texts = {
        "type": kind,
        "gravity": "" if np.array_equal(model.gravity, GRAVITY) else numbers(model.gravity),
        "base_link": model.base_link,
        "tip_link": model.tip_link,
        "actuated_joints": ",".join(model.driven),
        "independent_joints": ",".join(model.independent),
        "weights": numbers(model.weights),
    }
    cones = {name: getattr(model, name) for name in ("base_cone", "body_cone")}
    texts |= {name: number(cone) for name, cone in cones.items() if np.isfinite(cone)}
    return {name: text for name, text in texts.items() if text}


def own_attributes(joint: Joint, home: tuple[float, ...] | None) -> dict[str, str]:
    """Return the attributes of a joint's `<robodyn>` element, as strings by name.

    Args:
        joint: joint to describe.
        home: home position [rad or m] or pose of the joint; None to omit it.
    """
    own = {"armature": number(joint.armature)} if joint.armature else {}
    forward, backward = joint.friction
    if backward != forward and not joint.drive.rotor_inertia:
        own["friction_backward"] = number(backward)
    return own if home is None else own | {"home": numbers(home)}


def spring_attributes(joint: Joint) -> dict[str, str]:
    """Return the attributes of `<robodyn>` for a joint's spring, as strings by name."""
    values = {
        "spring_stiffness": joint.spring.stiffness,
        "spring_rest": joint.spring.rest,
        "spring_preload": joint.spring.preload,
    }
    return {name: number(value) for name, value in values.items() if value}


def unloaded_position(each: Joint | PointSpring, form: str) -> float:
    """Return the position or length [rad or m] at which a spring exerts no effort.

    Args:
        each: joint with the spring, or spring between points.
        form: name of the file format, for messages.

    Raises:
        OutputError: the spring exerts the same effort at every position.
    """
    if each.spring.preload and not each.spring.stiffness:
        raise OutputError(
            f"{each.name!r}: {form} cannot describe a spring with a constant effort "
            f"({each.spring.preload:g}) and no stiffness; give it a stiffness, or "
            "write a .yaml or .urdf file",
            value=each.spring,
        )
    return each.spring.unloaded


def params_of_joint(joint: Any) -> dict[str, str]:
    """Return the `<param>` values of a joint's actuator for `<ros2_control>`, by name.

    Armature is not included; friction is included only if it depends on the direction.
    """
    params = params_of(joint.drive)
    forward, backward = joint.friction
    if joint.drive.rotor_inertia and backward != forward:
        params["coulomb_backward"] = number(backward)
    return params
