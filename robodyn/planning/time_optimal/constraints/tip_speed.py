# SPDX-License-Identifier: Apache-2.0

"""Speed of the tip: |dx/ds| s' of the platform's reference point or the arm's tip.

The limit is for processes or people beside the machine, independent of its drives.
"""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.time_optimal.constraints.base import FirstOrder
from robodyn.planning.time_optimal.sampled_path import SampledPath

STEP = 1e-6


class TipSpeed(FirstOrder):
    """Limit of the tip's speed [m/s], finite. See `FirstOrder`."""

    def __init__(self, mechanism: Mechanism, limit: float) -> None:
        self._mechanism, self._limit = mechanism, limit
        self.names = ["speed of the tip"]

    def bound(self, path: SampledPath) -> FloatArray:
        """Compute the largest s' (N, M) within the tip's speed limit."""
        return self._limit / self._speed(path)

    def used(self, path: SampledPath, speed: FloatArray) -> FloatArray:
        """Compute the fractions of the tip's speed limit that s' (N, M, 1) uses."""
        return self._speed(path)[..., None] * speed / self._limit

    def _speed(self, path: SampledPath) -> FloatArray:
        """Compute |dx/ds| (N, M) [m], by central differences of the tip's position."""
        q, u, _ = path.motion
        ahead, behind = (
            self._mechanism.body_pose(self._mechanism.advance(q, sign * STEP * u))[..., :3]
            for sign in (1.0, -1.0)
        )
        return np.asarray(np.linalg.norm(ahead - behind, axis=-1) / (2.0 * STEP))
