# SPDX-License-Identifier: Apache-2.0
"""How a serial arm is drawn from its model: as sticks from joint to joint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.mechanisms.common.figure import DrawnJoint, Figure, Shape, stick

if TYPE_CHECKING:
    from robodyn.mechanisms.serial.model import SerialModel

TIP_COLOR = (0.2, 0.4, 0.65)


def stick_figure(model: SerialModel) -> Figure:
    """A stick figure from the kinematics: every link a stick to the next joint."""
    parent = model.base_link
    joints: list[DrawnJoint] = []
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
    shapes = stick(parent, tip[:3, 3], 0.02 * size)
    shapes.append(Shape(model.tip_link, "sphere", (0.03 * size,), np.eye(4), TIP_COLOR))
    return Figure(joints, shapes, model.base_link).with_sticks(size)
