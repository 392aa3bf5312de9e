# SPDX-License-Identifier: Apache-2.0

"""What a mechanism with closed loops answers about itself: units, bodies, terms of its efforts."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from robodyn.mechanisms.closed_loop.joints import ClosedLoopJoints
from robodyn.mechanisms.closed_loop.kernels import layout
from robodyn.mechanisms.common.coordinates import Coordinates
from robodyn.mechanisms.common.description import MovingBody, Nouns
from robodyn.mechanisms.common.joint_friction import friction_row

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.coordinates import Unit

_POSE = ("x", "y", "z", "qx", "qy", "qz", "qw")


class ClosedLoopAnswers(ClosedLoopJoints):
    """The part of `ClosedLoop` that describes it; its equations are elsewhere."""

    nouns = Nouns(mechanism="mechanism", joint="joint", body="tip", effort="effort")
    # of the bundled models
    default_paths: ClassVar = {
        "delta": "pick_and_place",
        "fivebar": "star",
        "hexapod_rotary": "dance",
    }

    @cached_property
    def coordinates(self) -> Coordinates:
        """A configuration is all joints, a velocity the independent ones'."""
        names: list[str] = []
        quaternions = []
        for joint in self.structure.tree.joints:
            if joint.kind == "floating":
                quaternions.append(slice(len(names) + 3, len(names) + 7))
                names += [f"{joint.name}.{part}" for part in _POSE]
            else:
                names.append(joint.name)
        tree, free = self.structure.tree, self.structure.free
        told = tuple(tree.rate_names[rate] for rate in free)
        units = tuple(self._unit_of_rate(rate) for rate in free)
        return Coordinates("joints", tuple(names), told, told, units, tuple(quaternions))

    @property
    def bodies(self) -> tuple[MovingBody, ...]:
        """The links that move and have mass or inertia, each in its own frame."""
        tree = self.structure.tree
        return tuple(
            MovingBody(link.name, link.mass, link.com, link.inertia)
            for link in self.model.links
            if tree.body_of[link.name] and (link.mass > 0.0 or link.inertia.any())
        )

    @cached_property
    def size(self) -> float:
        """[m] the largest distance between a joint and the next."""
        return self.structure.equations.size

    @cached_property
    def rank(self) -> int:
        """Of the closures' equations, in general position."""
        return self.structure.rank

    @cached_property
    def idle_freedoms(self) -> tuple[str, ...]:
        """What may spin on its own, and is held at rest."""
        return tuple(one.name for one in self.structure.idle)

    @cached_property
    def loose_joints(self) -> tuple[str, ...]:
        """Joints that move while all driven ones are locked."""
        return self.structure.loose

    def friction_rows(self) -> FloatArray:
        """(nf, sticking.ROW) of the driven joints, in their order, and of others that rub."""
        tree, driven = self.structure.tree, list(self.model.driven)
        rows = {}
        for body in tree.bodies[1:]:
            joint = body.joint
            if joint is None or joint.kind == "floating":
                continue
            if joint.name in driven or joint.friction.any():
                rows[joint.name] = friction_row(joint.actuator, body.rate, body.factor)
        order = [*driven, *(name for name in rows if name not in driven)]
        return np.array([rows[name] for name in order])

    def _unit_of_rate(self, rate: int) -> Unit:
        for body in self.structure.tree.bodies[1:]:
            if body.kind == layout.FLOATING and body.rate <= rate < body.rate + 6:
                return "m" if rate < body.rate + 3 else "rad"
            if body.rate == rate and body.kind != layout.FLOATING:
                return "m" if body.kind == layout.PRISMATIC else "rad"
        return "rad"
