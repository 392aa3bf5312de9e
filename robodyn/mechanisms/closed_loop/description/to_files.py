# SPDX-License-Identifier: Apache-2.0

"""A closed loop as its URDF with other numbers in it, and a YAML file beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from robodyn.actuators import Actuator
from robodyn.actuators.description import NAMES
from robodyn.errors import OutputError
from robodyn.formats.urdf_motors import TAG
from robodyn.mechanisms.common.model_file import actuator_fields, numbers, write_text, write_yaml
from robodyn.poses import rpy_of_rotation

if TYPE_CHECKING:
    from pathlib import Path

    from robodyn.mechanisms.closed_loop.model import Link, LoopClosure, Placement, TreeJoint


def write_closed_loop(mechanism: Any, path: Path) -> list[Path]:
    """Write `path` and the URDF that it names, beside it; returns the files written.

    Raises:
        OutputError: a file cannot be written, or the mechanism was not read from a URDF.
    """
    model = mechanism.model
    if not model.urdf:
        raise OutputError(
            f"{path}: {model.name} was not read from a URDF, so there is none to write its "
            "numbers into",
            value=model.name,
        )
    robot = ElementTree.fromstring(model.urdf)
    links = {link.name: link for link in model.links}
    joints = {joint.name: joint for joint in model.joints}
    for element in robot.iterfind("link"):
        _weigh(element, links[element.get("name", "")])
    for element in robot.iterfind("joint"):
        _rub(element, _in_urdf(joints[element.get("name", "")]))
    for element in robot.iterfind("ros2_control/joint"):
        for told in element.findall("param"):
            if told.get("name") in NAMES:
                element.remove(told)  # of an actuator: the YAML file has it
    for element in robot.findall("constraint"):
        robot.remove(element)  # the YAML file has them all
    urdf = path.with_suffix(".urdf")
    write_text(urdf, ElementTree.tostring(robot, encoding="unicode") + "\n")
    document: dict[str, Any] = {
        "type": "closed_loop",
        "name": model.name,
        "gravity": numbers(model.gravity),
        "urdf": urdf.name,
        "tip_link": model.tip_link,
        "actuated_joints": list(model.driven),
        "independent_joints": list(model.independent),
        "weights": list(model.weights),
        "home": {name: value[0] if len(value) == 1 else list(value) for name, value in model.home},
        "actuators": {
            name: actuator_fields(joints[name].actuator)
            for name in model.driven
            if joints[name].drive != Actuator()
        },
        "closures": [_closure(closure) for closure in model.closures],
    }
    write_yaml(path, {name: value for name, value in document.items() if value})
    return [path, urdf]


def _in_urdf(joint: TreeJoint) -> TreeJoint:
    """The joint as a URDF has it: what has an actuator in the YAML file, without that."""
    return joint if joint.drive == Actuator() else joint.driven_by(Actuator())


def _weigh(element: ElementTree.Element, link: Link) -> None:
    for old in element.findall("inertial"):
        element.remove(old)
    if not (link.mass or link.inertia.any()):
        return
    inertial = ElementTree.SubElement(element, "inertial")
    ElementTree.SubElement(inertial, "origin", xyz=_text(link.com), rpy="0 0 0")
    ElementTree.SubElement(inertial, "mass", value=repr(float(link.mass)))
    rows, columns = np.triu_indices(3)
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    values = (repr(float(value)) for value in link.inertia[rows, columns])
    ElementTree.SubElement(inertial, "inertia", dict(zip(names, values, strict=True)))


def _rub(element: ElementTree.Element, joint: TreeJoint) -> None:
    if joint.kind in ("fixed", "floating"):
        return
    for name in ("dynamics", TAG):
        for old in element.findall(name):
            element.remove(old)
    forward, backward = (repr(value) for value in joint.friction.tolist())
    ElementTree.SubElement(
        element, "dynamics", damping=repr(float(joint.damping)), friction=forward
    )
    armature = repr(float(joint.armature))
    ElementTree.SubElement(element, TAG, armature=armature, friction_backward=backward)


def _closure(closure: LoopClosure) -> dict[str, Any]:
    assert closure.child_axis is not None
    return {
        "name": closure.name,
        "type": closure.kind,
        "parent": {"link": closure.parent, **_place(closure.at), "axis": numbers(closure.axis)},
        "child": {
            "link": closure.child,
            **_place(closure.child_at),
            "axis": numbers(closure.child_axis),
        },
        "damping": float(closure.damping),
    }


def _place(place: Placement) -> dict[str, Any]:
    return {"xyz": numbers(place.translation), "rpy": numbers(rpy_of_rotation(place.rotation))}


def _text(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)
