# SPDX-License-Identifier: Apache-2.0

"""Registration of Stewart platforms: recognition, reading and writing of descriptions."""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.mechanism.kind import Kind, import_and_call
from robodyn.model.builder import ModelBuilder

LEGS = 6


def _is_platform(builder: ModelBuilder) -> bool:
    """Return whether a URDF describes a 6-UPS platform, or one with a mistake in a leg.

    A platform is one floating body on six prismatic legs. At least five of its closures must end at
    a leg of two revolute joints and a prismatic one, so that a mistake in one leg is reported as
    such. Without closures, a platform is a floating body without further joints, and several
    prismatic joints.
    """
    joints = list(builder.joints.values())
    if any(joint.spring.acts and joint.kind != "prismatic" for joint in joints):
        return False  # such as flexure hinges
    if any(closure.stiffness for closure in builder.closures):
        return False
    fixed = {joint.child: joint.parent for joint in joints if joint.kind == "fixed"}
    floating = [joint for joint in joints if joint.kind == "floating"]
    carriers = {_body(link, fixed) for joint in floating for link in (joint.parent, joint.child)}
    ends = {link for spring in builder.springs for link, _ in spring.ends}
    if any(_body(link, fixed) not in carriers for link in ends):
        return False
    types = [joint.kind for joint in joints]
    if not builder.closures:
        carrying = {joint.parent for joint in joints if joint.moves}
        loose = [joint.child for joint in joints if joint.kind == "floating"]
        return types.count("prismatic") >= LEGS - 1 and any(link not in carrying for link in loose)
    if types.count("floating") != 1 or types.count("prismatic") < LEGS - 1:
        return False
    above = {joint.child: joint for joint in joints}
    legs = []
    for closure in builder.closures:
        for link in (closure.parent, closure.child):
            leg: list[str] = []
            while link in above:
                leg, link = [above[link].kind, *leg], above[link].parent
            legs.append([kind for kind in leg if kind != "fixed"])
    fitting = sum(
        len(leg) == 3 and "prismatic" not in leg[:2] and leg[2] == "prismatic" for leg in legs
    )
    return bool(fitting >= LEGS - 1)


def _body(link: str, fixed: Mapping[str, str]) -> str:
    """Return the topmost link of the rigid body to which a link belongs."""
    while link in fixed:
        link = fixed[link]
    return link


STEWART = Kind(
    "stewart",
    from_yaml=import_and_call(
        "robodyn.solvers.stewart.description.yaml_form:stewart_model_from_yaml",
        "robodyn.solvers.stewart.platform:StewartPlatform",
    ),
    recognizes_urdf=_is_platform,
    from_urdf=import_and_call(
        "robodyn.solvers.stewart.description.from_urdf:stewart_model_from_urdf",
        "robodyn.solvers.stewart.platform:StewartPlatform",
    ),
    to_urdf=import_and_call("robodyn.solvers.stewart.drawing:platform_urdf"),
    adapters={
        "springs": "robodyn.parsing.model_file:with_document_springs",
        "model_file": "robodyn.solvers.stewart.description.yaml_form:write_stewart",
        "template": "robodyn.solvers.stewart.description.template:TEMPLATE",
        "written_model": "robodyn.solvers.stewart.drawing:written_model",
    },
    example="stewart_dasgupta",
)
