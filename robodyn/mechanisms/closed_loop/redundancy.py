# SPDX-License-Identifier: Apache-2.0

"""Efforts of redundant motors kept within their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray

# Weight of what the efforts must do against how large they are.
STRICT = 1e6
# Relative error in what they do that counts as doing it.
DONE = 1e-9


def within_limits(
    mechanism: Any, efforts: FloatArray, q: Any, u: Any, change: Any, wrench: Any
) -> FloatArray:
    """Efforts (..., n) of least norm, replaced where they exceed limits and others need not.

    Where no efforts within the limits do it, those of least norm stay as they are.
    """
    limits = mechanism.effort_limits
    beyond = (np.abs(efforts) > limits).any(axis=-1)
    if not beyond.any():
        return efforts
    A = np.broadcast_to(mechanism.drive_matrix(q), (*efforts.shape, mechanism.mobility))
    weights = np.sqrt(mechanism.model.weights or np.ones(len(limits)))
    for index in np.argwhere(beyond):
        at = tuple(index)
        found = bounded(A[at], efforts[at], limits, weights)
        if found is not None:
            efforts[at] = found
    return efforts


def bounded(
    A: FloatArray, effort: FloatArray, limits: FloatArray, weights: FloatArray
) -> FloatArray | None:
    """The least efforts (n,) within limits that do what `effort` does, A' x = A' effort.

    They are `effort` plus what the motors can do against each other, so only that is sought:
    its size is minimised within the limits, and a solution exists or does not.
    """
    from scipy.optimize import lsq_linear  # takes long to import, and most mechanisms need none

    U, values, _ = np.linalg.svd(A)
    rank = int((values > 1e-10 * values[0]).sum())
    inner = U[:, rank:]  # efforts that do nothing
    if not inner.shape[1]:
        return None
    # x = effort + inner y: bounded least squares in x, what it does kept by a large weight
    scale = max(1.0, float(np.abs(effort).max()))
    lower = np.where(np.isfinite(limits), -limits, -1e12 * scale)
    outer = U[:, :rank]
    matrix = np.vstack([STRICT * outer.T, np.diag(weights)])
    wanted = np.concatenate([STRICT * outer.T @ effort, np.zeros(len(effort))])
    solution = lsq_linear(matrix, wanted, bounds=(lower, -lower), tol=1e-15, method="bvls")
    x = np.asarray(solution.x)
    # the large weight leaves a small error: put right along what is not at its limit
    for _ in range(3):
        inside = np.abs(x) < limits * (1.0 - 1e-12)
        error = outer.T @ (effort - x)
        if np.abs(error).max() <= 0.01 * DONE * scale or not inside.any():
            break
        x[inside] += np.linalg.pinv(outer[inside].T) @ error
    done = np.abs(outer.T @ (effort - x)).max() <= DONE * scale
    allowed = (np.abs(x) <= limits * (1.0 + 1e-12)).all()
    return np.clip(x, -limits, limits) if done and allowed else None
