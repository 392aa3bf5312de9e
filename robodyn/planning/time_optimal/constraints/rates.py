# SPDX-License-Identifier: Apache-2.0

"""Rates of the driven joints: |dp/ds| s'.

Screws, gears and motors have a largest speed. Near a singularity of the inverse kinematics dp/ds
grows without bound, so the speed along the path falls.
"""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.time_optimal.constraints.base import FirstOrder
from robodyn.planning.time_optimal.sampled_path import SampledPath


class Rates(FirstOrder):
    """Symmetric rate limits (n,) [m/s or rad/s]; infinite for none. See `FirstOrder`."""

    def __init__(self, mechanism: Mechanism, limits: FloatArray) -> None:
        self._limits = limits
        self.names = [f"rate of {name}" for name in mechanism.joint_names]

    def bound(self, path: SampledPath) -> FloatArray:
        """Compute the largest s' (N, M) within velocity limits."""
        return np.asarray((self._limits / np.abs(path.rates)).min(axis=-1))

    def used(self, path: SampledPath, speed: FloatArray) -> FloatArray:
        """Compute the fractions of velocity limits that speeds s' (N, M, 1) use."""
        return np.asarray(np.abs(path.rates * speed) / self._limits)
