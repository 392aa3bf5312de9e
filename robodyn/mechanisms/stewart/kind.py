# SPDX-License-Identifier: Apache-2.0

"""Stewart platforms in the registry: how their descriptions are recognised, read and written."""

from __future__ import annotations

from typing import Any

from robodyn.formats.urdf_text import UrdfDocument
from robodyn.mechanisms.kind import Kind, ReadOptions
from robodyn.mechanisms.mechanism import Mechanism


def _from_yaml(document: dict[str, Any], source: str, options: ReadOptions) -> Mechanism:
    from robodyn.mechanisms.stewart.description.from_yaml import stewart_model_from_yaml
    from robodyn.mechanisms.stewart.platform import StewartPlatform

    return StewartPlatform(stewart_model_from_yaml(document, source, options.strict))


def _from_urdf(document: UrdfDocument, options: ReadOptions) -> Mechanism:
    from robodyn.mechanisms.stewart.description.from_urdf import stewart_model_from_urdf
    from robodyn.mechanisms.stewart.platform import StewartPlatform

    return StewartPlatform(stewart_model_from_urdf(document, options.strict))


def _to_urdf(platform: Any) -> str:
    from robodyn.mechanisms.stewart.drawing import stewart_urdf

    return stewart_urdf(platform.six_legs, platform.model)


LEGS = 6


def _is_platform(document: UrdfDocument) -> bool:
    """Whether a URDF describes a 6-UPS platform, or was meant to.

    One floating body on six prismatic legs; of its closures all but one at most end at a leg of
    two revolute joints and a prismatic one, so that a mistake in one leg is told as such. Without
    closures, a floating body that carries no joint, and several prismatic joints.
    """
    types = [joint.type for joint in document.robot.joints]
    if not document.closures:
        carrying = {joint.parent for joint in document.robot.joints if joint.type != "fixed"}
        loose = [joint.child for joint in document.robot.joints if joint.type == "floating"]
        return types.count("prismatic") >= LEGS - 1 and any(link not in carrying for link in loose)
    if types.count("floating") != 1 or types.count("prismatic") < LEGS - 1:
        return False
    above = {joint.child: joint for joint in document.robot.joints}
    legs = []
    for closure in document.closures:
        for end in closure.iterfind("*[@link]"):
            leg: list[str] = []
            link = end.attrib["link"]
            while link in above:
                leg, link = [above[link].type, *leg], above[link].parent
            legs.append([kind for kind in leg if kind != "fixed"])
    fitting = sum(
        len(leg) == 3 and "prismatic" not in leg[:2] and leg[2] == "prismatic" for leg in legs
    )
    return bool(fitting >= LEGS - 1)


STEWART = Kind(
    "stewart",
    from_yaml=_from_yaml,
    recognises_urdf=_is_platform,
    from_urdf=_from_urdf,
    to_urdf=_to_urdf,
    adapters={
        "export": "robodyn.exporting.stewart:answers",
        "model_file": "robodyn.mechanisms.stewart.description.to_yaml:write_stewart",
        "template": "robodyn.mechanisms.stewart.description.template:TEMPLATE",
        "as_closed_loop": "robodyn.mechanisms.as_closed_loop:from_tree",
    },
    example="stewart_dasgupta",
)
