# SPDX-License-Identifier: Apache-2.0

"""A model as URDF.

Numbers are written so that they read back as the same floats. What URDF has no word for stands in
the element that `robodyn.formats.urdf_motors` describes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from robodyn.actuators.description import NAMES, params_of
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import OutputError
from robodyn.formats.meshes import with_mesh_files
from robodyn.formats.urdf_motors import TAG
from robodyn.formats.urdf_shapes import (
    UNLIMITED,
    element,
    inertial,
    number,
    numbers,
    origin,
    read_frame,
    write_joint,
)
from robodyn.model.closure import Closure
from robodyn.model.fields import GRAVITY
from robodyn.model.joint import Joint
from robodyn.model.model import Model
from robodyn.poses import rpy_of_rotation


def tree_urdf(model: Model, kind: str, base_link: str = "") -> str:
    """URDF text of a tree with closures, to be read as one of a kind, from a base link if given.

    What the URDF that it was read from says beyond the model, such as its pictures, stays.

    Raises:
        OutputError: what a URDF cannot state.
    """
    return document_text(tree_of(model, kind, base_link))


def tree_of(model: Model, kind: str, base_link: str = "") -> ElementTree.Element:
    """The elements of `tree_urdf`."""
    robot = element(None, "robot", name=model.name)
    if model.urdf:
        robot = ElementTree.fromstring(with_mesh_files(model.urdf, Path(model.source)))
        robot.set("name", model.name)
    links = {link.get("name"): link for link in robot.iterfind("link")}
    stated = () if model.urdf else {joint.child for joint in model.joints if joint.moves}
    for link in model.links:
        own = links.get(link.name)
        own = element(robot, "link", name=link.name) if own is None else own
        renewed(own, "inertial")
        if link.mass or link.inertia.any() or link.name in stated:
            inertial(own, link.mass, link.com, link.inertia)
    joints = {joint.get("name"): joint for joint in robot.iterfind("joint")}
    home = dict(model.home)
    for joint in model.joints:
        _joint(robot, joints.get(joint.name), joint, home.get(joint.name))
    for tag, parts in (("link", model.links), ("joint", model.joints)):
        _ordered(robot, tag, [part.name for part in parts])
    write_actuators(robot, {joint.name: params_of_joint(joint) for joint in model.joints})
    renewed(robot, "constraint")
    for closure in model.closures:
        _closure(robot, closure)
    write_settings(
        robot,
        type=kind,
        gravity=model.gravity,
        base_link=base_link,
        tip_link=model.tip_link,
        actuated_joints=model.driven,
        independent_joints=model.independent,
        weights=model.weights,
    )
    return robot


def _ordered(robot: ElementTree.Element, tag: str, names: list[str]) -> None:
    """Put elements in an order by name, in which a reader finds coordinates; others after them."""
    places = [k for k, each in enumerate(robot) if each.tag == tag]
    known = {name: k for k, name in enumerate(names)}
    found = [robot[k] for k in places]
    found.sort(key=lambda each: known.get(each.get("name", ""), len(names)))
    for k, each in zip(places, found, strict=True):
        robot[k] = each


def _joint(
    robot: ElementTree.Element,
    known: ElementTree.Element | None,
    joint: Joint,
    home: tuple[float, ...] | None,
) -> None:
    if not np.array_equal(joint.child_at.matrix, np.eye(4)):
        raise OutputError(
            f"joint {joint.name!r}: in a URDF it is at the origin of the frame of its child "
            f"{joint.child!r}, expected child_at without rotation and translation",
            value=joint.child_at.matrix,
        )
    out = known
    if out is None:
        out = write_joint(robot, joint.name, joint.kind, joint.parent, joint.child)
    elif out.get("type") != joint.kind:  # what it was read from may have had another
        out.set("type", joint.kind)
        renewed(out, "axis", "limit", "dynamics", "mimic", TAG)
    write_place(out, joint.at.rotation, joint.at.translation)
    if joint.kind not in ("fixed", "floating"):
        write_motion(out, joint, home)
    elif home is not None:
        renewed(out, TAG)
        element(out, TAG, home=numbers(home))
    renewed(out, "mimic")
    if joint.mimic is not None:
        factor, offset = number(joint.mimic.multiplier), number(joint.mimic.offset)
        element(out, "mimic", joint=joint.mimic.joint, multiplier=factor, offset=offset)


def _closure(robot: ElementTree.Element, closure: Closure) -> None:
    out = element(
        robot, "constraint", name=closure.name, type=closure.kind, damping=number(closure.damping)
    )
    for side, (link, place, axis) in zip(("parent", "child"), closure.ends, strict=True):
        element(out, side, link=link)
        write_place(out, place.rotation, place.translation, f"{side}_origin")
        element(out, f"{side}_axis", xyz=numbers(axis))


def write_settings(robot: ElementTree.Element, **settings: Any) -> None:
    """The `<robodyn>` of a robot, instead of the one it has: texts, lists of names, arrays."""
    renewed(robot, TAG)
    texts = {}
    for name, value in settings.items():
        if name == "gravity" and np.array_equal(value, GRAVITY):
            continue
        if isinstance(value, np.ndarray) or name == "weights":
            value = numbers(value)
        texts[name] = value if isinstance(value, str) else ",".join(value)
    texts = {name: text for name, text in texts.items() if text}
    if texts:
        element(robot, TAG, **texts)


def write_place(
    parent: ElementTree.Element, rotation: FloatArray, xyz: FloatArray, tag: str = "origin"
) -> None:
    """A frame of axes (3, 3) and origin (3,) [m], unless that which is there says just this."""
    old = parent.find(tag)
    if old is not None:
        frame = read_frame(old)
        if np.array_equal(frame[:3, :3], rotation) and np.array_equal(frame[:3, 3], xyz):
            return
        parent.remove(old)
    origin(parent, xyz, rpy_of_rotation(rotation), tag)


def write_motion(
    element_: ElementTree.Element, joint: Any, home: Sequence[float] | None = None
) -> None:
    """Axis, limits, friction and armature of a model's joint that moves, and where it starts.

    Raises:
        OutputError: limits that a URDF cannot state.
    """
    lower, upper = joint.position
    bounded = bool(np.isfinite(joint.position).any())
    if (lower == upper == 0.0) or (bounded and joint.kind == "continuous"):
        raise OutputError(
            f"joint {joint.name!r}: a URDF cannot say that a {joint.kind} joint has the limits "
            f"[{lower:g}, {upper:g}]; write a .yaml file, or change them",
            value=joint.position,
        )
    renewed(element_, "axis", "limit", "dynamics", TAG)
    element(element_, "axis", xyz=numbers(joint.axis))
    write_limits(element_, joint.position if bounded else None, joint.velocity, joint.effort)
    forward, backward = joint.friction
    element(element_, "dynamics", damping=number(joint.damping), friction=number(forward))
    own = {}
    if joint.armature:
        own["armature"] = number(joint.armature)
    if backward != forward and not joint.drive.rotor_inertia:
        own["friction_backward"] = number(backward)
    if home is not None:
        own["home"] = numbers(home)
    if own:
        element(element_, TAG, **own)


def write_limits(
    joint: ElementTree.Element, position: ArrayLike | None, velocity: float, effort: float
) -> None:
    """The `<limit>` of a joint; `position` (2,) [rad or m], None for none."""
    limit = element(joint, "limit")
    if position is not None:
        for key, value in zip(("lower", "upper"), np.asarray(position), strict=True):
            limit.set(key, number(np.clip(value, -UNLIMITED, UNLIMITED)))
    limit.set("effort", number(min(effort, UNLIMITED)))
    limit.set("velocity", number(min(velocity, UNLIMITED)))


def params_of_joint(joint: Any) -> dict[str, str]:
    """What a model's joint has of an actuator beyond armature and friction, as `<param>`s."""
    params = params_of(joint.drive)
    forward, backward = joint.friction
    if joint.drive.rotor_inertia and backward != forward:
        params["coulomb_backward"] = number(backward)
    return params


def write_actuators(robot: ElementTree.Element, params: Mapping[str, Mapping[str, str]]) -> None:
    """The parameters of joints' actuators, by joint, instead of those in `<ros2_control>`.

    Whose hardware moves them is left as it is.
    """
    known: dict[str, ElementTree.Element] = {}
    for joint in robot.iterfind("ros2_control/joint"):
        known.setdefault(joint.get("name", ""), joint)
        for param in joint.findall("param"):
            if param.get("name") in NAMES:
                joint.remove(param)
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


def renewed(parent: ElementTree.Element, *tags: str) -> None:
    """Remove the children that are going to be written anew."""
    for tag in tags:
        for old in parent.findall(tag):
            parent.remove(old)


def document_text(robot: ElementTree.Element) -> str:
    """The whole document."""
    ElementTree.indent(robot)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(robot, encoding="unicode") + "\n"
