# SPDX-License-Identifier: Apache-2.0

"""Straight legs of a mechanism with closed loops, whose end joints may have cones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.solvers.tree.closing.equations import Equations
from robodyn.solvers.tree.kernels import layout
from robodyn.solvers.tree.tree import Tree

# Distance of axes, relative to the mechanism's size, below which they intersect.
MEETING = 1e-6
BALLS = ("spherical", "universal")


class Rod(NamedTuple):
    """Leg between a joint at its foot and a ball or universal joint on the moving body.

    Attributes:
        name: name of the closure at the moving body; of a center leg that of its last joint.
        base: link that carries it.
        body: link that it supports.
        foot: (3,) [m] center of the joint at the foot, frame of `base`.
        tip: (3,) [m] center of the joint at the tip, frame of `body`.
    """

    name: str
    base: str
    body: str
    foot: FloatArray
    tip: FloatArray


def find_rods(equations: Equations, home: FloatArray) -> tuple[Rod, ...]:
    """Return the legs that ball or universal joints connect to the body of the tip.

    From each of these closures, the search proceeds towards the base, past prismatic joints, to the
    first revolute joint. Further revolute joints about axes through the same point belong to it.

    Args:
        equations: equations of the mechanism.
        home: (positions,) closed configuration.

    Returns:
        The legs.
    """
    tree, model = equations.tree, equations.tree.model
    B = equations.bodies_at(home)
    moving = tree.body_of[model.tip_link]
    rods = []
    for closure in model.closures:
        ends = [(closure.parent, closure.at), (closure.child, closure.child_at)]
        on_body = [tree.body_of[link] == moving for link, _ in ends]
        if closure.kind not in BALLS or on_body.count(True) != 1:
            continue
        (body, place), (leg, _) = ends if on_body[0] else ends[::-1]
        found = _foot(tree, B, tree.body_of[leg], MEETING * equations.size)
        if found is not None:
            below, point = found
            base = _link_of(tree, below)
            frame = tree.frame_at(B, base)
            foot = frame[:3, :3].T @ (point - frame[:3, 3])
            rods.append(Rod(closure.name, base, body, foot, np.array(place.translation)))
    return tuple(rods)


def find_center_leg(equations: Equations, home: FloatArray) -> tuple[Rod, ...]:
    """Return the leg whose last joint carries the tip's body, or an empty tuple.

    Its joints are at most three revolute ones through a point, a prismatic one, and again at most
    three revolute ones; at least one of these groups has two. Without a prismatic joint, the leg is
    along the common normal of its first two axes.

    Args:
        equations: equations of the mechanism.
        home: (positions,) closed configuration.
    """
    tree = equations.tree
    B, chain = equations.bodies_at(home), [tree.body_of[tree.model.tip_link]]
    while tree.bodies[chain[0]].parent:
        chain.insert(0, tree.bodies[chain[0]].parent)
    kinds = [tree.bodies[body].kind for body in chain]
    slides = [k for k, kind in enumerate(kinds) if kind == layout.PRISMATIC]
    if len(slides) > 1 or layout.FLOATING in kinds or not tree.model.closures:
        return ()
    cut = slides[0] if slides else len(chain)
    groups = [[_line(B, body) for body in part] for part in (chain[:cut], chain[cut + 1 :])]
    near = MEETING * equations.size
    centers = [_joint_center(lines, near) for lines in groups]
    lost = any(lines and at is None for lines, at in zip(groups, centers, strict=True))
    if lost or not 2 <= max(len(lines) for lines in groups) <= 3:
        return ()
    along = _line(B, chain[cut])[1] if slides else np.cross(groups[0][0][1], groups[0][1][1])
    along = equations.size * along / np.linalg.norm(along)
    foot, tip = centers
    if foot is None:
        foot = tip - along
    points = [foot, foot + along if tip is None else tip]
    base, body = _link_of(tree, tree.bodies[chain[0]].parent), _link_of(tree, chain[-1])
    frames = tree.frame_at(B, base), tree.frame_at(B, body)
    foot, tip = (F[:3, :3].T @ (at - F[:3, 3]) for F, at in zip(frames, points, strict=True))
    joint = tree.bodies[chain[-1]].joint
    return (Rod("" if joint is None else joint.name, base, body, foot, tip),)


def _joint_center(lines: list[tuple[FloatArray, FloatArray]], near: float) -> FloatArray | None:
    """Return the point (3,) where all given axes intersect; None if they do not.

    `lines` are the joint axes, each as a point and a direction. For a single axis, the result is a
    point on the axis.
    """
    if len(lines) < 2:
        return lines[0][0] if lines else None
    met = _meeting(lines)
    return None if met is None or max(_distance(met, line) for line in lines) > near else met


def _foot(tree: Tree, B: FloatArray, body: int, near: float) -> tuple[int, FloatArray] | None:
    """Return the body that carries a leg, and the center (3,) of the leg's foot joint.

    The center is in the base frame. The result is None if the leg has no foot joint.
    """
    while body and tree.bodies[body].kind == layout.PRISMATIC:
        body = tree.bodies[body].parent
    if not body or tree.bodies[body].kind == layout.FLOATING:
        return None
    center, axes = _line(B, body)[0], [_line(B, body)]
    while True:
        body = tree.bodies[body].parent
        if not body or tree.bodies[body].kind in (layout.PRISMATIC, layout.FLOATING):
            return body, center
        axes.append(_line(B, body))
        met = _joint_center(axes, near)
        if met is None:
            return body, center
        center = met


def _line(B: FloatArray, body: int) -> tuple[FloatArray, FloatArray]:
    """Return a point (3,) on a body's joint axis and its direction, in the base frame."""
    return B[body, layout.ORIGIN : layout.ORIGIN + 3], B[body, layout.Z : layout.Z + 3]


def _meeting(lines: list[tuple[FloatArray, FloatArray]]) -> FloatArray | None:
    """Return the point (3,) nearest to several lines; None if they are parallel."""
    across = [np.eye(3) - np.outer(z, z) for _, z in lines]
    normal = np.sum(across, axis=0)
    if np.linalg.cond(normal) > 1.0 / MEETING:
        return None
    sides = [P @ point for P, (point, _) in zip(across, lines, strict=True)]
    return np.asarray(np.linalg.solve(normal, np.sum(sides, axis=0)))


def _distance(point: FloatArray, line: tuple[FloatArray, FloatArray]) -> float:
    away = point - line[0]
    return float(np.linalg.norm(away - line[1] * (line[1] @ away)))


def _link_of(tree: Tree, body: int) -> str:
    """Return the name of the first link of a body."""
    return next(link for link, number in tree.body_of.items() if number == body)
