# SPDX-License-Identifier: Apache-2.0

"""Motions as polynomial displacements from other motions, in the coordinates of the mechanism.

Displacements of a pose are translations and rotation vectors o. The rotation R, angular velocity
omega and angular acceleration alpha of the composed motion are exact,

    R = exp(o) R_inner,   omega = omega_o + exp(o) omega_inner,
    alpha = alpha_o + omega_o x (exp(o) omega_inner) + exp(o) alpha_inner.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval

from robodyn.algorithms.motion import Motion
from robodyn.arrays import FloatArray
from robodyn.mechanism.mechanism import Mechanism
from robodyn.numerics.rotations_batch import composed_motions, rotation_vector_motions


def hermite_quintic(
    first: tuple[FloatArray, FloatArray, FloatArray],
    last: tuple[FloatArray, FloatArray, FloatArray],
) -> FloatArray:
    """Return the quintic polynomial with given values and derivatives at 0 and at 1.

    Args:
        first, last: value, first and second derivative (...) at 0 and at 1.

    Returns:
        Coefficients (6, ...) in increasing powers.
    """
    (p0, v0, a0), (p1, v1, a1) = first, last
    d = p1 - p0
    return np.stack(
        [
            p0,
            v0,
            0.5 * a0,
            10.0 * d - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1,
            -15.0 * d + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1,
            6.0 * d - 3.0 * v0 - 3.0 * v1 - 0.5 * a0 + 0.5 * a1,
        ]
    )


def add_displacements(
    mechanism: Mechanism, inner: Motion, coefficients: FloatArray, x: FloatArray, unit: FloatArray
) -> Motion:
    """Add polynomial displacements to a motion.

    Args:
        mechanism: mechanism that moves.
        inner: (N, ...) motion to displace: configurations, velocities and accelerations.
        coefficients: (k, nv) or (k, N, nv), k coefficients of the displacement polynomial in
            increasing powers of x.
        x: (N,) parameter of the polynomial at each instant of the motion.
        unit: () or (N, 1) change of the motion's time (or path parameter) for which x grows by 1.

    Returns:
        The displaced motion (N, ...).
    """
    displacement, rate, change = (
        polyval(x[:, None], polyder(coefficients, order), tensor=False) / unit**order
        for order in range(3)
    )
    configuration = mechanism.advance(inner.configuration, displacement)
    velocity, acceleration = inner.velocity + rate, inner.acceleration + change
    for own in mechanism.coordinates.rotations:
        turn = displacement[:, own], rate[:, own], change[:, own]
        rotation_vector_motions(*turn)
        composed_motions(*turn, inner.velocity[:, own], inner.acceleration[:, own])
        velocity[:, own], acceleration[:, own] = turn[1:]
    return Motion(configuration, velocity, acceleration)
