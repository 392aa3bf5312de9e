# SPDX-License-Identifier: Apache-2.0

"""Presentation of an arm: stick figure, outline, tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.actuators.actuator import IDEAL
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.poses import matrix_from_pose
from robodyn.presentation.figure import Figure, Shape, stick
from robodyn.presentation.report_answers import OutlinePart, ParameterTable, actuator_tables

TIP_COLOR = (0.2, 0.4, 0.65)


def figure(arm: Any) -> Figure:
    """Return a stick figure of the arm for drawing, with a stick from joint to joint."""
    model = arm.model
    reach = sum(float(np.linalg.norm(joint.at.translation)) for joint in arm.chain.joints)
    size = max(0.5 * reach, 1e-2)
    shapes = stick(arm.chain.links[-1].name, arm.chain.tip.translation, 0.02 * size)
    shapes.append(Shape(model.tip_link, "sphere", (0.03 * size,), np.eye(4), TIP_COLOR))
    return Figure(model.joints, shapes, model.base_link).with_sticks(size)


def outline(arm: Any, configuration: FloatArray) -> list[OutlinePart]:
    """Return line segments [m] from the base through the joints to the tip, at q (n,)."""
    places = _frames(arm, configuration)[:, :3, 3]
    return [OutlinePart("arm", np.vstack([np.zeros(3), places]))]


def parameter_tables(arm: Any) -> list[ParameterTable]:
    """Return tables of the arm's links and joints, its home and its actuators."""
    rows = [
        (joint.name, joint.kind, link.mass, link.com, link.inertia, joint.armature,
         joint.damping, np.asarray(joint.friction), np.asarray(joint.position), joint.velocity,
         joint.effort)
        for joint, link in zip(arm.chain.joints, arm.chain.links, strict=True)
    ]  # fmt: skip
    head = ("joint", "kind", "mass [kg]", "center of mass [m]", "inertia about it [kg m²]",
            "armature [kg m², kg]", "damping [N m s, N s/m]", "friction +/− [N m, N]",
            "range [rad, m]", "speed [rad/s, m/s]", "effort [N m, N]")  # fmt: skip
    at_home = []
    for joint, position, frame in zip(
        arm.chain.joints, arm.home, _frames(arm, arm.home), strict=False
    ):
        axis = frame[:3, :3] @ joint.axis
        slid = position if joint.kind == "prismatic" else 0.0
        at_home.append((joint.name, float(position), frame[:3, 3] - slid * axis, axis))
    tables = [
        ParameterTable(
            "Links",
            head,
            rows,
            "center of mass and inertia in the frame of the joint that moves the link; "
            "armature: the rotor's inertia reflected to the joint",
        ),
        ParameterTable(
            "Joints at home",
            ("joint", "position [rad, m]", "origin [m]", "axis"),
            at_home,
            "origins and axes in the base frame; positions are angles about the axis or "
            "displacements along it",
        ),
    ]
    stated = any(joint.drive != IDEAL for joint in arm.chain.joints)
    return [*tables, *(actuator_tables(arm.joint_names, arm.actuators) if stated else ())]


def _frames(arm: Any, configuration: ArrayLike) -> FloatArray:
    """Compute the poses (..., n + 1, 4, 4) of all links and the tip in the base frame."""
    links = (*(link.name for link in arm.chain.links), arm.model.tip_link)
    poses = [arm.link_pose(configuration, link) for link in links]
    return matrix_from_pose(np.stack(poses, axis=-2))


def default_path(arm: Any) -> str:
    """Return the name of the arm's example path; empty unless it is the PUMA 560."""
    return "puma" if arm.name == "puma560" else ""
