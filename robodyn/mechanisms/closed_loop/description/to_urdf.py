# SPDX-License-Identifier: Apache-2.0

"""A mechanism with closed loops as URDF, by itself or beside a YAML file that names it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from robodyn.errors import OutputError
from robodyn.formats.meshes import with_mesh_files
from robodyn.formats.urdf_motors import TAG
from robodyn.formats.urdf_shapes import element, inertial, number, numbers
from robodyn.mechanisms.common import urdf_writer as write
from robodyn.mechanisms.common.model_file import write_text, write_yaml

if TYPE_CHECKING:
    from robodyn.mechanisms.closed_loop.model import LoopClosure, TreeJoint


def closed_loop_urdf(mechanism: Any) -> str:
    """URDF text of a tree with closures; loading it gives an equal mechanism.

    What the URDF that it was read from says beyond the model, such as its pictures, stays.

    Raises:
        OutputError: what a URDF cannot state.
    """
    model = mechanism.model
    robot = element(None, "robot", name=model.name)
    if model.urdf:
        robot = ElementTree.fromstring(with_mesh_files(model.urdf, Path(model.source)))
        robot.set("name", model.name)
    links = {link.get("name"): link for link in robot.iterfind("link")}
    for link in model.links:
        own = links.get(link.name)
        own = element(robot, "link", name=link.name) if own is None else own
        write.renewed(own, "inertial")
        if link.mass or link.inertia.any():
            inertial(own, link)
    joints = {joint.get("name"): joint for joint in robot.iterfind("joint")}
    home = dict(model.home)
    for joint in model.joints:
        _joint(robot, joints.get(joint.name), joint, home.get(joint.name))
    write.write_actuators(robot, {j.name: write.params_of_joint(j) for j in model.joints})
    write.renewed(robot, "constraint")
    for closure in model.closures:
        _closure(robot, closure)
    write.write_settings(
        robot,
        type=mechanism.kind,
        gravity=model.gravity,
        tip_link=model.tip_link,
        actuated_joints=model.driven,
        independent_joints=model.independent,
        weights=model.weights,
    )
    return write.text_of(robot)


def write_closed_loop(mechanism: Any, path: Path) -> list[Path]:
    """Write `path` and the URDF that it names, beside it; returns the files written.

    Raises:
        OutputError: a file cannot be written, or the URDF cannot state the mechanism.
    """
    model, urdf = mechanism.model, path.with_suffix(".urdf")
    write_text(urdf, closed_loop_urdf(mechanism))
    document = {
        "type": mechanism.kind,
        "name": model.name,
        "urdf": urdf.name,
        "tip_link": model.tip_link,
        "actuated_joints": list(model.driven),
    }
    write_yaml(path, document)
    return [path, urdf]


def _joint(
    robot: ElementTree.Element,
    known: ElementTree.Element | None,
    joint: TreeJoint,
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
        out = write.write_joint(robot, joint.name, joint.kind, joint.parent, joint.child)
    write.write_place(out, joint.at.rotation, joint.at.translation)
    if joint.kind not in ("fixed", "floating"):
        write.write_motion(out, joint, home)
    elif home is not None:
        write.renewed(out, TAG)
        element(out, TAG, home=numbers(home))
    write.renewed(out, "mimic")
    if joint.mimic is not None:
        factor, offset = number(joint.mimic.multiplier), number(joint.mimic.offset)
        element(out, "mimic", joint=joint.mimic.joint, multiplier=factor, offset=offset)


def _closure(robot: ElementTree.Element, closure: LoopClosure) -> None:
    out = element(
        robot, "constraint", name=closure.name, type=closure.kind, damping=number(closure.damping)
    )
    for side, link, place, axis in (
        ("parent", closure.parent, closure.at, closure.axis),
        ("child", closure.child, closure.child_at, closure.child_axis),
    ):
        assert axis is not None  # made when the closure is
        element(out, side, link=link)
        write.write_place(out, place.rotation, place.translation, f"{side}_origin")
        element(out, f"{side}_axis", xyz=numbers(axis))
