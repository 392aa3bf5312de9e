# SPDX-License-Identifier: Apache-2.0

"""A Stewart platform from a URDF tree and its six closures, whatever frames and names it uses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from robodyn.errors import ModelError
from robodyn.mechanisms.common.urdf_tree import UrdfTree
from robodyn.mechanisms.stewart.description.bodies import check_bodies
from robodyn.mechanisms.stewart.description.urdf_leg import LegReader
from robodyn.mechanisms.stewart.model import LEGS, Leg, StewartModel
from robodyn.model.body import Body
from robodyn.poses import pose_from_rpy

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.formats.urdf_elements import UrdfClosure
    from robodyn.formats.urdf_text import UrdfDocument


LEG_JOINTS = (("revolute", "continuous"), ("revolute", "continuous"), ("prismatic",))


def stewart_model_from_urdf(document: UrdfDocument, strict: bool = False) -> StewartModel:
    """The model that a URDF with a floating platform and six spherical closures describes.

    The base frame is that of the floating joint's parent link, the home pose its origin (none
    if it has no origin). Gravity, unless the URDF's `<robodyn>` gives it, is 9.81 m/s^2 along -z of
    the tree's root, so that a root above a
    tilted base describes how the mechanism is mounted.

    Raises:
        ModelError: names the joint, link or constraint, what was found and what is expected.
        UnphysicalInertia: with `strict=True`.
    """
    source = document.source
    tree = UrdfTree(document)
    floating = _floating_joint(document)
    base = tree.frames[floating.parent]
    platform_frame = tree.frames[floating.child]
    reader = LegReader(tree, base, source, document.drives.params)
    legs: list[Leg] = []
    used = {floating.name}
    for closure in _ordered(document):
        tip_link, tip, anchor = _ends(closure, tree, floating, source)
        joints = _leg_joints(closure, tree, tip_link, tree.body[floating.parent], source)
        for joint in joints:
            if joint.name in used:
                raise ModelError(
                    f"{source}: constraint {closure.name!r} closes the leg of joint {joint.name!r} "
                    "a second time; every leg has one closure",
                    value=joint.name,
                )
            used.add(joint.name)
        in_platform = platform_frame[:3, :3].T @ (anchor - platform_frame[:3, 3])
        legs.append(reader.leg(joints, tip, in_platform, closure))
    _check_all_used(document, used)
    model = StewartModel(
        name=document.robot.name,
        platform=_platform(tree, floating.child, source),
        legs=tuple(legs),
        gravity=tree.gravity(floating.parent),
        home=_home(floating.origin),
        source=source,
        base_link=floating.parent,
        platform_link=floating.child,
    )
    check_bodies(model, strict=strict)
    return model


def _floating_joint(document: UrdfDocument) -> Any:
    floating = [joint for joint in document.robot.joints if joint.type == "floating"]
    if len(floating) != 1:
        names = ", ".join(repr(joint.name) for joint in floating) or "none"
        raise ModelError(
            f"{document.source}: floating joints: {names}; a Stewart platform has one, from its "
            "base to its platform",
            value=[joint.name for joint in floating],
        )
    return floating[0]


def _ordered(document: UrdfDocument) -> list[UrdfClosure]:
    """The six closures in the order of the numbers in their names, else in file order."""
    closures = list(document.closures)
    for closure in closures:
        if closure.kind != "spherical":
            raise ModelError(
                f"{document.source}: constraint {closure.name!r}: type is {closure.kind!r}, "
                "expected spherical",
                value=closure.kind,
            )
    if len(closures) != LEGS:
        names = ", ".join(repr(closure.name) for closure in closures) or "none"
        raise ModelError(
            f"{document.source}: {len(closures)} spherical <constraint> elements ({names}), a "
            "Stewart platform has six, one at the tip of each leg",
            value=len(closures),
        )
    numbers = [[int(n) for n in re.findall(r"\d{1,9}", closure.name)] for closure in closures]
    for column in zip(*numbers, strict=False):
        if len(set(column)) == LEGS:
            pairs = sorted(zip(column, range(LEGS), strict=True))
            return [closures[index] for _, index in pairs]
    return closures


def _ends(
    closure: UrdfClosure, tree: UrdfTree, floating: Any, source: str
) -> tuple[str, FloatArray, FloatArray]:
    """The leg's link at a closure, and both its points (3,), root frame."""
    on_platform = [tree.body[link] == tree.body[floating.child] for link in closure.links]
    if on_platform.count(True) != 1:
        raise ModelError(
            f"{source}: constraint {closure.name!r} joins {closure.links[0]!r} and "
            f"{closure.links[1]!r}, expected a leg's tip and the platform {floating.child!r}",
            value=closure.links,
        )
    platform = on_platform.index(True)
    leg = 1 - platform
    return (
        closure.links[leg],
        tree.point(closure.links[leg], closure.points[leg]),
        tree.point(closure.links[platform], closure.points[platform]),
    )


def _leg_joints(
    closure: UrdfClosure, tree: UrdfTree, link: str, base_body: str, source: str
) -> list[Any]:
    joints = tree.moving_joints_above(link)
    fits = len(joints) == len(LEG_JOINTS) and all(
        joint.type in kinds for joint, kinds in zip(joints, LEG_JOINTS, strict=True)
    )
    if not fits or tree.body[joints[0].parent] != base_body:
        found = ", ".join(f"{joint.type} {joint.name!r}" for joint in joints) or "none"
        raise ModelError(
            f"{source}: constraint {closure.name!r}: from the base to {link!r} the moving joints "
            f"are {found}; expected revolute, revolute, prismatic",
            value=link,
        )
    return joints


def _check_all_used(document: UrdfDocument, used: set[str]) -> None:
    for joint in document.robot.joints:
        if joint.type != "fixed" and joint.name not in used:
            raise ModelError(
                f"{document.source}: {joint.type} joint {joint.name!r} is part of no leg; make it "
                "fixed, or close its leg with a <constraint>",
                value=joint.name,
            )


def _platform(tree: UrdfTree, link: str, source: str) -> Body:
    merged = tree.merged(tree.body[link])
    if merged is None or not merged.mass > 0.0:
        found = "no <inertial>" if merged is None else f"mass {merged.mass:g}"
        raise ModelError(
            f"{source}: link {link!r} (the platform) has {found}, expected a positive mass",
            value=link,
        )
    return merged


def _home(origin: Any) -> FloatArray | None:
    if origin is None:
        return None
    return pose_from_rpy(origin.xyz or (0.0, 0.0, 0.0), origin.rpy or (0.0, 0.0, 0.0))
