# SPDX-License-Identifier: Apache-2.0

"""What the view, the sweeps and the ROS 2 nodes need from a mechanism beyond its dynamics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.figure import Figure
    from robodyn.mechanisms.common.joint_states import DrivenMotion
    from robodyn.mechanisms.common.motion import Motion
    from robodyn.mechanisms.common.variables import Variable


class Drawn(Protocol):
    """How a mechanism is drawn; everything in the base frame unless stated otherwise."""

    @property
    def typical_effort(self) -> float:
        """[N or N m] lower bound of the effort that is drawn as an arrow of standard length."""

    @property
    def acts_along_legs(self) -> bool:
        """Whether the actuators push on the moving body along legs; see `leg_ends`."""

    def leg_ends(self, configuration: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Ends (k, 3) [m] of straight legs, at the base and at the moving body; k is 0 or n."""

    def leg_directions(self, configuration: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Points (k, 3) [m] at which legs hold the moving body, and the legs' unit vectors (k, 3).

        Raises:
            KinematicsError: a leg without a direction.
        """

    def floating_poses(self, configuration: FloatArray, /) -> Mapping[tuple[str, str], FloatArray]:
        """Poses (7,) of links that no joint of `joint_states` places: those on floating joints.

        By the names of parent and child; each the pose of the child in the frame of its parent.
        """

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


class Varied(Protocol):
    """The numbers in which users state a configuration, and what a sweep can vary."""

    @property
    def variables(self) -> Mapping[str, Variable]:
        """By name: positions, velocities, accelerations and properties of the model.

        The number of positions may differ from the size of a configuration: an orientation is
        stated by roll, pitch and yaw, a closed loop by its independent joints.
        """

    def values_of(self, configuration: ArrayLike, /) -> FloatArray:
        """(..., k) [m or rad] the position variables of configurations (..., nq)."""

    def configuration_of(self, values: ArrayLike, /) -> FloatArray:
        """Configurations (..., nq) of position variables (..., k) [m or rad].

        Raises:
            KinematicsError: there is no such configuration.
        """

    def with_model_values(self, values: Mapping[str, float], /) -> Self:
        """The mechanism with other values of the variables of its model.

        Raises:
            ModelError: there is no such mechanism.
        """

    @property
    def largest_payload(self) -> float:
        """[kg] upper end of the range from which a user may choose a payload."""

    @property
    def jacobian_unit(self) -> str:
        """Unit of a singular value of the Jacobian."""

    @property
    def description(self) -> tuple[object, object]:
        """What the mechanism was built from, as frozen data: its model and any further options."""


class Jointwise(Protocol):
    """How joint messages carry a mechanism's state and motion.

    A joint trajectory is of the `m` independent joints. They may be fewer than the driven ones (a
    redundantly driven loop), and both fewer than all joints.
    """

    @property
    def independent_joints(self) -> tuple[str, ...]:
        """(m,) names of the joints whose motion determines that of the mechanism."""

    def independent_motion(
        self, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike, /
    ) -> DrivenMotion:
        """Positions, rates and accelerations (..., m) of the independent joints."""

    def motion_of_independent(
        self,
        positions: ArrayLike,
        velocities: ArrayLike,
        accelerations: ArrayLike | None = None,
        guess: ArrayLike | None = None,
    ) -> Motion:
        """The mechanism's motion of its independent joints' (..., m).

        Along the last batch dimension each configuration is found from the one before it, the
        first from the guess. Accelerations are zero where not given.

        Raises:
            NoSolution: no configuration has these positions.
            SingularConfiguration: the rates do not determine the motion.
        """

    @property
    def measured_joints(self) -> tuple[str, ...]:
        """(k,) names of the joints whose readings determine the state."""

    def state_of_readings(
        self, positions: FloatArray, velocities: FloatArray, guess: FloatArray | None = None, /
    ) -> tuple[FloatArray, FloatArray]:
        """Configuration (nq,) and velocity (nv,) of the readings (k,) of `measured_joints`.

        Readings are positions and velocities as the URDF measures them; finite, not checked. The
        configuration is the one near the guess, by default home.

        Raises:
            NoSolution: no configuration has these readings.
            SingularConfiguration: the velocities do not determine the motion.
        """
