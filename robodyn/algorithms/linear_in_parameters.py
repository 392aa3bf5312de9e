# SPDX-License-Identifier: Apache-2.0

"""Parameters in which efforts are linear: masses, rotors and friction, and their regressors."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array
from robodyn.dynamics.parameters import (
    OF_BODY,
)


def reference_regressor(
    mechanism: Any,
    configuration: ArrayLike,
    velocity: ArrayLike,
    reference_velocity: ArrayLike,
    reference_acceleration: ArrayLike,
    /,
) -> FloatArray:
    """Compute the regressor Y (..., n, p) of Slotine and Li (1987) for adaptive control.

    For a reference velocity v_r and acceleration a_r (..., nv), Y @ parameters.values are the
    efforts that exert M a_r + C v_r + g, plus the friction at v_r. M is the mass matrix, C the
    `coriolis_matrix` at the measured velocity, and g the load of gravity.

    Raises:
        InvalidInput, KinematicsError: as for `regressor`.
    """
    nv = mechanism.coordinates.velocity_size
    v = as_array("velocity", velocity, (nv,))
    r = as_array("reference_velocity", reference_velocity, (nv,))
    rest, evaluate = np.zeros(nv), partial(mechanism.regressor, configuration)
    Y, still = evaluate(r, reference_acceleration), evaluate(rest, reference_acceleration)
    # velocity terms are quadratic: C(v) v_r by polarization
    moved = still + 0.25 * (evaluate(v + r, rest) - evaluate(v - r, rest))
    if mechanism.coordinates.rotations:
        # contribution of angular velocities, which are no derivatives; see `coriolis_matrix`
        q = np.asarray(configuration, dtype=np.float64)[..., None, :]
        power, held = mechanism.joint_velocities(q, np.eye(nv)), evaluate(rest, rest)
        ours, theirs = (power @ (evaluate(rest, u) - held) for u in (v, r))
        added = np.zeros_like(ours)
        for turning in mechanism.coordinates.rotations:
            omega, other = v[..., turning, None], r[..., turning, None]
            added[..., turning, :] = 0.5 * (
                np.cross(omega, theirs[..., turning, :], axis=-2)
                + np.cross(ours[..., turning, :], other, axis=-2)
            )
        moved = moved + np.linalg.solve(power, added)
    ends = (name.rpartition(".")[2] for name in mechanism.parameters.names)
    inertial = [end in OF_BODY or end == "armature" for end in ends]
    Y[..., inertial] = moved[..., inertial]
    return Y
