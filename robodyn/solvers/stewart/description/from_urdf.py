# SPDX-License-Identifier: Apache-2.0

"""Stewart platform from a URDF tree and its six closures, for any frames and names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from robodyn.errors import ModelError
from robodyn.formats.inertia import check_inertias
from robodyn.mechanism.kind import ReadOptions
from robodyn.model.builder import ModelBuilder
from robodyn.model.closure import Closure
from robodyn.model.fields import replace_unchecked
from robodyn.model.model import Model
from robodyn.model.zero_configuration import ZeroConfigurationTree
from robodyn.parsing.description import check_links
from robodyn.solvers.stewart.recognition import LEGS, checked_structure, inertia_without_rotor


def stewart_model_from_urdf(builder: ModelBuilder, options: ReadOptions) -> Model:
    """Create the model of a Stewart platform from a URDF.

    The URDF has a floating platform and six legs with spherical closures.

    The base frame is that of the floating joint's parent link. The home pose is the origin of this
    joint; without an origin, there is no home pose. Unless the URDF's `<robodyn>` element states
    gravity, it is 9.81 m/s^2 along -z of the tree's root, so a root link above a tilted base
    describes the mounting of the mechanism.

    Raises:
        ModelError: the URDF does not describe such a platform; the message names the joint, link or
            constraint, the value found and the expected one.
        UnphysicalInertia: with `strict=True`.
    """
    source, slides = builder.source, []
    platform = None
    for joint in builder.joints.values():
        if joint.kind == "floating":
            platform = joint.child
        if joint.kind != "prismatic" or joint.mimic is not None:
            continue
        slides.append(joint.name)
    model = builder.model(platform, driven=slides or None)
    check_links(model, strict=options.strict)
    tree = ZeroConfigurationTree(model)
    legs = [
        joints[-1].name
        for closure in _in_order(model.closures)
        for link in (closure.parent, closure.child)
        if (joints := tree.moving_joints_above(link)) and joints[-1].kind == "prismatic"
    ]
    stated = {tree.body[link] for link in builder.links_with_inertia}
    for name in (model.tip_link, *(link for leg in legs for link in _parts(leg, tree))):
        if tree.body[name] not in stated:
            raise ModelError(
                f"{source}: link {name!r} has no <inertial>; give its mass, or 0 for a leg part "
                "without mass",
                value=name,
            )
    if set(legs) == set(model.driven):
        model = replace_unchecked(model, driven=tuple(legs))
    checked_structure(model)
    check_inertias(source, inertia_without_rotor(model), strict=options.strict)
    return model


def _parts(actuator: str, tree: ZeroConfigurationTree) -> tuple[str, str]:
    """Return the lower and the upper link of the leg that has a given actuator."""
    joint = next(joint for joint in tree.above.values() if joint.name == actuator)
    return tree.body[joint.parent], joint.child


def _in_order(closures: Sequence[Closure]) -> Sequence[Closure]:
    """Sort the closures of the six legs by the numbers in their names.

    If each name contains several numbers, the first one that differs between all names is used. If
    no number does, the closures keep their order.
    """
    numbers = [[int(n) for n in re.findall(r"\d{1,9}", closure.name)] for closure in closures]
    for column in zip(*numbers, strict=False):
        if len(set(column)) == len(closures) == LEGS:
            pairs = sorted(zip(column, range(LEGS), strict=True))
            return [closures[index] for _, index in pairs]
    return closures
