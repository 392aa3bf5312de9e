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
