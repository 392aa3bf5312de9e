# SPDX-License-Identifier: Apache-2.0

"""Batches of a platform's states through the vector kernels.

`numbers` are the packed legs and platform. All functions raise InvalidInput for arguments of the
wrong shape or not finite, and where the equations have no solution the KinematicsError of the first
such state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import types

from robodyn.mechanisms.common.batch_calls import (
    CONFIGURATION,
    POSE,
    STATE,
    WRENCH,
    Argument,
    Arguments,
    Unanswered,
    answers,
    computed,
    entry,
)
from robodyn.mechanisms.stewart.kernels import lanes as kernels
from robodyn.mechanisms.stewart.status import unanswered
from robodyn.numerics.broadcasting import states

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray

    Numbers = tuple[FloatArray, FloatArray]


_TWIST = Argument("twist", 6, "m/s, rad/s")
_ACCEL = Argument("accel", 6, "m/s^2, rad/s^2")
_FORCES = Argument("forces", 6, "N")
_CONFIGURATION, _STATE = Arguments(POSE), Arguments(POSE, _TWIST)
_MOTION = Arguments(POSE, _TWIST, _ACCEL, WRENCH)
_LOADED = Arguments(POSE, _TWIST, _FORCES, WRENCH)


def inverse_dynamics(
    numbers: Numbers,
    pose: ArrayLike,
    twist: ArrayLike,
    accel: ArrayLike,
    wrench: ArrayLike | None,
    with_legs: bool,
) -> FloatArray:
    """Actuator forces of motions."""
    kernel = entry(kernels.inverse_dynamics, *STATE, types.boolean)
    return _answers(kernel, numbers, _MOTION, (pose, twist, accel, wrench), (6,), with_legs)


def forward_dynamics(
    numbers: Numbers,
    pose: ArrayLike,
    twist: ArrayLike,
    forces: ArrayLike,
    wrench: ArrayLike | None,
) -> FloatArray:
    """Accelerations that forces cause."""
    kernel = entry(kernels.forward_dynamics, *STATE)
    return _answers(kernel, numbers, _LOADED, (pose, twist, forces, wrench), (6,))


def mass_matrix(numbers: Numbers, pose: ArrayLike) -> FloatArray:
    """Mass matrices."""
    return _answers(
        entry(kernels.mass_matrix, *CONFIGURATION), numbers, _CONFIGURATION, (pose,), (6, 6)
    )


def bias(numbers: Numbers, pose: ArrayLike, twist: ArrayLike) -> FloatArray:
    """Gravity, velocity terms and friction."""
    kernel = entry(kernels.bias, *CONFIGURATION * 2)
    return _answers(kernel, numbers, _STATE, (pose, twist), (6,))


def jacobian(numbers: Numbers, pose: ArrayLike) -> FloatArray:
    """The force Jacobian H, which does not need the frames of the legs."""
    kernel = entry(kernels.jacobian, *CONFIGURATION)
    return _answers(kernel, numbers, _CONFIGURATION, (pose,), (6, 6), needs_frames=False)


def condition_number(
    numbers: Numbers, pose: ArrayLike, characteristic_length: float
) -> FloatArray | None:
    """Condition numbers of H, its moment rows divided by a length; None if any has none."""
    if not isinstance(characteristic_length, (int, float)):
        return None
    length = float(characteristic_length)
    batch = states((7,), (pose,))
    if batch is None or not 0.0 < length < np.inf:
        return None
    kernel = entry(kernels.condition_number, *CONFIGURATION, types.float64)
    ratios = computed(kernel, numbers, batch, (1,), length)
    return None if ratios is None else ratios[..., 0]


def _answers(
    kernel: Any,
    numbers: Numbers,
    arguments: Arguments,
    values: tuple[ArrayLike | None, ...],
    core: tuple[int, ...],
    *settings: Any,
    needs_frames: bool = True,
) -> FloatArray:
    try:
        return answers(kernel, numbers, arguments, values, core, *settings)
    except Unanswered as failure:
        pose, index = failure.state[0], failure.index
    raise unanswered(numbers, pose, index, needs_frames)
