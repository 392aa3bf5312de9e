# SPDX-License-Identifier: Apache-2.0

"""From the legs' motion to the platform's, on packed legs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robodyn.checks import as_array, as_pose
from robodyn.errors import InvalidInput, NoSolution
from robodyn.mechanisms.stewart.kernels import forward_kinematics as kernels
from robodyn.mechanisms.stewart.kernels.layout import OK
from robodyn.mechanisms.stewart.status import new_status, raise_first
from robodyn.numerics.broadcasting import element, flatten

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray


class PlatformMotion(NamedTuple):
    """How the platform moves, base frame.

    Attributes:
        pose: (..., 7) [m, -].
        twist: (..., 6) [m/s, rad/s].
        accel: (..., 6) [m/s^2, rad/s^2].
    """

    pose: FloatArray
    twist: FloatArray
    accel: FloatArray


def forward_kinematics(
    legs: FloatArray,
    lengths: ArrayLike,
    guess: ArrayLike,
    rates: ArrayLike | None,
    accelerations: ArrayLike | None,
    warm_start: bool,
) -> PlatformMotion:
    """Pose by Newton's method, twist and acceleration by linear solves."""
    zero = np.zeros(6)
    shape, (length, start, rate, acceleration) = flatten(
        lengths=as_array("lengths", lengths, (6,), "m"),
        guess=as_pose("guess", guess),
        rates=as_array("rates", zero if rates is None else rates, (6,), "m/s"),
        accelerations=as_array(
            "accelerations", zero if accelerations is None else accelerations, (6,), "m/s^2"
        ),
    )
    if (length <= 0.0).any():
        raise InvalidInput(f"lengths has {length.min()}, expected positive [m]", value=lengths)
    run = max(shape[-1], 1) if warm_start and shape else 1
    pose, residual, status = np.empty((len(length), 7)), np.empty(len(length)), new_status(length)
    kernels.solve_poses(legs, length, start, run, pose, residual, status)
    if (status != OK).any():
        first = int(np.flatnonzero(status)[0])
        raise _no_solution(length[first], float(residual[first]), element(shape, first))
    twist, accel = np.zeros((len(length), 6)), np.zeros((len(length), 6))
    if rates is not None:
        kernels.platform_motions(legs, pose, rate, acceleration, twist, accel, status)
        raise_first(status, shape, pose, legs)
    return PlatformMotion(
        pose.reshape(*shape, 7), twist.reshape(*shape, 6), accel.reshape(*shape, 6)
    )


def _no_solution(lengths: FloatArray, residual: float, index: tuple[int, ...]) -> NoSolution:
    where = f" at element {list(index)}" if index else ""
    return NoSolution(
        f"no pose found with leg lengths {np.array2string(lengths, precision=6)} m{where}: the "
        f"closest one reached misses a leg by {residual:.3g} m; the lengths may be out of the "
        "workspace, or the guess too far off",
        residual=residual,
        value=lengths,
        index=index,
    )
