# SPDX-License-Identifier: Apache-2.0

"""The joints of a mechanism with closed loops: names, limits, places in a configuration."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from robodyn.checks import as_array
from robodyn.mechanisms.closed_loop.pivots import Pivots
from robodyn.mechanisms.closed_loop.variants import structure_of
from robodyn.mechanisms.mechanism import Mechanism

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.model.model import Model


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

    def __init__(self, model: Model) -> None:
        self.model = model
        self.structure = structure_of(model)
        self._tree = self.structure.tree
        self._pivots = Pivots(self.structure)
        self._nq, self._nu = self._tree.positions, len(self.structure.free)
        self._n = len(model.driven)
        self._driven_at = np.array([self._tree.position_of[name] for name in model.driven])
        self._rates_at = np.array([self._tree.rate_of[name] for name in model.driven])
        self._free_at = np.array([self._tree.place_of_rate(rate) for rate in self.structure.free])

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

    @property
    def rate_names(self) -> tuple[str, ...]:
        """Of each tree coordinate; a floating joint has its twist, linear then angular."""
        return tuple(self._tree.rate_names)

    @cached_property
    def _drives_free(self) -> bool:
        return bool(self.structure.packed.head["drives_free"])

    def _floats(self, name: str) -> bool:
        at = self.movable_joint_names.index(name)
        return self._tree.joints[at].kind == "floating"

    def _slice(self, name: str) -> slice:
        at = self._tree.position_of[name]
        return slice(at, at + (7 if self._floats(name) else 1))

    def _q(self, name: str, value: ArrayLike) -> FloatArray:
        return as_array(name, value, (self._nq,), "every joint in the order of movable_joint_names")

    def _u(self, name: str, value: ArrayLike) -> FloatArray:
        return as_array(name, value, (self._nu,), "independent joints, rad or m")
