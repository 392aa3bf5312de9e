# SPDX-License-Identifier: Apache-2.0

"""A model as URDF.

Numbers are written so that they read back as the same floats. What URDF has no word for stands in
the element that `robodyn.formats.urdf_motors` describes.
"""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from robodyn.actuators.description import NAMES, params_of
from robodyn.errors import OutputError
from robodyn.formats.meshes import with_mesh_files
from robodyn.formats.urdf_motors import TAG
from robodyn.formats.urdf_shapes import (
    document_text,
    element,
    frame_origin,
    inertial,
    number,
    numbers,
    put_in_order,
    read_frame,
    remove_params,
    renewed,
    write_closure,
    write_joint,
    write_motion,
    write_params,
)
from robodyn.model.closure import Closure
from robodyn.model.fields import GRAVITY
from robodyn.model.joint import Joint
from robodyn.model.model import Model
from robodyn.model.placement import Placement


def mechanism_urdf(mechanism: Any) -> str:
    """URDF text of a mechanism's model, to be read as one of its kind."""
    return tree_urdf(mechanism.model, mechanism.kind)


def tree_urdf(model: Model, kind: str) -> str:
    """URDF text of a tree with closures, to be read as one of a kind.

    What the URDF that it was read from says beyond the model, such as its pictures, stays.

    Raises:
        OutputError: what a URDF cannot state.
    """
    return document_text(tree_of(model, kind))


def tree_of(model: Model, kind: str) -> ElementTree.Element:
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
        if link.has_inertia or link.name in stated:
            inertial(own, link.mass, link.com, link.inertia)
    joints = {joint.get("name"): joint for joint in robot.iterfind("joint")}
    home = dict(model.home)
    for joint in model.joints:
        _joint(robot, joints.get(joint.name), joint, home.get(joint.name))
    for tag, parts in (("link", model.links), ("joint", model.joints)):
        put_in_order(robot, tag, [part.name for part in parts])
    remove_params(robot, NAMES)
    write_params(robot, {joint.name: params_of_joint(joint) for joint in model.joints})
    renewed(robot, "constraint")
    for closure in model.closures:
        closure_element(robot, closure)
    write_settings(
        robot,
        type=kind,
        gravity=model.gravity,
        base_link=model.base_link,
        tip_link=model.tip_link,
        actuated_joints=model.driven,
        independent_joints=model.independent,
        weights=model.weights,
        base_cone=model.base_cone,
        body_cone=model.body_cone,
    )
    return robot


def _joint(
    robot: ElementTree.Element,
    known: ElementTree.Element | None,
    joint: Joint,
    home: tuple[float, ...] | None,
) -> None:
    where = f"joint {joint.name!r}"
    if not joint.child_at.is_link_frame:
        raise OutputError(
            f"{where}: in a URDF it is at the origin of the frame of its child {joint.child!r}, "
            "expected child_at without rotation and translation",
            value=joint.child_at.matrix,
        )
    lower, upper = joint.position
    bounded, single = np.isfinite(joint.position).any(), joint.kind not in ("fixed", "floating")
    if single and ((lower == upper == 0.0) or (bounded and joint.kind == "continuous")):
        raise OutputError(
            f"{where}: a URDF cannot say that a {joint.kind} joint has the limits [{lower:g}, "
            f"{upper:g}]; write a .yaml file, or change them",
            value=joint.position,
        )
    out = known
    if out is None:
        out = write_joint(robot, joint.name, joint.kind, joint.parent, joint.child)
    if single or out.get("type") != joint.kind:  # what it was read from may have had another
        renewed(out, "axis", "limit", "dynamics", TAG)
    renewed(out, "mimic", *(() if home is None else (TAG,)))
    out.set("type", joint.kind)
    write_place(out, joint.at)
    if single:
        write_motion(
            out,
            joint.axis,
            position=joint.position,
            velocity=joint.velocity,
            effort=joint.effort,
            damping=joint.damping,
            friction=joint.friction[0],
            mimic=None if joint.mimic is None else astuple(joint.mimic),
        )
    own = own_attributes(joint, home)
    if own:
        element(out, TAG, **own)


def closure_element(robot: ElementTree.Element | None, closure: Closure) -> ElementTree.Element:
    """A model's closure as a `<constraint>`."""
    ends = ((link, place.matrix, axis) for link, place, axis in closure.ends)
    return write_closure(robot, closure.name, closure.kind, ends, closure.damping)


def write_settings(robot: ElementTree.Element, **settings: Any) -> None:
    """The `<robodyn>` of a robot, instead of the one it has: texts, lists of names, arrays."""
    renewed(robot, TAG)
    texts = {}
    for name, value in settings.items():
        if name == "gravity" and np.array_equal(value, GRAVITY):
            continue
        if name.endswith("_cone"):
            value = numbers(np.array([value])) if np.isfinite(value) else ""
        if isinstance(value, np.ndarray) or name == "weights":
            value = numbers(value)
        texts[name] = value if isinstance(value, str) else ",".join(value)
    texts = {name: text for name, text in texts.items() if text}
    if texts:
        element(robot, TAG, **texts)


def write_place(parent: ElementTree.Element, place: Placement, tag: str = "origin") -> None:
    """A frame on a link, unless that which is there says just this."""
    old = parent.find(tag)
    if old is not None:
        if np.array_equal(read_frame(old), place.matrix):
            return
        parent.remove(old)
    frame_origin(parent, place.matrix, tag)


def own_attributes(joint: Joint, home: tuple[float, ...] | None) -> dict[str, str]:
    """What of a joint, and of where it starts, the element `<robodyn>` says."""
    own = {"armature": number(joint.armature)} if joint.armature else {}
    forward, backward = joint.friction
    if backward != forward and not joint.drive.rotor_inertia:
        own["friction_backward"] = number(backward)
    return own if home is None else own | {"home": numbers(home)}


def params_of_joint(joint: Any) -> dict[str, str]:
    """What a model's joint has of an actuator beyond armature and friction, as `<param>`s."""
    params = params_of(joint.drive)
    forward, backward = joint.friction
    if joint.drive.rotor_inertia and backward != forward:
        params["coulomb_backward"] = number(backward)
    return params
