# SPDX-License-Identifier: Apache-2.0

"""Covariances of a platform's motion from those of its leg readings; see `estimation`."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.numerics.compiler import kernel
from robodyn.numerics.linear import solve_columns
from robodyn.numerics.rotations import rotation_columns
from robodyn.numerics.vectors import add, axpy, combine, cross, dot, norm, scale, store, sub, vector


@kernel
def congruence(A: Any, M: Any, out: Any) -> None:
    """Write the product A M A' (6, 6) for a symmetric matrix M to `out`.

    The result is exactly symmetric.
    """
    for i in range(6):
        for j in range(i + 1):
            total = 0.0
            for k in range(6):
                row = 0.0
                for m in range(6):
                    row += M[k, m] * A[j, m]
                total += A[i, k] * row
            out[i, j] = total
            out[j, i] = total


@kernel
def rate_sensitivity(base: Any, tips: Any, pose: Any, twist: Any, out: Any) -> None:
    """Write the derivative of the leg rates w.r.t. the pose to `out` (6, 6).

    The twist (6,) stays constant. A column is the change per unit of a component of the
    displacement [translation; rotation vector], base frame. `base` and `tips` (6, 3) are the joint
    centers at the base, and at the platform in its own frame.
    """
    position, v, w = vector(pose, 0), vector(twist, 0), vector(twist, 3)
    X, Y, Z = rotation_columns(pose)
    for i in range(6):
        q = combine(X, Y, Z, vector(tips[i], 0))
        S = sub(add(position, q), vector(base[i], 0))
        inverse = 1.0 / norm(S)
        s = scale(inverse, S)
        u = add(v, cross(w, q))
        across = scale(inverse, axpy(-dot(s, u), s, u))
        store(out[i], 0, across)
        store(out[i], 3, cross(q, add(across, cross(s, w))))


@kernel
def motion_covariance(
    H: Any, D: Any, length_variance: float, rate_variance: float, of_pose: Any, of_twist: Any
) -> bool:
    """Write covariances (6, 6) of pose and twist to `of_pose` and `of_twist`.

    They follow from independent errors of the legs' lengths and rates, with the given variances.
    `H` is the force Jacobian, `D` the result of `rate_sensitivity`. Return False if `H` is
    singular.
    """
    G, of_rates, matrix = np.eye(6), np.empty((6, 6)), H.T.copy()
    if not solve_columns(matrix, G, 6):
        return False
    for i in range(6):
        for j in range(6):
            matrix[i, j] = length_variance if i == j else 0.0
    congruence(G, matrix, of_pose)
    congruence(D, of_pose, of_rates)
    for i in range(6):
        of_rates[i, i] += rate_variance
    congruence(G, of_rates, of_twist)
    return True
