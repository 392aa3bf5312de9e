# SPDX-License-Identifier: Apache-2.0

"""Which mechanism a URDF describes, where more than one kind could read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robodyn.formats.urdf_text import UrdfDocument

LEGS = 6


def is_platform(document: UrdfDocument) -> bool:
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
        for link in closure.links:
            leg: list[str] = []
            while link in above:
                leg, link = [above[link].type, *leg], above[link].parent
            legs.append([kind for kind in leg if kind != "fixed"])
    fitting = sum(
        len(leg) == 3 and "prismatic" not in leg[:2] and leg[2] == "prismatic" for leg in legs
    )
    return bool(fitting >= LEGS - 1)
