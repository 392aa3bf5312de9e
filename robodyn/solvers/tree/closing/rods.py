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
        name: name of the closure at the moving body.
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
    """Return the legs that balls or universal joints connect to the body of the tip.

    From such a closure the search goes towards the base, past prismatic joints, to the first
    revolute joint; further revolute joints about axes through the same point belong to it.

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


def _foot(tree: Tree, B: FloatArray, body: int, near: float) -> tuple[int, FloatArray] | None:
    """Return the body that carries a leg, and the center (3,) of the joint there, base frame."""
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
        met = _meeting(axes)
        if met is None or max(_distance(met, line) for line in axes) > near:
            return body, center
        center = met


def _line(B: FloatArray, body: int) -> tuple[FloatArray, FloatArray]:
    """Return a point (3,) and the direction (3,) of a body's joint axis, base frame."""
    return B[body, layout.ORIGIN : layout.ORIGIN + 3], B[body, layout.Z : layout.Z + 3]


def _meeting(lines: list[tuple[FloatArray, FloatArray]]) -> FloatArray | None:
    """Return the point nearest to lines; None if they are parallel."""
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
    """Return the first link of a body."""
    return next(link for link, number in tree.body_of.items() if number == body)
