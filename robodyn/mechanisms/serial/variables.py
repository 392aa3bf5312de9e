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

"""What can be varied of a serial arm: the positions, rates and accelerations of its joints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.mechanisms.common.variables import Variable, joint_variables

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.serial.model import SerialModel


class ArmVariables:
    """The part of `SerialArm` that sweeps and sliders ask for; see `presentation.Varied`.

    Attributes:
        model: the description it was made from.
    """

    model: SerialModel

    @property
    def largest_payload(self) -> float:
        """[kg] a quarter of the mass of the links."""
        return 0.25 * float(sum(joint.mass for joint in self.model.joints))

    @property
    def description(self) -> tuple[object, object]:
        """The model; an arm is made from nothing else."""
        return self.model, ""

    @property
    def jacobian_unit(self) -> str:
        """Of a singular value of J, its angular rows multiplied by a length."""
        sliding = {joint.kind == "prismatic" for joint in self.model.joints}
        if len(sliding) > 1:
            return "m/rad (revolute), 1 (prismatic)"
        return "1" if sliding.pop() else "m/rad"

    @property
    def variables(self) -> dict[str, Variable]:
        """Position, rate and acceleration of every joint."""
        joints = self.model.joints
        units = ["m" if joint.kind == "prismatic" else "rad" for joint in joints]
        return joint_variables([joint.name for joint in joints], units)

    @property
    def measured_joints(self) -> tuple[str, ...]:
        """All joints."""
        return tuple(joint.name for joint in self.model.joints)

    def state_of_readings(
        self, positions: FloatArray, velocities: FloatArray, guess: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """q and qd (n,): the readings themselves."""
        return positions, velocities

    def values_of(self, configuration: ArrayLike) -> FloatArray:
        """(..., n) [rad or m] the configuration itself."""
        return np.asarray(configuration, dtype=np.float64)

    def configuration_of(self, values: ArrayLike) -> FloatArray:
        """(..., n) [rad or m] the values themselves."""
        return np.asarray(values, dtype=np.float64)
