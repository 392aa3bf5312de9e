# SPDX-License-Identifier: Apache-2.0

"""How a mechanism with closed loops is drawn from its model alone: as sticks and balls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.mechanisms.common.figure import DrawnJoint, Figure, Shape, stick

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.closed_loop.model import ClosedLoopModel, Placement, TreeJoint

CLOSURE_COLOR = (0.2, 0.4, 0.65)


def stick_figure(model: ClosedLoopModel, size: float) -> Figure:
    """Sticks to the joints and closures of every link, and a ball where a closure holds it.

    The two balls of a closure are in the same place when the loop is closed.
    """
    joints: list[DrawnJoint] = []
    for joint in model.joints:
        joints += _drawn(joint, size)
    shapes: list[Shape] = []
    for joint in model.joints:
        shapes += stick(joint.parent, joint.at.translation, 0.02 * size)
        if joint.moves and joint.kind != "floating":
            shapes.append(_ball(joint.parent, joint.at, 0.035 * size, (0.85, 0.45, 0.1)))
    for closure in model.closures:
        for link, at in ((closure.parent, closure.at), (closure.child, closure.child_at)):
            shapes += stick(link, at.translation, 0.015 * size)
            shapes.append(_ball(link, at, 0.03 * size, CLOSURE_COLOR))
    return Figure(joints, shapes, model.base_link)


def _drawn(joint: TreeJoint, size: float) -> list[DrawnJoint]:
    """A joint; one that does not sit at its child's origin has a fixed one behind it."""
    mimic = None
    if joint.mimic is not None:
        mimic = joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset
    behind: FloatArray = np.asarray(np.linalg.inv(joint.child_at.matrix), dtype=np.float64)
    turned = np.abs(behind - np.eye(4)).max() > 1e-12 and joint.kind != "floating"
    child = f"{joint.child}/joint" if turned else joint.child
    reach = float(joint.position[1])
    own = DrawnJoint(
        joint.name,
        joint.kind,
        joint.parent,
        child,
        joint.at.matrix,
        joint.axis,
        mimic,
        reach if np.isfinite(reach) else size,
    )
    if not turned:
        return [own]
    return [own, DrawnJoint(f"{joint.name}/child", "fixed", child, joint.child, behind)]


def _ball(link: str, at: Placement, radius: float, color: tuple[float, float, float]) -> Shape:
    return Shape(link, "sphere", (radius,), at.matrix, color)
