# SPDX-License-Identifier: Apache-2.0

"""How an arm is shown: as a stick figure, as a line in reports, in tables of its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from robodyn.actuators import Actuator
from robodyn.mechanisms.common.figure import Figure, Shape, drawn_joint, stick
from robodyn.mechanisms.common.report_answers import OutlinePart, ParameterTable, actuator_table
from robodyn.mechanisms.mechanism import Mechanism

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.serial.chain import Chain
    from robodyn.model.model import Model

TIP_COLOR = (0.2, 0.4, 0.65)


class SerialPresentation(Mechanism):
    """The part of `SerialArm` that shows it."""

    model: Model
    chain: Chain

    def figure(self) -> Figure:
        """The arm as a stick figure: every link a stick to the next joint."""
        model = self.model
        reach = sum(float(np.linalg.norm(joint.at.translation)) for joint in self.chain.joints)
        size = max(0.5 * reach, 1e-2)
        joints = [drawn for joint in model.joints for drawn in drawn_joint(joint, size)]
        shapes = stick(self.chain.links[-1].name, self.chain.tip.translation, 0.02 * size)
        shapes.append(Shape(model.tip_link, "sphere", (0.03 * size,), np.eye(4), TIP_COLOR))
        return Figure(joints, shapes, model.base_link).with_sticks(size)

    def outline(self, configuration: FloatArray) -> list[OutlinePart]:
        """The arm as a line from the base by the origins of its joints to the tip, at q (n,)."""
        return [OutlinePart("arm", self._line(configuration)[1])]

    def parameter_tables(self) -> list[ParameterTable]:
        """The links with their joints, where these are at home, and actuators beyond that."""
        rows = [
            (joint.name, joint.kind, link.mass, link.com, link.inertia, joint.armature,
             joint.damping, np.asarray(joint.friction), np.asarray(joint.position), joint.velocity,
             joint.effort)
            for joint, link in zip(self.chain.joints, self.chain.links, strict=True)
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
        if any(joint.drive != Actuator() for joint in self.chain.joints):
            tables.append(actuator_table(self.joint_names, self.actuators))
        return tables

    def _line(self, q: FloatArray) -> tuple[list[tuple[FloatArray, FloatArray]], FloatArray]:
        """Origin and axis of each joint, and points (n + 2, 3) from base to tip; base frame."""
        origin, axes = np.zeros(3), np.eye(3)
        joints, points = [], [origin]
        for joint, position in zip(self.chain.joints, q, strict=True):
            origin, axes = origin + axes @ joint.at.translation, axes @ joint.at.rotation
            joints.append((origin, axes @ joint.axis))
            if joint.kind == "prismatic":
                origin = origin + axes @ (position * joint.axis)
            else:
                axes = axes @ Rotation.from_rotvec(position * joint.axis).as_matrix()
            points.append(origin)
        points.append(origin + axes @ self.chain.tip.translation)
        return joints, np.array(points)
