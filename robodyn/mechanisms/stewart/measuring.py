# SPDX-License-Identifier: Apache-2.0
"""The state of a platform from the readings of its legs' encoders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.mechanisms.common.independent_joints import IndependentJoints

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray


class PlatformMeasuring(IndependentJoints):
    """The joint message part of `StewartPlatform`; see `presentation.Jointwise`."""

    if TYPE_CHECKING:

        @property
        def joint_signs(self) -> FloatArray:
            """See `protocol.Mechanism`."""

        @property
        def joint_offsets(self) -> FloatArray:
            """See `protocol.Mechanism`."""

    @property
    def measured_joints(self) -> tuple[str, ...]:
        """The legs' actuators."""
        return self.joint_names

    def state_of_readings(
        self, positions: FloatArray, velocities: FloatArray, guess: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Pose (7,) and twist (6,) of the actuators' URDF positions and velocities (6,).

        Raises:
            NoSolution: no pose with these leg lengths was reached from the guess (7,).
            SingularConfiguration: the rates do not determine the twist.
        """
        lengths = self.joint_signs * positions + self.joint_offsets
        motion = self.motion_of_joints(lengths, self.joint_signs * velocities, None, guess)
        return motion.configuration, motion.velocity
