# SPDX-License-Identifier: Apache-2.0

"""How an arm is shown: as a stick figure, as a line in reports, in tables of its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from robodyn.actuators import Actuator
from robodyn.mechanisms.common.figure import DrawnJoint, Figure, Shape, stick
from robodyn.mechanisms.common.report_answers import OutlinePart, ParameterTable, actuator_table
from robodyn.mechanisms.mechanism import Mechanism

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.serial.model import SerialModel

TIP_COLOR = (0.2, 0.4, 0.65)


class SerialPresentation(Mechanism):
    """The part of `SerialArm` that shows it."""

    model: SerialModel

    def figure(self) -> Figure:
        """The arm as a stick figure: every link a stick to the next joint."""
        model = self.model
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
        shapes = stick(parent, tip[:3, 3], 0.02 * size)
        end = model.tip_link
        if end != parent or not np.array_equal(tip, np.eye(4)):
            taken = {model.base_link, *(joint.child for joint in joints)}
            end = end if end not in taken else "tip"
            joints.append(DrawnJoint("tip", "fixed", parent, end, tip))
        shapes.append(Shape(end, "sphere", (0.03 * size,), np.eye(4), TIP_COLOR))
        return Figure(joints, shapes, model.base_link).with_sticks(size)

    def outline(self, configuration: FloatArray) -> list[OutlinePart]:
        """The arm as a line from the base by the origins of its joints to the tip, at q (n,)."""
        return [OutlinePart("arm", self._line(configuration)[1])]

    def parameter_tables(self) -> list[ParameterTable]:
        """The links with their joints, where these are at home, and actuators beyond that."""
        rows = [
            (joint.name, joint.kind, joint.mass, joint.com, joint.inertia, joint.armature,
             joint.damping, np.asarray(joint.friction), np.asarray(joint.position), joint.velocity,
             joint.effort)
            for joint in self.model.joints
        ]  # fmt: skip
        head = ("joint", "kind", "mass [kg]", "centre of mass [m]", "inertia about it [kg m²]",
                "armature [kg m², kg]", "damping [N m s, N s/m]", "friction +/− [N m, N]",
                "range [rad, m]", "speed [rad/s, m/s]", "effort [N m, N]")  # fmt: skip
        home = zip(self.joint_names, self.home, self._line(self.home)[0], strict=True)
        tables = [
            ParameterTable(
                "Links",
                head,
                rows,
                "centre of mass and inertia in the frame of the joint that moves the link; "
                "armature is the motor's inertia as the joint feels it",
            ),
            ParameterTable(
                "Joints at home",
                ("joint", "position [rad, m]", "origin [m]", "axis"),
                [(name, float(position), *place) for name, position, place in home],
                "origins and axes in the base frame; positions turn and slide along the axis",
            ),
        ]
        if any(joint.drive != Actuator() for joint in self.model.joints):
            tables.append(actuator_table(self.joint_names, self.actuators))
        return tables

    def _line(self, q: FloatArray) -> tuple[list[tuple[FloatArray, FloatArray]], FloatArray]:
        """Origin and axis of each joint, and points (n + 2, 3) from base to tip; base frame."""
        origin, axes = np.zeros(3), np.eye(3)
        joints, points = [], [origin]
        for joint, position in zip(self.model.joints, q, strict=True):
            origin, axes = origin + axes @ joint.translation, axes @ joint.rotation
            joints.append((origin, axes @ joint.axis))
            if joint.kind == "prismatic":
                origin = origin + axes @ (position * joint.axis)
            else:
                axes = axes @ Rotation.from_rotvec(position * joint.axis).as_matrix()
            points.append(origin)
        points.append(origin + axes @ self.model.tip_translation)
        return joints, np.array(points)
