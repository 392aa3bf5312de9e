# SPDX-License-Identifier: Apache-2.0

"""Presentation of mechanisms with closed loops: sticks and balls, outlines, tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.model.placement import Placement
from robodyn.poses import matrix_from_pose, pose_from_matrix, rotation_matrix
from robodyn.presentation import report_answers
from robodyn.presentation.figure import Figure, Shape, stick
from robodyn.solvers.tree.closing.assembly import displace_all
from robodyn.solvers.tree.joints import configurations, rates_of

CLOSURE_COLOR = (0.2, 0.4, 0.65)


def figure(loop: Any) -> Figure:
    """Return a drawing of the mechanism with sticks as links and balls as joints.

    Sticks lead from each link's origin to its joints and closures. The two balls of a closure
    coincide if the loop is closed.
    """
    model, size = loop.model, loop.size
    shapes: list[Shape] = []
    for joint in model.joints:
        shapes += stick(joint.parent, joint.at.translation, 0.02 * size)
        if joint.moves and joint.kind != "floating":
            shapes.append(_ball(joint.parent, joint.at, 0.035 * size, (0.85, 0.45, 0.1)))
    for closure in model.closures:
        for link, at, _ in closure.ends:
            shapes += stick(link, at.translation, 0.015 * size)
            shapes.append(_ball(link, at, 0.03 * size, CLOSURE_COLOR))
    return Figure(model.joints, shapes, model.base_link)


def outline(loop: Any, configuration: FloatArray) -> list[report_answers.OutlinePart]:
    """Return polylines [m] in the base frame that connect each link's joints and closures."""
    model = loop.model
    starts: dict[str, FloatArray] = {}
    ends: dict[str, list[FloatArray]] = {}
    for joint in model.joints:
        starts[joint.child] = joint.child_at.translation
        if joint.kind != "floating":
            ends.setdefault(joint.parent, []).append(joint.at.translation)
    for closure in model.closures:
        for link, at, _ in closure.ends:
            ends.setdefault(link, []).append(at.translation)
    parts = []
    for link, points in ends.items():
        moves = link in starts
        start = starts.get(link, np.zeros(3))
        # around a link with several joints, so that a platform is drawn as a plate
        around = [start, *points] if len(points) == 1 else [*points, points[0]]
        placed = _line_at(loop.link_pose(configuration, link), np.array(around))
        parts.append(report_answers.OutlinePart("links" if moves else "base", placed, moves))
        if moves and len(points) > 1:
            spoke = np.array([start, np.mean(points, axis=0)])
            placed = _line_at(loop.link_pose(configuration, link), spoke)
            parts.append(report_answers.OutlinePart("links", placed, moves))
    return parts


def parameter_tables(loop: Any) -> list[report_answers.ParameterTable]:
    """Return tables of the bodies, joints, closures and actuators, for reports."""
    model = loop.model
    driven = set(loop.joint_names)
    joints: dict[str, list[Any]] = {"Driven": [], "Passive": [], "Floating": []}
    for joint in model.joints:
        if joint.kind != "fixed":
            passive = "Floating" if joint.kind == "floating" else "Passive"
            joints["Driven" if joint.name in driven else passive].append(
                (joint.name, joint.kind, joint.parent, joint.child, np.asarray(joint.axis),
                 joint.damping, np.asarray(joint.position), joint.velocity, joint.effort)
            )  # fmt: skip
    closures = [
        (closure.name, closure.kind, closure.parent, closure.at.translation, closure.child,
         closure.child_at.translation, closure.damping)
        for closure in model.closures
    ]  # fmt: skip
    tables = [
        report_answers.body_table(loop.bodies, "in the frame of the link"),
        *(
            report_answers.ParameterTable(
                f"{title} joints",
                ("joint", "kind", "parent", "child", "axis", "damping [N m s, N s/m]",
                 "range [rad, m]", "speed [rad/s, m/s]", "effort [N m, N]"),
                rows,
                "axes in the frame of the joint",
            )
            for title, rows in joints.items() if rows
        ),
        report_answers.ParameterTable(
            "Closures",
            ("closure", "type", "parent", "origin [m]", "child", "origin [m]",
             "damping [N m s]"),
            closures,
            "origins in the frames of the links",
        ),
    ]  # fmt: skip
    return [*tables, *report_answers.actuator_tables(loop.joint_names, loop.actuators)]


def values_of(loop: Any, configuration: ArrayLike) -> FloatArray:
    """Return the positions (..., mobility) [rad or m] of the independent joints."""
    return np.asarray(
        configurations(loop, "configuration", configuration)[..., loop.solver.free_at]
    )


def configuration_of(loop: Any, values: ArrayLike) -> FloatArray:
    """Find configurations (..., nq) with given positions of the independent joints.

    The positions are (..., mobility); the search starts from home.

    Raises:
        NoSolution: the loops do not close with these positions.
    """
    target = rates_of(loop, "values", values)
    home = loop.home
    steps = (target - home[loop.solver.free_at]).reshape(-1, target.shape[-1])
    starts = np.array(np.broadcast_to(home, (len(steps), len(home))))
    return displace_all(loop, starts, steps).reshape(*target.shape[:-1], len(home))


def floating_poses(loop: Any, configuration: FloatArray) -> dict[tuple[str, str], FloatArray]:
    """Return the pose (7,) of each link on a floating joint, in its parent link's frame.

    The keys of the result are pairs of link names (parent, child).
    """
    found = {}
    for joint in loop.solver.tree.joints:
        if joint.kind == "floating":
            moved = matrix_from_pose(configuration[loop.solver.tree.place_of[joint.name]])
            seen = joint.at.matrix @ moved @ np.linalg.inv(joint.child_at.matrix)
            found[joint.parent, joint.child] = pose_from_matrix(seen)
    return found


def _ball(link: str, at: Placement, radius: float, color: tuple[float, float, float]) -> Shape:
    return Shape(link, "sphere", (radius,), at.matrix, color)


def _line_at(pose: FloatArray, points: FloatArray) -> FloatArray:
    """Transform points (k, 3) of a link at a pose (7,) to the base frame."""
    return np.asarray(pose[:3] + points @ rotation_matrix(pose).T)


def default_path(loop: Any) -> str:
    """Return the name of the mechanism's example path; empty for most mechanisms."""
    return {"delta": "pick_and_place", "fivebar": "star", "hexapod_rotary": "dance"}.get(
        loop.name, ""
    )
