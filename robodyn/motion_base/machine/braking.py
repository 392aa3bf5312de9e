# SPDX-License-Identifier: Apache-2.0

"""Braking motions of several coordinates that end together, with rates cubic in time."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.motion_base.kernels import brakes as kernels

# Durations [s] of braking motions to try, and fractions of the way to the requested motion.
BRAKES, FRACTIONS = (0.3, 0.6, 1.2, 2.4), (0.5, 0.15)
# Number of nodes at which a braking motion is checked.
NODES = 16
FRACTIONS_OF_BRAKE = np.linspace(0.0, 1.0, NODES)


def braking(starts: FloatArray, durations: FloatArray, fractions: FloatArray) -> FloatArray:
    """Compute braking motions from several states, at N fractions of their durations.

    Args:
        starts: (C, 3, m) initial coordinates, rates and accelerations of C motions.
        durations: (C,) [s] of the motions.
        fractions: (N,) fractions of these durations.

    Returns:
        Coordinates, rates and accelerations (3, C N, m) at these fractions.
    """
    out = np.empty((3, len(starts) * len(fractions), starts.shape[2]))
    kernels.brakes(np.ascontiguousarray(starts), durations, fractions, out)
    return out
