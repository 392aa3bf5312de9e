# SPDX-License-Identifier: Apache-2.0

"""What an arm's efforts are linear in, and the regressor."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.mechanisms.common.body_parameters import BodyNumbers
from robodyn.mechanisms.common.parameters import (
    JointParameter,
    JointPlaces,
    columns_of,
    joint_parameters,
    of_single,
    unit_mechanisms,
)
from robodyn.mechanisms.common.single_calls import single_calls
from robodyn.mechanisms.serial.inverse_kinematics import SerialInverseKinematics
from robodyn.mechanisms.serial.kernels import entries
from robodyn.mechanisms.serial.kernels import layout as at
from robodyn.mechanisms.serial.kernels.lanes import inverse_dynamics
from robodyn.mechanisms.serial.packing import pack_chain, part_of_chain, put_body, turn_z_to
from robodyn.model.body import Link

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.parameters import PutBody


class SerialParameters(SerialInverseKinematics):
    """The part of `SerialArm` that knows what its efforts are linear in."""

    @property
    def _parametric_bodies(self) -> list[tuple[str, BodyNumbers]]:
        links = self.chain.links
        return [(link.name, BodyNumbers(link.mass, link.com, link.inertia)) for link in links]

    @cached_property
    def _parameters_of_joints(self) -> list[tuple[JointParameter, dict[int, float]]]:
        found = []
        for row, joint in enumerate(self.chain.joints, start=1):
            places = (row * at.LINK_SIZE + k for k in (at.ARMATURE, at.DAMPING, at.DRY_FRICTION))
            found += joint_parameters(joint, JointPlaces(*places))
        return found

    @cached_property
    def _unit_chains(self) -> list[FloatArray]:
        """Chains whose efforts are the columns of the regressor."""
        joints = self.chain.joints
        weightless = tuple(Link(link.name, com=link.com) for link in self.chain.links)
        chain = pack_chain(self.chain._replace(links=weightless))
        empty = part_of_chain(chain, friction=False, armature=False)

        def put(k: int) -> PutBody:
            turn, row = turn_z_to(joints[k].axis), slice((k + 1) * at.LINK_SIZE, None)
            return lambda packed, *body: put_body(packed[row][: at.LINK_SIZE], turn, *body)

        further = [numbers for _, numbers in self._parameters_of_joints]
        units = unit_mechanisms(empty.ravel(), [put(k) for k in range(len(joints))], further)
        return list(units.reshape(-1, *empty.shape))

    @cached_property
    def _unit_calls(self) -> list[Any]:
        return [single_calls(entries, chain, self._gravity).inverse for chain in self._unit_chains]

    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> FloatArray:
        """Y (..., n, p): efforts = Y @ parameters.values, for any values of the parameters.

        Raises:
            InvalidInput: a wrong shape, or not finite.
        """
        found = of_single(self._unit_calls, (q, qd, qdd), self._n)
        if found is None:
            names, motion = ("q", "qd", "qdd", "wrench", "base"), (q, qd, qdd, None, None)
            found = np.stack(
                [
                    self._batch(inverse_dynamics, chain, names, motion, (self._n,))
                    for chain in self._unit_chains
                ]
            )
        return columns_of(found, len(self._parameters_of_joints))
