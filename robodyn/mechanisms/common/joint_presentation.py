# SPDX-License-Identifier: Apache-2.0
"""Presentation of mechanisms whose configuration is the positions of their driven joints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.mechanisms.common.actuated_joints import ActuatedJoints
from robodyn.mechanisms.common.effort_arrows import joint_axis_arrows
from robodyn.mechanisms.common.independent_joints import IndependentJoints
from robodyn.mechanisms.common.variables import joint_variables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.coordinates import Unit
    from robodyn.mechanisms.common.figure import Figure
    from robodyn.mechanisms.common.variables import Variable


class JointPresentation(IndependentJoints, ActuatedJoints):
    """Default implementation of `mechanisms.presentation`; a subclass adds its drawing.

    Attributes:
        model: the description that the mechanism was built from.
    """

    acts_along_legs = False
    model: Any
    if TYPE_CHECKING:

        @property
        def joint_units(self) -> tuple[Unit, ...]:
            """See `protocol.Mechanism`."""

        @property
        def effort_limits(self) -> FloatArray:
            """See `protocol.Mechanism`."""

        @property
        def size(self) -> float:
            """See `protocol.Mechanism`."""

        @property
        def moving_mass(self) -> float:
            """See `protocol.Mechanism`."""

    @property
    def typical_effort(self) -> float:
        """[N m or N] 0.3 of the largest effort limit; 0 where there is none."""
        finite = self.effort_limits[np.isfinite(self.effort_limits)]
        return 0.3 * float(finite.max()) if len(finite) else 0.0

    def leg_ends(self, configuration: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(0, 3) twice: there are no legs."""
        return np.empty((0, 3)), np.empty((0, 3))

    def leg_directions(self, configuration: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(0, 3) twice: there are no legs."""
        return np.empty((0, 3)), np.empty((0, 3))

    def floating_poses(self, configuration: FloatArray) -> dict[tuple[str, str], FloatArray]:
        """None: positions of joints place every link."""
        return {}

    def effort_arrows(
        self, figure: Figure, frames: FloatArray, configuration: FloatArray, lengths: FloatArray
    ) -> FloatArray:
        """Arrows (n, 2, 3) [m] on the joints' axes; see `presentation.Drawn.effort_arrows`."""
        return joint_axis_arrows(figure, frames, self.joint_names, lengths, self.size)

    @property
    def variables(self) -> dict[str, Variable]:
        """Position, rate and acceleration of every joint."""
        return joint_variables(self.joint_names, self.joint_units)

    def values_of(self, configuration: ArrayLike) -> FloatArray:
        """(..., n) [rad or m] the configuration itself."""
        return np.asarray(configuration, dtype=np.float64)

    def configuration_of(self, values: ArrayLike) -> FloatArray:
        """(..., n) [rad or m] the values themselves."""
        return np.asarray(values, dtype=np.float64)

    def with_model_values(self, values: Mapping[str, float]) -> Self:
        """The mechanism itself: its model has no variables."""
        return self

    @property
    def description(self) -> tuple[object, object]:
        """The model; the mechanism is built from it alone."""
        return self.model, ""

    @property
    def jacobian_unit(self) -> str:
        """Unit of a singular value of J, its angular rows multiplied by a length."""
        units = set(self.joint_units)
        if len(units) > 1:
            return "m/rad (revolute), 1 (prismatic)"
        return "1" if units == {"m"} else "m/rad"

    @property
    def largest_payload(self) -> float:
        """[kg] a quarter of the moving mass."""
        return 0.25 * self.moving_mass

    @property
    def measured_joints(self) -> tuple[str, ...]:
        """All joints."""
        return self.joint_names

    def state_of_readings(
        self, positions: FloatArray, velocities: FloatArray, guess: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Configuration and velocity (n,): the readings themselves."""
        return positions, velocities
