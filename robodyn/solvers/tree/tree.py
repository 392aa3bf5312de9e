# SPDX-License-Identifier: Apache-2.0

"""Tree of a model, with rigidly attached links combined into bodies."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace

import numpy as np

from robodyn.arrays import FloatArray, cross
from robodyn.dynamics.body_parameters import parallel_axis_inertia
from robodyn.dynamics.coordinates import Unit
from robodyn.dynamics.link_tree import frame_along
from robodyn.model.body import Link
from robodyn.model.closure import Closure
from robodyn.model.joint import Joint
from robodyn.model.model import Model
from robodyn.solvers.tree.kernels import layout

KIND_NUMBERS = {
    "revolute": layout.REVOLUTE,
    "continuous": layout.REVOLUTE,
    "prismatic": layout.PRISMATIC,
    "floating": layout.FLOATING,
}
FLOATING_PARTS: tuple[tuple[str, Unit], ...] = (
    *(("x", "m"), ("y", "m"), ("z", "m")),
    *(("rx", "rad"), ("ry", "rad"), ("rz", "rad")),
)


@dataclass
class TreeBody:
    """Rigid body of a tree: the links that move with a joint; body 0 is the base.

    Attributes:
        joint: the joint, None for the base.
        parent: index of the body that carries the joint.
        frame: (4, 4) frame of the joint on that body at position 0, z along its axis.
        position, rate: indices of the joint's coordinates, or of the followed joint's for a mimic.
        own: index of the joint's own position in a configuration.
        factor, offset: factor and offset of a mimic joint.
        links: names of the links of the body.
        mass, com, inertia: mass properties of all links together, in the body's frame.
    """

    joint: Joint | None
    parent: int
    frame: FloatArray
    position: int
    rate: int
    own: int
    factor: float
    offset: float
    links: list[str]
    mass: float = 0.0
    com: FloatArray = field(default_factory=lambda: np.zeros(3))
    inertia: FloatArray = field(default_factory=lambda: np.zeros((3, 3)))

    @property
    def kind(self) -> int:
        """Type of the joint, as a constant of `kernels.layout`."""
        return KIND_NUMBERS[self.joint.kind] if self.joint else layout.FLOATING

    @property
    def width(self) -> int:
        """Number of tree coordinates of the joint."""
        return 6 if self.joint and self.joint.kind == "floating" else 1


class Tree:
    """Bodies, coordinates and frames of a model's tree.

    A configuration (positions,) contains the position of every movable joint in the order of the
    model, and the pose of a floating joint. Rates (rates,) omit mimic joints; a floating joint has
    a twist.

    Attributes:
        model: model of the tree.
        joints: movable joints in the model's order.
        bodies: the base, then one for each movable joint, parents first.
        body_of: link -> index of its body.
        frame_of: link -> (4, 4) its frame in its body's frame.
        position_of: joint -> start of its position in a configuration.
        place_of: joint -> its slice in a configuration.
        rate_of: joint -> start of its rate; a mimic joint has that of the joint it follows.
        positions, rates: lengths of a configuration and of its rates.
        rate_names: name of each tree coordinate, `joint.x` and so on for those of a floating one.
        rate_units: `m` or `rad` of each.
        rate_places: index of each in a configuration; approximate for a floating joint.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.joints = tuple(joint for joint in model.joints if joint.moves)
        self.position_of: dict[str, int] = {}
        self.place_of: dict[str, slice] = {}
        self.rate_of: dict[str, int] = {}
        self.rate_names: list[str] = []
        self.rate_units: list[Unit] = []
        self.rate_places: list[int] = []
        self.positions = 0
        for joint in self.joints:
            width = 7 if joint.kind == "floating" else 1
            self.position_of[joint.name] = self.positions
            self.place_of[joint.name] = slice(self.positions, self.positions + width)
            self.positions += width
            if joint.mimic is None:
                self.rate_of[joint.name] = len(self.rate_names)
                unit: Unit = "m" if joint.kind == "prismatic" else "rad"
                parts = [(joint.name, unit)]
                if joint.kind == "floating":
                    parts = [(f"{joint.name}.{part}", unit) for part, unit in FLOATING_PARTS]
                first = self.position_of[joint.name]
                self.rate_places += range(first, first + len(parts))
                self.rate_names += [name for name, _ in parts]
                self.rate_units += [unit for _, unit in parts]
        for joint in self.joints:
            if joint.mimic is not None:
                self.rate_of[joint.name] = self.rate_of[joint.mimic.joint]
        self.rates = len(self.rate_names)
        base = model.base_link
        self.bodies = [TreeBody(None, 0, np.eye(4), 0, 0, 0, 1.0, 0.0, [base])]
        self.body_of = {base: 0}
        self.frame_of = {base: np.eye(4)}
        waiting = list(model.joints)
        while waiting:
            for joint in waiting:
                if joint.parent in self.body_of:
                    self._add_body(joint)
            waiting = [joint for joint in waiting if joint.child not in self.body_of]
        links = {link.name: link for link in model.links}
        for body in self.bodies:
            self.set_inertia(body, links)

    def carried_by(self, model: Model) -> Tree:
        """Return the tree of another model with the same topology; equal bodies are reused."""
        out = copy(self)
        out.model, out.joints = model, tuple(joint for joint in model.joints if joint.moves)
        before = {link.name: link for link in self.model.links}
        links = {link.name: link for link in model.links}
        joints = {joint.name: joint for joint in out.joints}
        out.bodies = []
        for body in self.bodies:
            joint = joints[body.joint.name] if body.joint else None
            other = any(links[name] is not before[name] for name in body.links)
            own = replace(body, joint=joint) if other or joint is not body.joint else body
            if other:
                self.set_inertia(own, links)
            out.bodies.append(own)
        return out

    def _add_body(self, joint: Joint) -> None:
        parent = self.body_of[joint.parent]
        at = self.frame_of[joint.parent] @ joint.at.matrix
        from_link = np.linalg.inv(joint.child_at.matrix)
        if not joint.moves:
            self.body_of[joint.child] = parent
            self.frame_of[joint.child] = at @ from_link
            self.bodies[parent].links.append(joint.child)
            return
        turn = np.eye(4)
        if joint.kind != "floating":
            turn[:3, :3] = frame_along(joint.axis)
        followed = joint.mimic.joint if joint.mimic else joint.name
        self.body_of[joint.child] = len(self.bodies)
        self.frame_of[joint.child] = turn.T @ from_link
        self.bodies.append(
            TreeBody(
                joint,
                parent,
                at @ turn,
                self.position_of[followed],
                self.rate_of[joint.name],
                self.position_of[joint.name],
                joint.mimic.multiplier if joint.mimic else 1.0,
                joint.mimic.offset if joint.mimic else 0.0,
                [joint.child],
            )
        )

    def set_inertia(self, body: TreeBody, links: dict[str, Link]) -> None:
        """Set a body's mass properties from those of its links, given by name."""
        own = [n for n in body.links if links[n].mass > 0.0 or links[n].inertia.any()]
        mass = sum(links[name].mass for name in own)
        com, inertia = np.zeros(3), np.zeros((3, 3))
        places = []
        for name in own:
            frame = self.frame_of[name]
            places.append(frame[:3, :3] @ links[name].com + frame[:3, 3])
            com += links[name].mass * places[-1]
        com = com / mass if mass > 0.0 else com
        for name, place in zip(own, places, strict=True):
            R, link = self.frame_of[name][:3, :3], links[name]
            inertia += R @ link.inertia @ R.T
            if len(own) > 1:
                inertia += parallel_axis_inertia(link.mass, place - com)
        body.mass, body.com, body.inertia = mass, com, inertia

    def frame_at(self, B: FloatArray, link: str) -> FloatArray:
        """Return the frame (4, 4) of a link in the base frame.

        `B` (bodies, BODY_SIZE) contains the computed frames of the bodies.
        """
        body, frame = B[self.body_of[link]], np.eye(4)
        frame[:3, :3] = body[:9].reshape(3, 3).T
        frame[:3, 3] = body[layout.ORIGIN : layout.ORIGIN + 3]
        return np.asarray(frame @ self.frame_of[link])

    def above(self, body: int) -> list[int]:
        """Return the indices of a body and of all bodies between it and the base."""
        found = []
        while body:
            found.append(body)
            body = self.bodies[body].parent
        return found

    def loop_path(self, parent: int, child: int) -> list[tuple[int, float]]:
        """Return the bodies on the loop through two bodies, as pairs (body index, sign).

        `parent` and `child` are the two bodies. The sign is +1 for bodies whose joints move only
        the child, and -1 for those whose joints move only the parent. Bodies that carry both are
        left out.
        """
        down, up = self.above(child), self.above(parent)
        common = set(down) & set(up)
        return [(body, 1.0) for body in down if body not in common] + [
            (body, -1.0) for body in up if body not in common
        ]

    def directions(
        self, closure: Closure
    ) -> tuple[bool, list[FloatArray], list[tuple[FloatArray, FloatArray]]]:
        """Return the data that define the equations of a closure.

        Returns:
            Whether the points of the closure coincide; the directions (3,) perpendicular to a
            sliding axis, in the frame of the parent's body; and pairs of directions at a constant
            angle, one in the frame of each body.
        """
        A = self.frame_of[closure.parent][:3, :3] @ closure.at.rotation
        B = self.frame_of[closure.child][:3, :3] @ closure.child_at.rotation
        along, other = A @ closure.ends[0][2], B @ closure.ends[1][2]
        normals = [A @ column for column in frame_along(closure.axis).T[:2]]
        locked = [(A[:, k], B[:, (k + 1) % 3]) for k in range(3)]
        hinged = [(normal, other) for normal in normals]
        angles = {
            "spherical": [],
            "universal": [(along, other)],
            "revolute": hinged,
            "cylindrical": hinged,
        }
        slides = closure.kind in ("cylindrical", "prismatic")
        return not slides, normals if slides else [], angles.get(closure.kind, locked)

    def point_jacobian(
        self, B: FloatArray, way: Sequence[tuple[int, float]], point: FloatArray
    ) -> FloatArray:
        """Compute the Jacobian of a point that the joints on a path move.

        Args:
            B: (bodies, BODY_SIZE) computed frames of the bodies.
            way: result of `loop_path`.
            point: (3,) [m] base frame.

        Returns:
            J (6, rates), linear over angular, base frame: twist at the point = J @ tree rates.
        """
        J = np.zeros((6, self.rates))
        for number, sign in way:
            body, z = self.bodies[number], B[number, layout.Z : layout.Z + 3]
            arm, rate = point - B[number, layout.ORIGIN : layout.ORIGIN + 3], body.rate
            factor = sign * body.factor
            if body.kind == layout.FLOATING:
                J[:, rate : rate + 6] += sign * np.eye(6)
                J[:3, rate + 3 : rate + 6] -= sign * np.array(
                    [[0.0, -arm[2], arm[1]], [arm[2], 0.0, -arm[0]], [-arm[1], arm[0], 0.0]]
                )
            elif body.kind == layout.PRISMATIC:
                J[:3, rate] += factor * z
            else:
                J[:3, rate] += factor * cross(z, arm)
                J[3:, rate] += factor * z
        return J

    def size(self) -> float:
        """Return a characteristic length [m] of the mechanism, the scale of closure residuals."""
        lengths = [float(np.linalg.norm(body.frame[:3, 3])) for body in self.bodies[1:]]
        for closure in self.model.closures:
            for link, place, _ in closure.ends:
                point = self.frame_of[link] @ np.array([*place.translation, 1.0])
                lengths.append(float(np.linalg.norm(point[:3])))
        lengths += [
            float(np.linalg.norm(value[:3])) for _, value in self.model.home if len(value) == 7
        ]
        return max(lengths) or 1.0
