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

"""From a model to its figure: from the URDF it came from, or one made of its kinematics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.mechanisms.load import models
from robodyn.mechanisms.robot_description import source_urdf
from robodyn.mechanisms.stewart.description.urdf_export import stewart_urdf
from robodyn.view.figure import DrawnJoint, Figure, Shape, stick
from robodyn.view.figure_urdf import figure_from_urdf

if TYPE_CHECKING:
    from pathlib import Path

    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.mechanisms.serial.model import SerialModel


def figure_of(source: str | Path, mechanism: Mechanism) -> Figure:
    """The figure of a mechanism that was loaded from `source`.

    A URDF or xacro is drawn as its visuals say; a bundled or YAML platform by the URDF that
    `stewart_urdf` makes of it; a bundled arm by its xacro, where that and the package xacro are
    there; any other arm, and a URDF without visuals, by sticks from joint to joint.

    Raises:
        ModelError: visuals that cannot be taken, in one line.
    """
    model: Any = getattr(mechanism, "model", None)
    text, name = "", f"URDF of {mechanism.name}"
    if mechanism.kind != "stewart" or str(source) not in models():
        text = source_urdf(source)
    if not text and mechanism.kind == "stewart":
        text = stewart_urdf(model)
    figure = figure_from_urdf(text, name) if text else stick_figure(model)
    if not figure.shapes:
        remark = f"{name}: no visuals to draw, only sticks from joint to joint"
        remarks = (*figure.remarks, remark)
        bare = Figure(figure.joints, (), figure.links[0], remarks)
        figure = bare.with_sticks(size_of(mechanism))
    return figure


def size_of(mechanism: Mechanism) -> float:
    """A length [m] that tells how large a mechanism is: a leg at home, or half an arm's reach."""
    if mechanism.kind == "stewart":
        return max(float(mechanism.joint_positions(mechanism.home).mean()), 1e-3)
    model: Any = mechanism
    reach = sum(float(np.linalg.norm(joint.translation)) for joint in model.model.joints)
    reach += float(np.linalg.norm(model.model.tip_translation))
    return max(0.5 * reach, 1e-2)


def stick_figure(model: SerialModel) -> Figure:
    """An arm as its kinematics know it: every link a stick to the next joint."""
    joints, parent = [], model.base_link
    shapes: list[Shape] = []
    reach = sum(float(np.linalg.norm(joint.translation)) for joint in model.joints)
    size = max(0.5 * reach, 1e-2)
    for number, joint in enumerate(model.joints, start=1):
        place = np.eye(4)
        place[:3, :3], place[:3, 3] = joint.rotation, joint.translation
        child = joint.link or f"link{number}"
        travel = float(joint.position[1]) if np.isfinite(joint.position[1]) else size
        joints.append(
            DrawnJoint(joint.name, joint.kind, parent, child, place, joint.axis, travel=travel)
        )
        parent = child
    tip = np.eye(4)
    tip[:3, :3], tip[:3, 3] = model.tip_rotation, model.tip_translation
    joints.append(DrawnJoint("tip", "fixed", parent, model.tip_link, tip))
    shapes += stick(parent, tip[:3, 3], 0.02 * size)
    shapes.append(Shape(model.tip_link, "sphere", (0.03 * size,), np.eye(4), (0.2, 0.4, 0.65)))
    return Figure(joints, shapes, model.base_link).with_sticks(size)
