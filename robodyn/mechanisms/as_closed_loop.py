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

"""An arm or a platform as a tree with closures: other equations for the same machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robodyn.formats.urdf_text import parse_urdf
from robodyn.mechanisms.closed_loop.description.from_urdf import closed_loop_model_from_urdf
from robodyn.mechanisms.closed_loop.loop import ClosedLoop
from robodyn.mechanisms.closed_loop.model import ClosedLoopModel, Link, Placement, TreeJoint

if TYPE_CHECKING:
    from robodyn.mechanisms.serial.model import SerialModel
    from robodyn.mechanisms.stewart.model import StewartModel


def from_arm(arm: Any) -> ClosedLoop:
    """A serial arm, whose tree closes no loop."""
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
    driven = tuple(joint.name for joint in model.joints)
    home = () if model.home is None else zip(driven, model.home.tolist(), strict=True)
    return ClosedLoop(
        ClosedLoopModel(
            name=model.name,
            links=tuple(links),
            joints=tuple(joints),
            closures=(),
            driven=driven,
            tip_link=tip,
            home=tuple((name, (value,)) for name, value in home),
            gravity=model.gravity,
            source=model.source,
        )
    )


def from_platform(platform: Any) -> ClosedLoop:
    """A 6-UPS platform, by the URDF that is made of it."""
    from robodyn.mechanisms.stewart.description.urdf_export import stewart_urdf

    model: StewartModel = platform.model
    document = parse_urdf(stewart_urdf(model), model.source or model.name)
    return ClosedLoop(
        closed_loop_model_from_urdf(document, tip_link=model.platform_link, gravity=model.gravity)
    )
