# SPDX-License-Identifier: Apache-2.0

"""Kinematics of an arm: poses of the tip, Jacobian, condition number."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.algorithms import conditioning
from robodyn.algorithms.link_motion import states_of
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.dynamics.single_calls import condition_of
from robodyn.model.body import Link
from robodyn.model.model import Model
from robodyn.solvers.serial.chain import nameless
from robodyn.solvers.serial.kernels import batch, lanes

_empty = np.empty


def equality_key(arm: Any) -> Model:
    """Return the arm's model with neutral names, so that comparisons ignore the names."""
    return nameless(arm.model)


def bodies(arm: Any) -> tuple[Link, ...]:
    """Return the links, from the base to the tip."""
    return arm.chain.links


def size(arm: Any) -> float:
    """Return half the length [m] of the outstretched arm."""
    reach = sum(float(np.linalg.norm(joint.at.translation)) for joint in arm.chain.joints)
    reach += float(np.linalg.norm(arm.chain.tip.translation))
    return max(0.5 * reach, 1e-2)


def home(arm: Any) -> FloatArray:
    """Return the model's home configuration (n,) [rad or m]."""
    return np.array([value for _, (value,) in arm.model.home])


def body_pose(arm: Any, configuration: ArrayLike, /) -> FloatArray:
    """Compute the pose (..., 7) of the tip in the base frame.

    A pose is x y z [m], qx qy qz qw, with qw >= 0.
    """
    pose = _empty(7)
    try:
        if arm.solver.tip_calls[0](configuration, pose):
            return pose
    except TypeError:
        pass  # not a single float64 configuration
    shape, (q,) = states_of(arm, configuration)
    out = np.empty((len(q), 7))
    batch.poses(arm.solver.geometry, q, out)
    return out.reshape(*shape, 7)


def jacobian(arm: Any, q: ArrayLike) -> FloatArray:
    """Compute the geometric Jacobian J (..., 6, n) of the tip, base frame.

    It maps joint rates to the tip's twist, [v; omega] = J @ qd, and a wrench on the tip to efforts,
    J' @ wrench.
    """
    J = _empty((6, arm.n))
    try:
        if arm.solver.tip_calls[1](q, J):
            return J
    except TypeError:
        pass
    return arm.solver.batch(lanes.jacobian, arm.solver.geometry, ("q",), (q,), (6, arm.n))


def condition_number(arm: Any, q: ArrayLike, characteristic_length: float = 1.0) -> FloatArray:
    """Compute the condition number (...) of the tip's Jacobian at configurations (..., n).

    It is the ratio of the largest to the smallest of the min(6, n) singular values, and may be
    infinite. Angular rates are multiplied by `characteristic_length` [m].

    Raises:
        InvalidInput: as for `singular_values`.
    """
    ratio = condition_of(arm.solver.condition, q, characteristic_length)
    if ratio is not None:
        return ratio
    return conditioning.condition_number(arm, q, characteristic_length)
