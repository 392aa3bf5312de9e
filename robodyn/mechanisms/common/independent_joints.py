# SPDX-License-Identifier: Apache-2.0
"""Joint messages for mechanisms whose driven joints are independent coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.mechanisms.common.joint_states import DrivenMotion
    from robodyn.mechanisms.common.motion import Motion


class IndependentJoints:
    """The part of a mechanism that joint messages use; implements `presentation.Jointwise`.

    A subclass provides `joint_names`, `driven_motion` and `motion_of_joints`.
    """

    if TYPE_CHECKING:

        @property
        def joint_names(self) -> tuple[str, ...]:
            """See `protocol.Mechanism`."""

        def driven_motion(
            self, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
        ) -> DrivenMotion:
            """See `protocol.Mechanism`."""

        def motion_of_joints(
            self,
            positions: ArrayLike,
            velocities: ArrayLike,
            accelerations: ArrayLike | None = None,
            guess: ArrayLike | None = None,
        ) -> Motion:
            """See `protocol.Mechanism`."""

    @property
    def independent_joints(self) -> tuple[str, ...]:
        """All driven joints."""
        return self.joint_names

    def independent_motion(
        self, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
    ) -> DrivenMotion:
        """The motion (..., n) of all driven joints."""
        return self.driven_motion(configuration, velocity, acceleration)

    def motion_of_independent(
        self,
        positions: ArrayLike,
        velocities: ArrayLike,
        accelerations: ArrayLike | None = None,
        guess: ArrayLike | None = None,
    ) -> Motion:
        """The mechanism's motion from all driven joints' (..., n); see `motion_of_joints`."""
        return self.motion_of_joints(positions, velocities, accelerations, guess)
