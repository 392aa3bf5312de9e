# SPDX-License-Identifier: Apache-2.0

"""What an arm's efforts are linear in, and the regressor."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.mechanisms.common.body_parameters import BodyNumbers
from robodyn.mechanisms.common.parameters import JointParameter, JointPlaces, joint_parameters
from robodyn.mechanisms.serial.inverse_kinematics import SerialInverseKinematics
from robodyn.mechanisms.serial.kernels import layout as at
from robodyn.mechanisms.serial.kernels.regressor import regressor
from robodyn.mechanisms.serial.packing import turn_z_to
from robodyn.numerics.array_arguments import (
    MATRIX,
    ROWS_OF_ANY_STRIDE,
    VECTOR,
    GivenType,
    direct,
)
from robodyn.threads import once


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
    def _regressor_numbers(self) -> tuple[FloatArray, ...]:
        """What the kernel reads beside the state."""
        chain, further = self._geometry, self._parameters_of_joints
        motors = np.zeros((len(further), 1 + at.LINK_SIZE))
        for motor, (_, numbers) in zip(motors, further, strict=True):
            for place, value in numbers.items():
                row, column = divmod(place, at.LINK_SIZE)
                motor[0], motor[1 + column] = row - 1, value
        turns = [
            row[at.ROTATION : at.ROTATION + 9].reshape(3, 3).T @ turn_z_to(joint.axis).T
            for row, joint in zip(chain[1:], self.chain.joints, strict=True)
        ]
        return chain, self._gravity, np.reshape(turns, (-1, 9)), motors

    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> FloatArray:
        """Y (..., n, p): efforts = Y @ parameters.values, for any values of the parameters.

        Raises:
            InvalidInput: a wrong shape, or not finite.
        """
        shape, states = self._flat(q=q, qd=qd, qdd=qdd)
        numbers = self._regressor_numbers
        out = np.empty((len(states[0]), self._n, 10 * self._n + len(numbers[3])))
        _entry()(*numbers, *states, out)
        return out.reshape(*shape, *out.shape[1:])


@once
def _entry() -> Callable[..., int]:
    numbers = MATRIX, VECTOR, MATRIX, MATRIX
    return direct(regressor, *numbers, *(ROWS_OF_ANY_STRIDE,) * 3, GivenType(3, writable=True))
