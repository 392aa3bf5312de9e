# SPDX-License-Identifier: Apache-2.0

"""Regressor of a platform's forces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.dynamics.parameters import (
    columns_of,
)
from robodyn.numerics.array_arguments import MATRIX, MATRIX_OUT, VECTOR, direct
from robodyn.solvers.stewart.dynamics import exact_forces
from robodyn.solvers.stewart.kernels.lanes import regressor as kernel
from robodyn.threads import cached_threadsafe

# Entries of a packed leg and platform besides masses, rotors and friction.


def regressor(platform: Any, pose: ArrayLike, twist: ArrayLike, accel: ArrayLike) -> FloatArray:
    """Compute the regressor Y (..., 6, p): actuator forces = Y @ parameters.values.

    Y does not depend on the values of the p inertial and joint parameters.

    Args:
        platform: the mechanism.
        pose: (..., 7) platform in base frame.
        twist, accel: (..., 6) velocity and acceleration of the platform.

    Returns:
        Y (..., 6, p).

    Raises:
        InvalidInput: a shape is wrong or a value is not finite.
        KinematicsError: as for `inverse_dynamics`.
    """
    found = np.empty((len(platform.solver.unit_platforms), 6))
    try:
        single = _entry()(platform.solver.unit_lanes, pose, twist, accel, found)
    except TypeError:  # not single float64 states: a batch, or an invalid argument
        single = False
    if not single:
        motion = pose, twist, accel, None, None
        found = np.stack([exact_forces(unit, motion) for unit in platform.solver.unit_platforms])
    return columns_of(found, len(platform.solver.parameters_of_joints))


@cached_threadsafe
def _entry() -> Callable[..., bool]:
    return direct(kernel, MATRIX, VECTOR, VECTOR, VECTOR, MATRIX_OUT)
