# SPDX-License-Identifier: Apache-2.0

"""The joints and bodies of a mechanism with closed loops, and their places in a configuration."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array
from robodyn.mechanisms.closed_loop.pivots import Pivots
from robodyn.mechanisms.closed_loop.structure import structure_of
from robodyn.mechanisms.common.coordinates import Coordinates
from robodyn.mechanisms.common.description import Nouns
from robodyn.mechanisms.common.joint_friction import friction_row
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.model.body import Link
from robodyn.model.joint import Joint
from robodyn.model.model import Model

_POSE = ("x", "y", "z", "qx", "qy", "qz", "qw")


class ClosedLoopJoints(Mechanism):
    """The part of `ClosedLoop` that knows its joints.

    A configuration (..., nq) is the position of every movable joint in the order of
    `movable_joint_names`, a floating joint as its pose (7,): x y z [m], qx qy qz qw, of the child
    in the frame of the joint's origin. Velocities and accelerations (..., mobility) are those of
    `independent_joints`.

    Attributes:
        model: the description it was made from.
        structure: what was found of it: rank, mobility, idle freedoms and so on.
    """

    kind = "closed_loop"
    model: Model
    nouns = Nouns(mechanism="mechanism", joint="joint", body="tip", effort="effort")
    # of the bundled models
    default_paths: ClassVar = {
        "delta": "pick_and_place",
        "fivebar": "star",
        "hexapod_rotary": "dance",
    }

    def __init__(self, model: Model) -> None:
        self.model = model
        self.structure = structure_of(model)
        self._tree = self.structure.tree
        self._pivots = Pivots(self.structure)
        self._nq, self._nu = self._tree.positions, len(self.structure.free)
        self._n = len(model.driven)
        self._driven_at = np.array([self._tree.position_of[name] for name in model.driven])
        self._rates_at = np.array([self._tree.rate_of[name] for name in model.driven])
        self._free_at = np.array([self._tree.rate_places[rate] for rate in self.structure.free])

    @property
    def mobility(self) -> int:
        """Freedoms of the mechanism, idle ones not counted."""
        return self._nu

    @cached_property
    def movable_joint_names(self) -> tuple[str, ...]:
        """Every movable joint, floating ones included, in the order of a configuration."""
        return tuple(joint.name for joint in self._tree.joints)

    @cached_property
    def all_joint_names(self) -> tuple[str, ...]:
        """Every movable joint that a joint state can tell of: all but floating ones."""
        return tuple(joint.name for joint in self._tree.joints if joint.kind != "floating")

    @cached_property
    def independent_joints(self) -> tuple[str, ...]:
        """The coordinates in which velocity and acceleration are told."""
        return tuple(self._tree.rate_names[rate] for rate in self.structure.free)

    @property
    def home(self) -> FloatArray:
        """(nq,) where the loops close, near the model's guess."""
        return np.array(self.structure.home)

    def joint_positions(self, configuration: ArrayLike) -> FloatArray:
        """(..., n) [rad or m] of the driven joints."""
        return np.asarray(self._q("configuration", configuration)[..., self._driven_at])

    def all_joint_positions(self, configuration: ArrayLike) -> FloatArray:
        """(..., j) [rad or m] of all joints but floating ones, at singularities too."""
        q = self._q("configuration", configuration)
        places = [self._tree.position_of[name] for name in self.all_joint_names]
        return np.asarray(q[..., places])

    @property
    def rate_names(self) -> tuple[str, ...]:
        """Of each tree coordinate; a floating joint has its twist, linear then angular."""
        return tuple(self._tree.rate_names)

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
        rates = tuple(tree.rate_names[rate] for rate in free)
        units = tuple(tree.rate_units[rate] for rate in free)
        turns = tuple(
            slice(columns[-3], columns[-1] + 1)
            for _, columns, parts in self._free_poses
            if parts[-3:] == [3, 4, 5] and columns[-1] - columns[-3] == 2
        )
        return Coordinates(
            *("joints", tuple(names), rates, rates, units, tuple(quaternions), turns),
            wrapping=self.wrapping_joints,
        )

    @cached_property
    def _free_poses(self) -> list[tuple[Joint, list[int], list[int]]]:
        """Floating joints with independent coordinates: where these are, which of six each is."""
        found = []
        for joint in self._tree.joints:
            first = self._tree.rate_of[joint.name]
            own = [k for k, rate in enumerate(self.structure.free) if 0 <= rate - first < 6]
            if joint.kind == "floating" and own:
                found.append((joint, own, [self.structure.free[k] - first for k in own]))
        return found

    @property
    def bodies(self) -> tuple[Link, ...]:
        """The links that move and have mass or inertia, each in its own frame."""
        tree = self.structure.tree
        return tuple(
            link
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

    @cached_property
    def _drives_free(self) -> bool:
        return bool(self.structure.packed.head["drives_free"])

    def _q(self, name: str, value: ArrayLike) -> FloatArray:
        return as_array(name, value, (self._nq,), "every joint in the order of movable_joint_names")

    def _u(self, name: str, value: ArrayLike) -> FloatArray:
        return as_array(name, value, (self._nu,), "independent joints, rad or m")
