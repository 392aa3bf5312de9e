# SPDX-License-Identifier: Apache-2.0

"""An arm or a platform as a tree with closures: other equations for the same machine.

These take joints that are not driven, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robodyn.formats.urdf_text import actuated_joints, parse_urdf
from robodyn.mechanisms.closed_loop.description.from_urdf import closed_loop_model_from_urdf
from robodyn.mechanisms.closed_loop.loop import ClosedLoop
from robodyn.mechanisms.closed_loop.model import ClosedLoopModel, Link, Placement, TreeJoint
from robodyn.mechanisms.common.urdf_tree import UrdfTree
from robodyn.mechanisms.serial.description.chain import check_loops, longest_chains

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robodyn.formats.urdf_text import UrdfDocument
    from robodyn.mechanisms.kind import ReadOptions
    from robodyn.mechanisms.serial.model import SerialModel
    from robodyn.mechanisms.stewart.model import StewartModel


def from_loose_tree(document: UrdfDocument, options: ReadOptions) -> ClosedLoop | None:
    """All of a URDF without closures that has passive joints where an arm would have its own.

    None where a chain was asked for, or all joints on the way to the tip are driven.

    Raises:
        ModelError: what looks like a loop cut open, or like a gripper at the end of an arm.
    """
    driven = actuated_joints(document)
    named = options.base_link or options.tip_link or options.hold_branches
    if named or not driven:
        return None
    tree = UrdfTree(document)
    check_loops(tree, document.source, options.spelling)
    chains = longest_chains(tree, document.source, None, options.spelling)
    passive = {
        joint.name
        for path in chains.values()
        for joint in path
        if joint.type != "fixed" and joint.mimic is None
    }
    if passive <= set(driven):
        return None
    return ClosedLoop(closed_loop_model_from_urdf(document, options.strict))


def from_arm(arm: Any, driven: Sequence[str] | None = None) -> ClosedLoop:
    """A serial arm, whose tree closes no loop; all of its joints are driven, or those named."""
    model: SerialModel = arm.model
    links, joints = [Link(model.base_link)], []
    for number, joint in enumerate(model.joints):
        name = joint.link or f"link{number + 1}"
        links.append(Link(name, joint.mass, joint.com, joint.inertia))
        joints.append(
            TreeJoint(
                joint.name,
                joint.kind,
                links[-2].name,
                name,
                Placement(joint.rotation, joint.translation),
                axis=joint.axis,
                armature=joint.armature,
                damping=joint.damping,
                friction=joint.friction,
                position=joint.position,
                velocity=joint.velocity,
                effort=joint.effort,
                drive=joint.drive,
            )
        )
    tip = model.tip_link if model.tip_link not in {link.name for link in links} else "tip"
    place = Placement(model.tip_rotation, model.tip_translation)
    links.append(Link(tip))
    joints.append(TreeJoint(f"{tip}_joint", "fixed", links[-2].name, tip, place))
    names = tuple(joint.name for joint in model.joints)
    home = () if model.home is None else zip(names, model.home.tolist(), strict=True)
    return ClosedLoop(
        ClosedLoopModel(
            name=model.name,
            links=tuple(links),
            joints=tuple(joints),
            closures=(),
            driven=names if driven is None else tuple(driven),
            tip_link=tip,
            home=tuple((name, (value,)) for name, value in home),
            gravity=model.gravity,
            source=model.source,
        )
    )


def from_platform(platform: Any, driven: Sequence[str] | None = None) -> ClosedLoop:
    """A 6-UPS platform, by the URDF that is made of it; driven are all legs, or those named."""
    from robodyn.mechanisms.stewart.description.urdf_export import stewart_urdf

    model: StewartModel = platform.model
    document = parse_urdf(stewart_urdf(model), model.source or model.name)
    return ClosedLoop(
        closed_loop_model_from_urdf(
            document, tip_link=model.platform_link, driven=driven, gravity=model.gravity
        )
    )
