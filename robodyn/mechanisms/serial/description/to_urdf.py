# SPDX-License-Identifier: Apache-2.0

"""An arm as URDF, without pictures."""

from __future__ import annotations

from typing import Any

from robodyn.formats.urdf_shapes import element, inertial
from robodyn.mechanisms.common import urdf_writer as write


def serial_urdf(arm: Any) -> str:
    """URDF text of an arm; loading it gives an equal one.

    Raises:
        OutputError: limits that a URDF cannot state.
    """
    model, figure = arm.model, arm.figure()
    robot = element(None, "robot", name=model.name)
    for name in figure.links:
        element(robot, "link", name=name)
    links = {link.get("name"): link for link in robot}
    for joint, drawn, home in zip(model.joints, figure.joints, model.home, strict=False):
        inertial(links[drawn.child], joint)
        moved = write.write_joint(robot, drawn.name, drawn.kind, drawn.parent, drawn.child)
        write.write_place(moved, joint.rotation, joint.translation)
        write.write_motion(moved, joint, [home])
    if len(figure.joints) > len(model.joints):
        tip = figure.joints[-1]
        fixed = write.write_joint(robot, "tip_joint", "fixed", tip.parent, tip.child)
        write.write_place(fixed, model.tip_rotation, model.tip_translation)
    write.write_actuators(robot, {j.name: write.params_of_joint(j) for j in model.joints})
    write.write_settings(
        robot,
        type=arm.kind,
        gravity=model.gravity,
        base_link=figure.links[0],
        tip_link=figure.joints[-1].child,
    )
    return write.text_of(robot)
