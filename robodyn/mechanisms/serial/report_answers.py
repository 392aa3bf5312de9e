# SPDX-License-Identifier: Apache-2.0
"""What reports show of a serial arm: its parameters, and its outline in space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.transform import Rotation

from robodyn.actuators import Actuator
from robodyn.mechanisms.common.report_answers import (
    OutlinePart,
    ParameterTable,
    actuator_table,
)

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray


def outline(arm: Any, configuration: FloatArray) -> list[OutlinePart]:
    """The arm as a line from the base through the origins of its joints to the tip, at q (n,)."""
    model = arm.model
    origin, axes = np.zeros(3), np.eye(3)
    points = [origin]
    for joint, position in zip(model.joints, configuration, strict=True):
        origin = origin + axes @ joint.translation
        axes = axes @ joint.rotation
        if joint.kind == "prismatic":
            origin = origin + axes @ (position * joint.axis)
        else:
            axes = axes @ Rotation.from_rotvec(position * joint.axis).as_matrix()
        points.append(origin)
    points.append(origin + axes @ model.tip_translation)
    return [OutlinePart("arm", np.array(points))]


def parameter_tables(arm: Any) -> list[ParameterTable]:
    """The links with their joints, where these are at home, and actuators beyond that."""
    rows = [
        (joint.name, joint.kind, joint.mass, joint.com, joint.inertia, joint.armature,
         joint.damping, np.asarray(joint.friction), np.asarray(joint.position), joint.velocity,
         joint.effort)
        for joint in arm.model.joints
    ]  # fmt: skip
    head = ("joint", "kind", "mass [kg]", "centre of mass [m]", "inertia about it [kg m²]",
            "armature [kg m², kg]", "damping [N m s, N s/m]", "friction +/− [N m, N]",
            "range [rad, m]", "speed [rad/s, m/s]", "effort [N m, N]")  # fmt: skip
    tables = [
        ParameterTable(
            "Links",
            head,
            rows,
            "centre of mass and inertia in the frame of the joint that moves the link; armature "
            "is the motor's inertia as the joint feels it",
        ),
        ParameterTable(
            "Joints at home",
            ("joint", "position [rad, m]", "origin [m]", "axis"),
            _at_home(arm),
            "origins and axes in the base frame; positions turn and slide along the axis",
        ),
    ]
    if any(joint.drive != Actuator() for joint in arm.model.joints):
        tables.append(actuator_table(arm.joint_names, arm.actuators))
    return tables


def _at_home(arm: Any) -> list[tuple[str, float, FloatArray, FloatArray]]:
    """Name and position of each joint, its origin and its axis in the base frame."""
    rows = []
    origin, axes = np.zeros(3), np.eye(3)
    for joint, position in zip(arm.model.joints, arm.home, strict=True):
        origin, axes = origin + axes @ joint.translation, axes @ joint.rotation
        rows.append((joint.name, float(position), origin, axes @ joint.axis))
        if joint.kind == "prismatic":
            origin = origin + axes @ (position * joint.axis)
        else:
            axes = axes @ Rotation.from_rotvec(position * joint.axis).as_matrix()
    return rows
