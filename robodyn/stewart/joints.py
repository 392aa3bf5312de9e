"""The values of all eighteen URDF joints of the legs, passive ones included."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robodyn.stewart.model import universal_zero_frame

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from robodyn.stewart.kinematics import LegMotion
    from robodyn.stewart.model import StewartModel

    FloatArray = NDArray[np.float64]


class LegJointStates(NamedTuple):
    """The joints of the legs, three a leg: first and second universal axis, actuator.

    Attributes:
        names: 18.
        positions: (..., 18) [rad, rad, m, ...] as the URDF measures them.
        velocities: (..., 18) [rad/s, rad/s, m/s, ...].
    """

    names: tuple[str, ...]
    positions: FloatArray
    velocities: FloatArray


def universal_angles(model: StewartModel, direction: FloatArray) -> FloatArray:
    """Natural angles (..., 6, 2) of the universal joints for leg directions s (..., 6, 3).

    With the axes [h u k] of `universal_zero_frame` the leg frame is [h u k] Rz(q1) Ry(q2).
    """
    frames = np.array([universal_zero_frame(leg.universal_axis) for leg in model.legs])
    along_h, along_u, along_k = np.moveaxis(np.einsum("...ij,ijk->...ik", direction, frames), -1, 0)
    q1 = np.arctan2(along_u, along_h)
    q2 = np.arctan2(-along_k, np.hypot(along_u, along_h))
    return np.stack([q1, q2], axis=-1)


def leg_joint_states(model: StewartModel, motion: LegMotion) -> LegJointStates:
    """URDF values of all joints of the legs in a motion."""
    angles = universal_angles(model, motion.direction)
    natural = np.concatenate([angles, motion.length[..., None]], axis=-1)
    rates = np.concatenate([motion.universal_rates, motion.rate[..., None]], axis=-1)
    positions, velocities = np.empty_like(natural), np.empty_like(rates)
    names: list[str] = []
    for i, leg in enumerate(model.legs):
        joints = leg.joints
        readings = (joints.universal_1, joints.universal_2, joints.actuator)
        positions[..., i, :] = joints.to_urdf(natural[..., i, :])
        velocities[..., i, :] = rates[..., i, :] * [reading.sign for reading in readings]
        names += joints.names
    shape = (*natural.shape[:-2], 3 * len(model.legs))
    return LegJointStates(tuple(names), positions.reshape(shape), velocities.reshape(shape))
