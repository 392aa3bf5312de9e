# SPDX-License-Identifier: Apache-2.0

"""From the platform's motion to the legs', on packed legs; see `StewartPlatform` for the shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robodyn.checks import as_array, as_pose, as_scalar
from robodyn.errors import UnreachablePose
from robodyn.mechanisms.stewart.kernels import kinematics as kernels
from robodyn.mechanisms.stewart.status import new_status, raise_first
from robodyn.numerics.broadcasting import flatten

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.stewart.model import StewartModel


# Excess of a length over a limit, relative to the limit, that is taken as rounding.
LIMIT_TOLERANCE = 1e-9


class LegMotion(NamedTuple):
    """How the six legs move; vectors in the base frame.

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


def leg_lengths(legs: FloatArray, pose: ArrayLike) -> FloatArray:
    """Lengths of the legs."""
    shape, (flat,) = flatten(pose=as_pose("pose", pose))
    out, status = np.empty((len(flat), 6)), new_status(flat)
    kernels.leg_lengths(legs, flat, out, status)
    raise_first(status, shape, flat, legs)
    return out.reshape(*shape, 6)


def raise_unreachable(model: StewartModel, lengths: FloatArray, pose: ArrayLike) -> None:
    """Raise for the first element of lengths (..., 6) beyond the legs' limits.

    Raises:
        UnreachablePose: its `value` is the pose.
    """
    limits = np.array([leg.limits.length for leg in model.legs])
    below = lengths < limits[:, 0] * (1.0 - LIMIT_TOLERANCE)
    above = lengths > limits[:, 1] * (1.0 + LIMIT_TOLERANCE)
    beyond = np.argwhere(below | above)
    if not len(beyond):
        return
    *where, leg = (int(i) for i in beyond[0])
    index = tuple(where)
    at = f" at element {where}" if where else ""
    raise UnreachablePose(
        f"unreachable pose{at}: leg {leg + 1} ({model.legs[leg].joints.actuator.name}) would be "
        f"{lengths[index][leg]:.6g} m long, its limits are {limits[leg, 0]:g} to "
        f"{limits[leg, 1]:g} m",
        leg=leg + 1,
        value=np.asarray(pose)[index],
        index=index,
    )


def jacobian(legs: FloatArray, pose: ArrayLike) -> FloatArray:
    """The force Jacobian H."""
    shape, (flat,) = flatten(pose=as_pose("pose", pose))
    out, status = np.empty((len(flat), 6, 6)), new_status(flat)
    kernels.jacobian(legs, flat, out, status)
    raise_first(status, shape, flat, legs)
    return out.reshape(*shape, 6, 6)


def singular_values(legs: FloatArray, pose: ArrayLike, characteristic_length: float) -> FloatArray:
    """Singular values of H with its moment rows divided by a length."""
    length = as_scalar("characteristic_length", characteristic_length, "m", above=0.0)
    H = jacobian(legs, pose)
    H[..., 3:, :] /= length
    return np.asarray(np.linalg.svd(H, compute_uv=False), dtype=np.float64)


def leg_motion(
    legs: FloatArray, pose: ArrayLike, twist: ArrayLike | None, accel: ArrayLike | None
) -> LegMotion:
    """Position, velocity and acceleration level of the legs."""
    zero = np.zeros(6)
    shape, (q, v, a) = flatten(
        pose=as_pose("pose", pose),
        twist=as_array("twist", zero if twist is None else twist, (6,), "m/s, rad/s"),
        accel=as_array("accel", zero if accel is None else accel, (6,), "m/s^2, rad/s^2"),
    )
    n, status = len(q), new_status(q)
    cores = ((6,), (6,), (6,), (6, 3), (6, 3), (6, 3), (6, 2))
    out = [np.empty((n, *core)) for core in cores]
    buffers = [*out, status]
    kernels.leg_motion(legs, q, v, a, *buffers)
    raise_first(status, shape, q, legs)
    return LegMotion(
        *(array.reshape(*shape, *core) for array, core in zip(out, cores, strict=True))
    )
