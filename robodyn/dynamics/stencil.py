# SPDX-License-Identifier: Apache-2.0

"""Finite differences of functions of a mechanism's configuration."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from robodyn.arrays import FloatArray

# Central differences of order 6: f'(0) = sum over k of weight_k f(place_k h) / h.
PLACES = np.array([1.0, -1.0, 2.0, -2.0, 3.0, -3.0])
WEIGHTS = np.array([45.0, -45.0, -9.0, 9.0, 1.0, -1.0]) / 60.0
# The step is a fraction of the mechanism's size or an angle [rad]. It is small because a small step
# of a leg is a large one of the pose if a platform is described by its legs and ill conditioned;
# rounding still leaves eleven digits.
STEP = 3e-4
# Step for redundant mechanisms, whose efforts are distributed.
SMALLEST = 1e-5


class Stencil(NamedTuple):
    """Finite-difference stencil for the derivative with respect to each of nv coordinates.

    Attributes:
        places: (p, nv) the p displacements along each coordinate.
        weights: (p, nv) weight of the function's value at each displacement.
    """

    places: FloatArray
    weights: FloatArray


def difference_stencil(mechanism: Any) -> Stencil:
    """Return the central-difference stencil of order 6 for a mechanism's coordinates."""
    units = np.array(mechanism.coordinates.units)
    step = SMALLEST if is_redundant(mechanism) else STEP
    return central_stencil(step * np.where(units == "m", mechanism.size, 1.0))


def central_stencil(steps: FloatArray) -> Stencil:
    """Return the central-difference stencil of order 6 for steps (nv,) of the coordinates."""
    return Stencil(np.outer(PLACES, steps), np.outer(WEIGHTS, 1.0 / steps))


def is_redundant(mechanism: Any) -> bool:
    """Return whether the mechanism has more actuators than degrees of freedom."""
    return len(mechanism.joint_names) > int(mechanism.coordinates.velocity_size)


def apply_stencil(values: FloatArray, stencil: Stencil) -> FloatArray:
    """Compute a function's derivatives (..., nv, k) with respect to nv coordinates.

    `values` (..., p nv, k) are those of the function at the points of the stencil: for each of the
    p places in turn, the nv coordinates.
    """
    by_place = values.reshape(*values.shape[:-2], *stencil.weights.shape, values.shape[-1])
    return np.asarray((by_place * stencil.weights[..., None]).sum(axis=-3))
