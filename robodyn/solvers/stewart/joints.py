# SPDX-License-Identifier: Apache-2.0

"""Motion of the legs, and of all their eighteen URDF joints, passive ones included."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.algorithms.motion import JointStates
from robodyn.arrays import FloatArray, short_repr
from robodyn.solvers.stewart.leg_shape import universal_zero_frame
from robodyn.solvers.stewart.recognition import PlatformStructure


class LegMotion(NamedTuple):
    """Motion of the six legs; vectors in the base frame.

    Attributes:
        length: (..., 6) [m].
        rate: (..., 6) [m/s].
        acceleration: (..., 6) [m/s^2].
        direction: (..., 6, 3) unit vector s from base to platform.
        angular_velocity: (..., 6, 3) [rad/s] W, the spin about the leg's own axis included.
        angular_acceleration: (..., 6, 3) [rad/s^2] A.
        universal_rates: (..., 6, 2) [rad/s] about the fixed axis k and the carried axis y.
    """

    length: FloatArray
    rate: FloatArray
    acceleration: FloatArray
    direction: FloatArray
    angular_velocity: FloatArray
    angular_acceleration: FloatArray
    universal_rates: FloatArray

    def __repr__(self) -> str:
        return short_repr(self)


class LegJointReadings:
    """Converter of a platform's motion to the readings of its legs' 18 URDF joints.

    Args:
        structure: structure of the platform.

    Attributes:
        names: names of the 18 joints.
        actuator_sign, actuator_offset: (6,), length = sign * reading + offset.
        packed: (6, 15) signs, offsets and axes for `kernels.joints`.
    """

    def __init__(self, structure: PlatformStructure) -> None:
        joints = [leg.shape.readings for leg in structure.legs]
        self.names = tuple(reading.name for leg in joints for reading in leg)
        self._sign = np.array([[float(reading.sign) for reading in leg] for leg in joints])
        self._offset = np.array([[reading.offset for reading in leg] for leg in joints])
        self.actuator_sign, self.actuator_offset = self._sign[:, 2], self._offset[:, 2]
        self._frames = np.array([universal_zero_frame(axis) for axis in structure.universal_axes])
        axes = np.swapaxes(self._frames, 1, 2).reshape(6, 9)
        self.packed = np.concatenate([self._sign, self._offset, axes], axis=1)

    def of(self, motion: LegMotion) -> JointStates:
        """Compute positions and velocities (..., 18) of all URDF leg joints for a motion.

        The angles of the universal joints are in [-pi, pi).
        """
        values, rates = (np.empty((*motion.length.shape, 3)) for _ in range(2))
        values[..., :2] = self.universal_angles(motion.direction)
        values[..., 2] = motion.length
        values -= self._offset
        values *= self._sign
        angles = values[..., :2]
        angles -= 2.0 * np.pi * np.floor(angles / (2.0 * np.pi) + 0.5)
        rates[..., :2] = motion.universal_rates
        rates[..., 2] = motion.rate
        rates *= self._sign
        shape = (*motion.length.shape[:-1], len(self.names))
        return JointStates(self.names, values.reshape(shape), rates.reshape(shape))

    def universal_angles(self, direction: FloatArray) -> FloatArray:
        """Compute the angles q1, q2 (..., 6, 2) of universal joints from leg directions.

        The directions are (..., 6, 3), base frame. With the axes [h u k] of `universal_zero_frame`,
        the leg frame is [h u k] Rz(q1) Ry(q2).
        """
        along = np.einsum("...ij,ijk->...ik", direction, self._frames)
        along_h, along_u, along_k = along[..., 0], along[..., 1], along[..., 2]
        angles = np.empty((*direction.shape[:-1], 2))
        angles[..., 0] = np.arctan2(along_u, along_h)
        angles[..., 1] = np.arctan2(-along_k, np.hypot(along_u, along_h))
        return angles
