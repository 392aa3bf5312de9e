# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""End stops of joints, for simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robodyn.checks import as_scalar
from robodyn.mechanisms.common.kernels.end_stops import end_stop_efforts

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray


@dataclass(frozen=True)
class EndStops:
    """A spring and a damper at each end of a joint's travel.

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
        """(n,) [N or N m] what the stops add to the actuators' efforts.

        Args:
            positions: (n,) [m or rad] of the driven joints.
            velocities: (n,) [m/s or rad/s].
            limits: (n, 2) [m or rad] of their travel.
        """
        out = np.empty_like(positions)
        end_stop_efforts(positions, velocities, limits, self.stiffness, self.damping, out)
        return out
