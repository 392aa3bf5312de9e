# SPDX-License-Identifier: Apache-2.0

"""What each actuator adds to a mechanism at home: reflected inertia, friction against weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.actuators import Actuator
from robodyn.errors import UnderActuated

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.mechanism import Mechanism


def actuators_at_home(mechanism: Mechanism) -> list[dict[str, Any]]:
    """A row for each driven joint; empty where all actuators are ideal.

    Inertias are in kg or kg m^2, forces in N or N m, at the joint. `inertia` is what the rest of
    the mechanism shows there while the other driven joints are held, `weight` the effort that
    holds the mechanism, `friction_share` friction over it; each None where it means nothing, as
    weight does where the motors cannot hold the mechanism.

    Raises:
        KinematicsError: home is singular.
    """
    actuators = mechanism.actuators
    if all(actuator == Actuator() for actuator in actuators):
        return []
    home = mechanism.home
    bare = mechanism.without_actuators()
    M = bare.mass_matrix(home)
    still = np.zeros(len(M))
    inertia = _at_joints(bare, home, M)
    try:
        weight = np.abs(bare.inverse_dynamics(home, still, still))
    except UnderActuated:
        weight = np.full(len(actuators), np.nan)
    rows = []
    for i, name in enumerate(mechanism.joint_names):
        actuator = actuators[i]
        friction = max(actuator.coulomb_both)
        # what is left of rounding, as in a joint with a vertical axis, is no weight
        bears = bool(weight[i] > 1e-9 * max(1.0, weight.max()))
        rows.append(
            {
                "name": name,
                "reflected_inertia": actuator.reflected_inertia,
                "inertia": None if inertia is None else float(inertia[i]),
                "friction": friction,
                "weight": None if np.isnan(weight[i]) else float(weight[i]),
                "friction_share": float(friction / weight[i]) if bears else None,
            }
        )
    return rows


def _at_joints(mechanism: Mechanism, home: FloatArray, M: FloatArray) -> FloatArray | None:
    """(n,) diagonal of the mass matrix in rates of the driven joints, if these are coordinates."""
    rates = mechanism.joint_velocities(home, np.eye(len(M))).T
    if rates.shape != M.shape or np.linalg.matrix_rank(rates) < len(M):
        return None
    inverse = np.linalg.inv(rates)
    return np.asarray(np.diag(inverse.T @ M @ inverse))
