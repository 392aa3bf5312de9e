# SPDX-License-Identifier: Apache-2.0

"""Drake's elements in URDF and SDF files: springs are read, others are rejected or reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from xml.etree.ElementTree import Element

import numpy as np

from robodyn.errors import ModelError
from robodyn.formats.xml_text import numbers_in
from robodyn.model import LinearSpring, PointSpring

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
# Alternatives to joint types that URDF does not have.
INSTEAD = {
    "planar": "write two prismatic joints and a revolute one, with links of mass 0 between them",
    "universal": "write two revolute joints, with a link of mass 0 between them",
    "screw": "write a revolute joint, and a prismatic one that follows it by <mimic>, with a link "
    "of mass 0 between them; in an SDF, the type screw is supported",
}
for _name in ("spherical", "ball"):
    INSTEAD[_name] = (
        "write three revolute joints with axes x, y and z, and links of mass 0 between them; or "
        'type="floating", and a <constraint type="spherical"> that holds a point of the child on '
        "the parent; in an SDF and in MJCF, the type ball is supported"
    )
# Drake elements that affect the motion, and alternatives.
FOREIGN = {
    "drake:ball_constraint": "which closes a loop at a point; in SDF write a joint of type ball",
    "drake:linear_bushing_rpy": "which is a spring between frames; if it closes a loop, write the "
    "joint that it stands for",
    "drake:tendon_constraint": "which couples joints; write a <mimic>",
    "drake:mimic": "which couples joints; write the <mimic> of SDF in the <axis>",
}
# Drake's spring and damper between points of two links.
SPRING_DAMPER = "drake:linear_spring_damper"


def spring_dampers(
    root: Element, link_of: Callable[[str, str], str] = lambda name, _: name
) -> Iterator[PointSpring]:
    """Yield a `PointSpring` for each `<drake:linear_spring_damper>` of a URDF or SDF.

    Args:
        root: element of the robot or model.
        link_of: function that converts a name in the file to a link's name; its second argument is
            the element's name for messages.

    Raises:
        ModelError: a value of the spring is missing or invalid.
    """
    # iterfind would interpret the prefix as a namespace
    elements = (part for part in root if part.tag == SPRING_DAMPER)
    for number, element in enumerate(elements, start=1):
        name = SPRING_DAMPER.removeprefix("drake:") + f"_{number}"
        texts = {
            part.tag.removeprefix(f"{SPRING_DAMPER}_"): (
                part.get("name") or part.get("value") or part.text or ""
            ).strip()
            for part in element
        }
        where = f"<{SPRING_DAMPER}> {number}"
        values = {
            key: numbers_in(texts.get(key, ""), count, f"{where}: {key}", at_least=least)
            for key, count, least in (
                ("p_AP", 3, -np.inf), ("p_BQ", 3, -np.inf), ("free_length", 1, 0.0),
                ("stiffness", 1, 0.0), ("damping", 1, 0.0),
            )
        }  # fmt: skip
        parent, child = (link_of(texts.get(key, ""), where) for key in ("body_A", "body_B"))
        law = LinearSpring(values["stiffness"][0], values["free_length"][0])
        ends = np.array(values["p_AP"]), np.array(values["p_BQ"])
        yield PointSpring(name, parent, child, *ends, law, values["damping"][0])


def refuse_foreign_joints(root: Element, source: str) -> None:
    """Reject a URDF or SDF with `<drake:joint>` elements, which are not supported.

    Without these joints the links would form no tree.

    Raises:
        ModelError: there is such a joint; the message suggests a supported type.
    """
    for joint in (part for part in root.iter() if part.tag == "drake:joint"):
        name, kind = joint.get("name", ""), joint.get("type", "")
        raise ModelError(
            f"{source}: <drake:joint> {name!r} of the type {kind!r} is not supported; "
            f"{INSTEAD.get(kind, 'write joints of the types ' + ', '.join(JOINT_TYPES))}",
            value=kind,
        )
