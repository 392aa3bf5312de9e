# SPDX-License-Identifier: Apache-2.0

"""Joints and elements of other programs that are not supported, with alternatives."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from robodyn.errors import ModelError

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
# Alternatives to joint types that URDF does not have.
INSTEAD = {
    "planar": "write two prismatic joints and a revolute one, with links of mass 0 between them",
    "universal": "write two revolute joints, with a link of mass 0 between them",
    "screw": "write a revolute joint, and a prismatic one that follows it by <mimic>, with a link "
    "of mass 0 between them; in an SDF, screw is read",
}
for _name in ("spherical", "ball"):
    INSTEAD[_name] = (
        "write three revolute joints with axes x, y and z, and links of mass 0 between them; or "
        'type="floating", and a <constraint type="spherical"> that holds a point of the child on '
        "the parent; in an SDF and in MJCF, ball is read"
    )
# Elements of Drake that affect the motion, and alternatives.
FOREIGN = {
    "drake:ball_constraint": "which closes a loop by a point; in SDF write a joint of type ball",
    "drake:linear_bushing_rpy": "which is a spring between frames; if it closes a loop, write the "
    "joint that it stands for",
    "drake:linear_spring_damper": "whose spring has no counterpart here",
    "drake:tendon_constraint": "which couples joints; write a <mimic>",
    "drake:mimic": "which couples joints; write the <mimic> of SDF in the <axis>",
}


def refuse_foreign_joints(root: Element, source: str) -> None:
    """Reject joints of Drake's own types, without which the links form no tree.

    Raises:
        ModelError: names the alternative.
    """
    for joint in (part for part in root.iter() if part.tag == "drake:joint"):
        name, kind = joint.get("name", ""), joint.get("type", "")
        raise ModelError(
            f"{source}: <drake:joint> {name!r} of the type {kind!r} is not read; "
            f"{INSTEAD.get(kind, 'write joints of the types ' + ', '.join(JOINT_TYPES))}",
            value=kind,
        )
