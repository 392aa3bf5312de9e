# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Which mechanism a URDF describes, where more than one kind could read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.formats.urdf_tree import UrdfTree

if TYPE_CHECKING:
    from robodyn.formats.urdf_text import UrdfDocument

LEGS = 6


def is_platform(document: UrdfDocument) -> bool:
    """Whether a URDF describes a 6-UPS platform, or was meant to.

    One floating body on six prismatic legs; of its closures all but one at most end at a leg of
    two revolute joints and a prismatic one, so that a mistake in one leg is told as such. Without
    closures, a floating body and several prismatic joints.
    """
    types = [joint.type for joint in document.robot.joints]
    if not document.closures:
        return "floating" in types and types.count("prismatic") > 1
    if types.count("floating") != 1 or types.count("prismatic") < LEGS - 1:
        return False
    tree = UrdfTree(document)
    legs = [
        [joint.type for joint in tree.moving_joints_above(link)]
        for closure in document.closures
        for link in closure.links
    ]
    fitting = sum(
        len(leg) == 3 and "prismatic" not in leg[:2] and leg[2] == "prismatic" for leg in legs
    )
    return bool(fitting >= LEGS - 1)
