# SPDX-License-Identifier: Apache-2.0

"""End stops of joints, for simulation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import as_scalar
from robodyn.dynamics.kernels.end_stops import end_stop_efforts


@dataclass(frozen=True)
class EndStops:
    """End stops: a spring and a damper at each limit of a joint.

    Attributes:
        stiffness: [N/m or N m/rad].
        damping: [N s/m or N m s/rad].
    """

    stiffness: float = 1.0e5
    damping: float = 1.0e3

    def __post_init__(self) -> None:
        as_scalar("stiffness", self.stiffness, at_least=0.0)
        as_scalar("damping", self.damping, at_least=0.0)

    def efforts(
        self, positions: FloatArray, velocities: FloatArray, limits: FloatArray
    ) -> FloatArray:
        """Compute the efforts of the stops.

        Args:
            positions: (n,) [m or rad] of the driven joints.
            velocities: (n,) [m/s or rad/s].
            limits: (n, 2) [m or rad] of their travel.

        Returns:
            Efforts (n,) [N or N m].
        """
        out = np.empty_like(positions)
        end_stop_efforts(positions, velocities, limits, self.stiffness, self.damping, out)
        return out
