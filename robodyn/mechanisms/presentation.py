# SPDX-License-Identifier: Apache-2.0

"""How a mechanism is shown: the numbers in which people state where it is, and its drawing."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from robodyn.mechanisms.common.figure import joint_axis_arrows
from robodyn.mechanisms.common.variables import joint_variables
from robodyn.mechanisms.kinematics import Kinematics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.figure import Figure
    from robodyn.mechanisms.common.variables import Variable


class Presentation(Kinematics):
    """The third part of `Mechanism`; everything in the base frame unless stated otherwise.

    Attributes:
        acts_along_legs: whether the actuators push on the moving body along legs; see `leg_ends`.
    """

    acts_along_legs = False

    @property
    def variables(self) -> Mapping[str, Variable]:
        """By name: positions, velocities, accelerations and properties of the model.

        The number of positions may differ from the size of a configuration: an orientation is
        stated by roll, pitch and yaw, a closed loop by its independent joints.
        """
        return joint_variables(self.independent_joints, self.coordinates.units)

    def values_of(self, configuration: ArrayLike, /) -> FloatArray:
        """(..., k) [m or rad] the position variables of configurations (..., nq)."""
        return np.asarray(configuration, dtype=np.float64)

    def configuration_of(self, values: ArrayLike, /) -> FloatArray:
        """Configurations (..., nq) of position variables (..., k) [m or rad].

        Raises:
            KinematicsError: there is no such configuration.
        """
        return np.asarray(values, dtype=np.float64)

    @property
    def typical_effort(self) -> float:
        """[N or N m] lower bound of the effort that is drawn as an arrow of standard length.

        0.3 of the largest effort limit; 0 where there is none.
        """
        finite = self.effort_limits[np.isfinite(self.effort_limits)]
        return 0.3 * float(finite.max()) if len(finite) else 0.0

    def leg_ends(self, configuration: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Ends (k, 3) [m] of straight legs, at the base and at the moving body; k is 0 or n."""
        return np.empty((0, 3)), np.empty((0, 3))

    def leg_directions(self, configuration: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Points (k, 3) [m] at which legs hold the moving body, and the legs' unit vectors (k, 3).

        Raises:
            KinematicsError: a leg without a direction.
        """
        return np.empty((0, 3)), np.empty((0, 3))

    def floating_poses(self, configuration: FloatArray, /) -> Mapping[tuple[str, str], FloatArray]:
        """Poses (7,) of links that no joint of `joint_states` places: those on floating joints.

        By the names of parent and child; each the pose of the child in the frame of its parent.
        """
        return {}

    @abstractmethod
    def figure(self) -> Figure:
        """The mechanism drawn from its model alone, for models without a URDF."""

    def effort_arrows(
        self, figure: Figure, frames: FloatArray, configuration: FloatArray, lengths: FloatArray, /
    ) -> FloatArray:
        """Arrows (n, 2, 3) [m] from tail to head for the actuators' efforts.

        Args:
            figure: what is drawn.
            frames: (L, 4, 4) of its links in the frame of its root; the arrows are in it, too.
            configuration: the one that the frames belong to.
            lengths: (n,) [m] of the arrows, with the signs of the efforts.
        """
        return joint_axis_arrows(figure, frames, self.joint_names, lengths, self.size)
